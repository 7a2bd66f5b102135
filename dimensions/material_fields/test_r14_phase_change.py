"""R14: melting, freezing, boiling, condensing run the right way at a possible pace."""

import pytest


@pytest.mark.dimension("R14")
def test_r14_phase_change(judge, grade):
    grade(judge("R14"))
