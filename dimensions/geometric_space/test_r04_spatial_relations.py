"""R04: support, containment, contact, beside, behind make sense and persist."""

import pytest


@pytest.mark.dimension("R04")
def test_r04_spatial_relations(judge, grade):
    grade(judge("R04"))
