"""BC-05: things are used and work as everyday knowledge says."""

import pytest


@pytest.mark.dimension("BC-05")
def test_bc_05_everyday_function(judge, grade):
    grade(judge("BC-05"))
