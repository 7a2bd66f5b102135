"""R21: free flight has one constant acceleration, downward."""

import pytest

from pvbench_suite.feeds import plane
from pvbench_suite.physics.gravity import gravity_error
from pvbench_suite.physics.worst import worst


@pytest.mark.dimension("R21")
def test_r21_gravity(bodies, contacts, optional, brief, grade):
    free, cameras = brief.free(bodies.names), optional("cameras")

    def error(k):
        worlds, fall = plane.readings(bodies, contacts, cameras, free[k]), plane.fall(bodies, contacts, free[k], brief)
        return plane.mildest(lambda flights: gravity_error(flights, contacts.down, *fall), worlds)

    grade(worst(error, len(free)))
