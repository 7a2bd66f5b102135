"""IF-06: the stages happen in the stated order, none missing."""

import pytest


@pytest.mark.dimension("IF-06")
def test_if_06_event_order(judge, grade):
    grade(judge("IF-06"))
