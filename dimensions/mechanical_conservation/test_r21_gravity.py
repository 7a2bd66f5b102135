"""R21: free flight has one constant acceleration, downward."""

import pytest

from pvbench_suite.feeds import bodies as feed
from pvbench_suite.physics.gravity import gravity_error
from pvbench_suite.physics.worst import worst


@pytest.mark.dimension("R21")
def test_r21_gravity(bodies, contacts, optional, brief, grade):
    free, cameras = brief.free(bodies.names), optional("cameras")

    def error(k):
        n, name = free[k], bodies.names[free[k]]
        size, flights = feed.extent(bodies, n), feed.flights(bodies, contacts, cameras, n)
        g, vt = brief.gravity(name, size), brief.terminal_speed(name, size)
        return gravity_error(flights, contacts.down, g, bodies.diameter[n], vt, feed.bend(bodies))

    grade(worst(error, len(free)))
