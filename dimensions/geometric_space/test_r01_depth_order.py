"""R01: what covers another thing is nearer than it."""

import pytest

from pvbench_suite.physics.depth_order import depth_order


@pytest.mark.dimension("R01")
def test_r01_depth_order(ordering, grade):
    grade(depth_order(ordering.depth, ordering.cue))
