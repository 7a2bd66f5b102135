"""Every world is lawful at dose 0, and its violation reads what its closed form says when perception is exact."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from pvbench_suite.calibrate.noise import LEVELS, Level
from pvbench_suite.calibrate.run import cuts_of
from pvbench_suite.calibrate.worlds import HELD, ROWS
from pvbench_suite.calibrate.worlds.base import Draw
from pvbench_suite.dimensions import load
from pvbench_suite.errors import EVENT_REASONS, Unmeasurable
from pvbench_suite.scoring import grade

EXACT = Level("exact", 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

#: What a row reads at a dose when nothing is wrong but the violation, and how closely.
CLOSED_FORM: dict[str, tuple[Callable[[float], float], float]] = {
    "R01": (lambda p: 1.0 - p, 0.005),
    "R01_one": (lambda p: 1.0 - p / 3.0, 0.005),
    "R06c": (lambda g: 0.45 * g, 0.002),
    "R06c_burst": (lambda g: g, 1e-9),
    "R07c": (lambda j: math.sqrt(2 / 3) * math.sin(math.radians(j) / 2), 0.005),
    "R08_shadow": (lambda o: o, 1e-6),
    "R11": (lambda g: 0.45 * g, 0.002),
    "R15": (lambda p: p if p < 0.5 else math.nan, 0.009),  # a frame at the edge of the post
    "R15_lid": (lambda p: p, 0.009),  # whole frames
    "R16": (lambda d: d, 0.005),
    "R16_vel": (lambda v: 0.25 * v, 0.01),
    "R17_region": (lambda e: e, 1e-9),
    "R19": (lambda e: e / (1.0 + e / 2.0), 1e-6),
    "R20": (lambda j: j, 0.5),
    "R21_one": (lambda k: k if k > 0.2 else math.nan, 0.005),
    "R21_seg": (lambda k: k if k > 0.2 else math.nan, 0.005),
    "R22": (lambda a: math.sin(math.radians(a) / 2), 0.001),
    "R22_mass": (lambda e: e / (2.0 + e), 0.001),
    "R24_floor": (lambda p: max(0.0, p - 0.06), 1e-6),  # two standard errors: 3 % of the size
    "R24": (lambda p: p - 0.12 if p > 0.3 else math.nan, 0.15),  # two standard errors, and 3 % of each radius
}


def value(world: Callable[[Draw], object], dose: float, level: Level, seed: int = 1) -> float:
    return world(Draw(dose, level, np.random.default_rng([seed, 11]))).measure().value  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", CLOSED_FORM)
def test_an_exact_world_reads_its_closed_form(name: str) -> None:
    """Without noise each dose gives the number that its definition promises."""
    wanted, tolerance = CLOSED_FORM[name]
    for dose in ROWS[name].doses:
        if not math.isnan(wanted(dose)):
            assert value(ROWS[name].world, dose, EXACT) == pytest.approx(wanted(dose), abs=tolerance), dose


@pytest.mark.parametrize("name", ROWS)
def test_a_violation_costs_points_and_its_absence_does_not(name: str) -> None:
    """Without noise dose 0 scores 5, and the largest dose 3 or less (R19, weak by nature: 4)."""
    row = ROWS[name]
    cuts, direction = cuts_of(load(), row.dimension)
    assert row.doses[0] == 0.0
    assert list(row.doses) == sorted(row.doses)
    assert grade(value(row.world, 0.0, EXACT), cuts, direction) == 5
    assert grade(value(row.world, row.doses[-1], EXACT), cuts, direction) <= (4 if name == "R19" else 3)


@pytest.mark.parametrize("name", [n for n, h in HELD.items() if h.kind == "static"])
def test_a_static_world_is_not_measured_even_with_noise(name: str) -> None:
    """Noise does not pass for motion: an event reason comes, never a value."""
    for seed in range(3):
        with pytest.raises(Unmeasurable) as error:
            value(HELD[name].world, 0.0, LEVELS["mid"], seed)
        assert error.value.reason in EVENT_REASONS


@pytest.mark.parametrize("name", [n for n, h in HELD.items() if h.kind == "lawful" and not n.startswith("R02")])
def test_a_lawful_world_can_be_made_at_every_level(name: str) -> None:
    """Each world gives a value or a reason of the fixed list, the same for the same seed."""
    for level in LEVELS.values():
        outcomes = []
        for _ in range(2):
            try:
                outcomes.append(value(HELD[name].world, 0.0, level))
            except Unmeasurable as error:
                outcomes.append(error.reason)
        assert outcomes[0] == outcomes[1]


def test_there_is_a_world_for_every_numeric_physical_dimension() -> None:
    """Rows cover all dimensions with a number in layer 3, and their companions."""
    registry = load()
    wanted = {d.id for d in registry.dimensions if d.layer == "L3" and d.numeric}
    wanted |= {d.companion.id for d in registry.dimensions if d.companion is not None}
    assert {row.dimension for row in ROWS.values()} == wanted
