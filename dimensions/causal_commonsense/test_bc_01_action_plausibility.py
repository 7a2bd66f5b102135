"""BC-01: bodies move as such bodies can: gait, joints, effort, timing."""

import pytest


@pytest.mark.dimension("BC-01")
def test_bc_01_action_plausibility(judge, grade):
    grade(judge("BC-01"))
