"""BC-03: an interaction has the outcome it would have."""

import pytest


@pytest.mark.dimension("BC-03")
def test_bc_03_interaction_outcome(judge, grade):
    grade(judge("BC-03"))
