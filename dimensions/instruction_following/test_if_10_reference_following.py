"""IF-10: the reference image's content and identity are kept; I2V only."""

import pytest


@pytest.mark.dimension("IF-10")
def test_if_10_reference_following(judge, grade):
    grade(judge("IF-10"))
