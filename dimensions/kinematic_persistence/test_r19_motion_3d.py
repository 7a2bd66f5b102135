"""R19: the tracked 3D motion is the one that depth, cameras and 2D tracks imply."""

import pytest

from pvbench_suite.feeds import points
from pvbench_suite.physics.motion import motion_disagreement
from pvbench_suite.physics.series import median_dt


@pytest.mark.dimension("R19")
def test_r19_motion_3d(tracks, cameras, grade):
    one, other = points.xyz(tracks), points.unprojected(tracks, cameras)
    dt = median_dt(tracks.times)
    grade(motion_disagreement(one, other, tracks.owner == -1, cameras.centres, dt))
