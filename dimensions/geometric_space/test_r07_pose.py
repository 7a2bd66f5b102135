"""R07: orientation plausible for the object and its support."""

import pytest


@pytest.mark.dimension("R07")
def test_r07_pose(judge, grade):
    grade(judge("R07"))
