"""What a closed-form world is, and how a row of the calibration names it.

Conventions
-----------
A world is a function of a `Draw`: the dose of its violation, the level of noise, and the run's own generator.  It
returns a `Case`: a kernel and the arrays that the kernel takes.  World axes are level (x right, y down, z away),
lengths in metres [m], unless the kernel's unit says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pvbench_suite.calibrate.noise import Level, Sensor
from pvbench_suite.measurement import Measurement

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Draw:
    """One run: `dose` of the violation (0 is lawful), `level` of noise, private `rng`."""

    dose: float
    level: Level
    rng: np.random.Generator

    def sensor(self, dt: float, bias: float = 0.0) -> Sensor:
        """Return the run's perception."""
        return Sensor(self.level, self.rng, dt, bias)


@dataclass(frozen=True, eq=False)
class Case:
    """A kernel and what it is called with."""

    kernel: Callable[..., Measurement]
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def measure(self) -> Measurement:
        """Return what the kernel says; it may raise `Unmeasurable`."""
        return self.kernel(**self.arguments)


World = Callable[[Draw], Case]


@dataclass(frozen=True, eq=False)
class Row:
    """A violation with its doses, the first of which is 0.

    `runs` is how many lawful runs there are, and how many for each other dose.  `note` is said in the table where truth
    makes a number 0 by construction, or where a dose needs a definition.
    """

    name: str
    dimension: str
    violation: str
    doses: tuple[float, ...]
    world: World
    runs: tuple[int, int] = (30, 10)
    note: str = ""


@dataclass(frozen=True, eq=False)
class Held:
    """A lawful or static world that set no cut; every run has dose 0."""

    name: str
    dimension: str
    world: World
    kind: Literal["lawful", "static"] = "lawful"
    runs: int = 30
    note: str = ""


def clock(seconds: float = 5.0, fps: float = 24.0) -> Floats:
    """Return the timestamps (T,) [s] of a clip."""
    return np.asarray(np.arange(round(seconds * fps)) / fps)


def random_unit(rng: np.random.Generator, flat: float = 1.0) -> Floats:
    """Return a random direction (3,); `flat` below 1 squeezes it toward the image plane."""
    v = rng.standard_normal(3) * [1.0, 1.0, flat]
    return np.asarray(v / np.linalg.norm(v))


def burst(t: Floats, start: float, length: float) -> Bools:
    """Return the frames (T,) within `length` [s] from `start` [s]."""
    return np.asarray((t >= start) & (t < start + length))
