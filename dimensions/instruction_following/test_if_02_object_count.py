"""IF-02: stated numbers hold while observable."""

import pytest


@pytest.mark.dimension("IF-02")
def test_if_02_object_count(judge, grade):
    grade(judge("IF-02"))
