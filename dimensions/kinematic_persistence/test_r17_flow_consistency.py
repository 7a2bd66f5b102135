"""R17: flow forward and back again ends where it began, where nothing is hidden."""

import pytest

from pvbench_suite.feeds import dense
from pvbench_suite.physics.flow import flow_inconsistency
from pvbench_suite.physics.series import median_dt


@pytest.mark.dimension("R17")
def test_r17_flow_consistency(flow, optional, grade):
    regions, hidden = dense.regions(flow, optional("masks")), dense.hidden(flow)
    grade(flow_inconsistency(flow.forward, flow.backward, hidden, regions, dt=median_dt(flow.times)))
