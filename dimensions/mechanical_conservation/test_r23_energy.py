"""R23: mechanical energy never grows by itself."""

import pytest

from pvbench_suite.feeds.events import energy_chains
from pvbench_suite.physics.energy import energy_gain


@pytest.mark.dimension("R23")
def test_r23_energy(bodies, contacts, optional, brief, grade):
    levels, errors, driven = energy_chains(bodies, contacts, optional("cameras"), brief)
    grade(energy_gain(levels, errors, driven))
