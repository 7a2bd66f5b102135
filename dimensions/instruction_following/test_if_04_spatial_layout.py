"""IF-04: stated positions and relations hold."""

import pytest


@pytest.mark.dimension("IF-04")
def test_if_04_spatial_layout(judge, grade):
    grade(judge("IF-04"))
