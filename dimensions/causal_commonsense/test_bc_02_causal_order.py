"""BC-02: effects follow their causes, none without one."""

import pytest


@pytest.mark.dimension("BC-02")
def test_bc_02_causal_order(judge, grade):
    grade(judge("BC-02"))
