"""R11: a soft, nearly incompressible body keeps its volume while it deforms."""

import pytest

from pvbench_suite.feeds.bodies import image_down, turn
from pvbench_suite.physics.deform import volume_change
from pvbench_suite.physics.series import median_dt
from pvbench_suite.physics.worst import worst


@pytest.mark.dimension("R11")
def test_r11_deformation(masks, bodies, contacts, optional, brief, grade):
    axis, dt = image_down(contacts, optional("cameras")), median_dt(bodies.times)
    soft = brief.soft(bodies.names)

    def change(k):
        n = soft[k]
        return volume_change(masks.moments(n), bodies.z[:, n], 1.0, axis, dt, turn(bodies, n))

    grade(worst(change, len(soft)))
