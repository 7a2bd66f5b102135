"""R02: the normals that a viewer sees are those that the depth implies."""

import pytest

from pvbench_suite.physics.surface import normal_error


@pytest.mark.dimension("R02")
def test_r02_normal_depth(depth, normals, grade):
    grade(normal_error(depth.at(normals.times), normals.normals, depth.K, normals.valid))
