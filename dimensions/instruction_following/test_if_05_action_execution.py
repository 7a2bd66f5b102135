"""IF-05: the stated action is carried out to its end."""

import pytest


@pytest.mark.dimension("IF-05")
def test_if_05_action_execution(judge, grade):
    grade(judge("IF-05"))
