"""R05: static points project where a camera that moves round them would see them."""

import pytest

from pvbench_suite.physics.multi_view import reprojection_error
from pvbench_suite.physics.series import median_dt


@pytest.mark.dimension("R05")
def test_r05_multi_view(tracks, cameras, grade):
    static, dt = tracks.owner == -1, median_dt(tracks.times)
    K, poses = cameras.K, cameras.Tcw
    grade(reprojection_error(tracks.uv, tracks.z, tracks.visible, K, poses, tracks.hw, static, dt))
