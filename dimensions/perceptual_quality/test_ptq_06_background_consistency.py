"""PTQ-06: the background keeps its appearance at corresponding places."""

import pytest

from pvbench_suite.perceptual import consistency


@pytest.mark.dimension("PTQ-06")
def test_ptq_06_background_consistency(features, grade):
    grade(consistency.background_similarity(features.background))
