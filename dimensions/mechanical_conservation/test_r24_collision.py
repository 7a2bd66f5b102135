"""R24: bodies do not pass into each other."""

import pytest

from pvbench_suite.feeds.gaps import penetrations
from pvbench_suite.physics.worst import worst


@pytest.mark.dimension("R24")
def test_r24_collision(bodies, contacts, optional, brief, grade):
    pairs = penetrations(bodies, contacts, optional("cameras"), brief)
    grade(worst(lambda k: pairs[k](), len(pairs)))
