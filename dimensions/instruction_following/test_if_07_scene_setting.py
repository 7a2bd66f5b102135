"""IF-07: place, time, weather, surroundings as stated."""

import pytest


@pytest.mark.dimension("IF-07")
def test_if_07_scene_setting(judge, grade):
    grade(judge("IF-07"))
