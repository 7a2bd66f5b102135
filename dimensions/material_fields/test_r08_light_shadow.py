"""R08: shading and shadows follow one light over time."""

import pytest

from pvbench_suite.feeds.bodies import motion, motion_error
from pvbench_suite.physics.light import light_consistency
from pvbench_suite.physics.series import median_dt


@pytest.mark.dimension("R08")
def test_r08_light_shadow(shading, bodies, optional, judged, brief, grade):
    inputs = {"normals": shading.normals, "shading": shading.shading, "shadow": shading.shadow, "up": shading.up}
    seen = (bodies, optional("tracks"))
    inputs |= {"motion": motion(*seen), "motion_error": motion_error(*seen), "dt": median_dt(shading.times)}
    grade(judged("R08") or light_consistency(**inputs, light_moves=brief.light_moves))
