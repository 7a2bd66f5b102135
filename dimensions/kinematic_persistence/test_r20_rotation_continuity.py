"""R20: no object jumps in orientation or angular velocity without a contact."""

import pytest

from pvbench_suite.feeds import bodies as feed
from pvbench_suite.physics.rotation_continuity import rotation_continuity
from pvbench_suite.physics.worst import worst


@pytest.mark.dimension("R20")
def test_r20_rotation_continuity(bodies, contacts, brief, grade):
    turning = feed.with_pose(bodies, brief)

    def jump(k):
        n = turning[k]
        pose, group = feed.rotations(bodies, n), brief.symmetry(bodies.names[n])
        return rotation_continuity(bodies.times, pose, contacts.of(n), group)

    grade(worst(jump, len(turning)))
