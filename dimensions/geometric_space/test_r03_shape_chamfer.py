"""R03: a rigid object keeps its 3D shape while its pose or the view changes."""

import pytest

from pvbench_suite.feeds import points
from pvbench_suite.physics.series import median_dt
from pvbench_suite.physics.shape import shape_change
from pvbench_suite.physics.worst import worst


@pytest.mark.dimension("R03")
def test_r03_shape_chamfer(tracks, optional, brief, grade):
    cloud, cameras, dt = points.xyz(tracks), optional("cameras"), median_dt(tracks.times)
    centres = None if cameras is None else cameras.centres
    rigid = [tracks.of(n) for n in brief.rigid(tracks.names)]
    grade(worst(lambda k: shape_change(cloud[:, rigid[k]], cam=centres, dt=dt), len(rigid)))
