"""R06: sizes are plausible and change only with distance."""

import pytest


@pytest.mark.dimension("R06")
def test_r06_scale(judge, grade):
    grade(judge("R06"))
