"""R15: nothing vanishes or appears in the open."""

import pytest

from pvbench_suite.feeds.bodies import motion, states
from pvbench_suite.physics.permanence import unexplained_absence
from pvbench_suite.physics.series import median_dt


@pytest.mark.dimension("R15")
def test_r15_object_permanence(bodies, masks, optional, judged, brief, grade):
    found = states(bodies, masks, optional("depth"))[:, brief.lasting(bodies.names)]
    grade(judged("R15") or unexplained_absence(found, median_dt(bodies.times), motion(bodies)))
