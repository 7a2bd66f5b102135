"""R22: colliding bodies exchange equal and opposite momentum."""

import pytest

from pvbench_suite.feeds.events import collisions
from pvbench_suite.physics.momentum import momentum_error
from pvbench_suite.physics.worst import worst


@pytest.mark.dimension("R22")
def test_r22_momentum(bodies, contacts, optional, brief, grade):
    pairs = collisions(bodies, contacts, optional("cameras"), brief)

    def error(k):
        i, j = pairs[k][0].pair
        return momentum_error(pairs[k], brief.mass_ratio(bodies.names[i], bodies.names[j]))

    grade(worst(error, len(pairs)) if pairs else momentum_error([]))
