"""R08: shading and shadows follow one light over time."""

import pytest

from pvbench_suite.feeds.bodies import motion
from pvbench_suite.physics.light import light_consistency
from pvbench_suite.physics.series import median_dt


@pytest.mark.dimension("R08")
def test_r08_light_shadow(shading, bodies, judged, brief, grade):
    inputs = {"normals": shading.normals, "shading": shading.shading, "shadow": shading.shadow, "up": shading.up}
    dt = median_dt(shading.times)
    moved = motion(bodies)
    grade(judged("R08") or light_consistency(**inputs, dt=dt, motion=moved, light_moves=brief.light_moves))
