"""IF-09: style, mood and lighting as stated."""

import pytest


@pytest.mark.dimension("IF-09")
def test_if_09_style_lighting(judge, grade):
    grade(judge("IF-09"))
