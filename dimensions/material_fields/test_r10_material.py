"""R10: each thing looks and responds like its material, throughout."""

import pytest


@pytest.mark.dimension("R10")
def test_r10_material(judge, grade):
    grade(judge("R10"))
