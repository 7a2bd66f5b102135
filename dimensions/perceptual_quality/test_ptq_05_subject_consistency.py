"""PTQ-05: the subject keeps its appearance."""

import pytest

from pvbench_suite.perceptual import consistency


@pytest.mark.dimension("PTQ-05")
def test_ptq_05_subject_consistency(features, grade):
    grade(consistency.subject_similarity(features.subject))
