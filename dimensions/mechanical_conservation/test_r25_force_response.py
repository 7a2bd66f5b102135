"""R25: pushes, pulls, friction, support have their effect; unsupported things fall."""

import pytest


@pytest.mark.dimension("R25")
def test_r25_force_response(judge, grade):
    grade(judge("R25"))
