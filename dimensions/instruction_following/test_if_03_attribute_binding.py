"""IF-03: color, material, size, state belong to the right object."""

import pytest


@pytest.mark.dimension("IF-03")
def test_if_03_attribute_binding(judge, grade):
    grade(judge("IF-03"))
