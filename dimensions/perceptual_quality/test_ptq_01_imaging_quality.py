"""PTQ-01: frames look sharp, clean and natural rather than blurred, noisy or distorted."""

import pytest

from pvbench_suite.perceptual import antonym


@pytest.mark.dimension("PTQ-01")
def test_ptq_01_imaging_quality(clip_image, grade):
    grade(antonym.positive_share(clip_image.images, clip_image.imaging, clip_image.logit_scale))
