"""R09: mirrors, water, glass show what they would."""

import pytest


@pytest.mark.dimension("R09")
def test_r09_reflection_refraction(judge, grade):
    grade(judge("R09"))
