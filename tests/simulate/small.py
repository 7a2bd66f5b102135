"""Small, short films for the simulator's tests, each made once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from pvbench_suite.perception.types import Record
from pvbench_suite.simulate.film import Film, shoot
from pvbench_suite.simulate.lab import Lab
from pvbench_suite.simulate.scene import World
from pvbench_suite.simulate.truth import records
from pvbench_suite.simulate.worlds import build

SMALL = (90, 160)


def lab(violation: str = "", dose: float = 1.0, seconds: float = 1.0, seed: int = 3, scale: float = 1.0) -> Lab:
    """Return a lab of half the demo's resolution at 12 frames a second."""
    return Lab(seed, seconds, fps=12, hw=SMALL, scale=scale, violation=violation, dose=dose if violation else 0.0)


@lru_cache(maxsize=64)
def filmed(
    name: str, violation: str = "", dose: float = 1.0, seconds: float = 1.0
) -> tuple[World, Film, Mapping[str, Record]]:
    """Return a world, its film and its records."""
    world = build(name, lab(violation, dose, seconds, scale=3.0 if name == "tumble" else 1.0))
    film = shoot(world)
    return world, film, records(world, film)
