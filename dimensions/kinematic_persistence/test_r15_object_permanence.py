"""R15: nothing vanishes or appears in the open."""

import pytest

from pvbench_suite.feeds.bodies import motion, motion_error, states
from pvbench_suite.physics.permanence import unexplained_absence
from pvbench_suite.physics.series import median_dt


@pytest.mark.dimension("R15")
def test_r15_object_permanence(bodies, masks, optional, judged, brief, grade):
    found = states(bodies, masks, optional("depth"))[:, brief.lasting(bodies.names)]
    seen, dt = (bodies, optional("tracks")), median_dt(bodies.times)
    grade(judged("R15") or unexplained_absence(found, dt, motion(*seen), motion_error(*seen)))
