"""R13: attraction, repulsion, sparks, conduction fit the objects."""

import pytest


@pytest.mark.dimension("R13")
def test_r13_magnetic_electric(judge, grade):
    grade(judge("R13"))
