"""IF-01: every object that the prompt names is there and recognizable."""

import pytest


@pytest.mark.dimension("IF-01")
def test_if_01_object_presence(judge, grade):
    grade(judge("IF-01"))
