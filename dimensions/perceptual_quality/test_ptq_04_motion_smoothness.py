"""PTQ-04: a frame lies between its neighbours in time as in content."""

import pytest

from pvbench_suite.perceptual.smoothness import motion_smoothness
from pvbench_suite.physics.series import median_dt


@pytest.mark.dimension("PTQ-04")
def test_ptq_04_motion_smoothness(interpolation, grade):
    triples = interpolation
    grade(motion_smoothness(triples.error, triples.outer, median_dt(triples.times)))
