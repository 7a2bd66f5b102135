"""R12: glow, heat haze, steam, scorching fit the temperature."""

import pytest


@pytest.mark.dimension("R12")
def test_r12_thermal_radiation(judge, grade):
    grade(judge("R12"))
