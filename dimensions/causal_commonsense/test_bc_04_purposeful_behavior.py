"""BC-04: agents act toward a goal, consistently, noticing what they would notice."""

import pytest


@pytest.mark.dimension("BC-04")
def test_bc_04_purposeful_behavior(judge, grade):
    grade(judge("BC-04"))
