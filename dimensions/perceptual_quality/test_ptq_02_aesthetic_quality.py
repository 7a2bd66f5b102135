"""PTQ-02: frames look well composed and beautiful rather than badly made."""

import pytest

from pvbench_suite.perceptual import antonym


@pytest.mark.dimension("PTQ-02")
def test_ptq_02_aesthetic_quality(clip_image, grade):
    grade(antonym.positive_share(clip_image.images, clip_image.aesthetic, clip_image.logit_scale))
