"""R18: distances between points of a rigid object are kept."""

import pytest

from pvbench_suite.feeds import points
from pvbench_suite.physics.rigid import rigidity
from pvbench_suite.physics.series import median_dt
from pvbench_suite.physics.worst import worst


@pytest.mark.dimension("R18")
def test_r18_rigidity(tracks, optional, brief, grade):
    cloud, cameras, dt = points.xyz(tracks), optional("cameras"), median_dt(tracks.times)
    centres, scale = None if cameras is None else cameras.centres, points.background_size(tracks)
    rigid = [tracks.of(n) for n in brief.rigid(tracks.names)]
    grade(worst(lambda k: rigidity(cloud[:, rigid[k]], None, scale, centres, dt), len(rigid)))
