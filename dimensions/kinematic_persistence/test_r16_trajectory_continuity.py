"""R16: no object jumps in position or velocity without a contact."""

import pytest

from pvbench_suite.feeds import bodies as feed
from pvbench_suite.physics.trajectory import trajectory_continuity
from pvbench_suite.physics.worst import worst


@pytest.mark.dimension("R16")
def test_r16_trajectory_continuity(bodies, contacts, optional, brief, grade):
    movable, cameras = brief.movable(bodies.names), optional("cameras")

    def jump(k):
        n = movable[k]
        path, rays = feed.path(bodies, n), feed.rays(bodies, cameras, n)
        return trajectory_continuity(bodies.times, path, bodies.diameter[n], rays, contacts.of(n))

    grade(worst(jump, len(movable)))
