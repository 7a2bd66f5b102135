"""PTQ-03: what does not move does not change its brightness from frame to frame."""

import pytest

from pvbench_suite.feeds import dense
from pvbench_suite.perceptual.flicker import flicker
from pvbench_suite.physics.series import median_dt


@pytest.mark.dimension("PTQ-03")
def test_ptq_03_temporal_flicker(flow, optional, grade):
    moving = dense.moving(flow, optional("masks"))
    hidden = dense.hidden(flow)
    grade(flicker(flow.luma0, flow.luma1, flow.forward, moving, hidden, dt=median_dt(flow.times)))
