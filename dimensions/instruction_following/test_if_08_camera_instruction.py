"""IF-08: viewpoint and camera motion as stated."""

import pytest


@pytest.mark.dimension("IF-08")
def test_if_08_camera_instruction(judge, grade):
    grade(judge("IF-08"))
