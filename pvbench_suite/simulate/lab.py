"""The laboratory that every world takes place in: room, props, camera, paints, and the clock.

Conventions
-----------
As `scene`: x right, y down, z away, meters, floor at y = 0.  At scale 1 the camera stands 1.3 m high, 4.5 m in front
of the middle, and sees 4.8 m x 2.7 m there.  All choices that vary between clips come from the seed, and the lawful and
the violating clip of one seed share them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from pvbench_suite.simulate.scene import Actor, Body, Color, Kind, Paint, Plane, World, assemble
from pvbench_suite.simulate.vectors import Floats, looking, rotations

FOCAL = 300.0
HW = (180, 320)

#: Linear RGB pairs of the paints, by the word that the prompts use.
COLORS: dict[str, tuple[Color, Color]] = {
    "red": ((0.62, 0.045, 0.035), (0.90, 0.52, 0.38)),
    "blue": ((0.035, 0.10, 0.52), (0.36, 0.58, 0.86)),
    "green": ((0.03, 0.30, 0.08), (0.45, 0.72, 0.22)),
    "yellow": ((0.78, 0.45, 0.02), (0.95, 0.85, 0.42)),
    "orange": ((0.75, 0.20, 0.015), (0.95, 0.62, 0.28)),
    "purple": ((0.20, 0.04, 0.36), (0.60, 0.42, 0.78)),
    "turquoise": ((0.01, 0.28, 0.30), (0.38, 0.74, 0.68)),
    "brown": ((0.22, 0.10, 0.04), (0.58, 0.36, 0.18)),
    "gray": ((0.20, 0.21, 0.23), (0.50, 0.51, 0.54)),
    "white": ((0.62, 0.61, 0.58), (0.88, 0.87, 0.84)),
    "black": ((0.02, 0.02, 0.025), (0.20, 0.20, 0.22)),
    "wall": ((0.42, 0.49, 0.56), (0.60, 0.66, 0.70)),
    "floor": ((0.40, 0.32, 0.24), (0.60, 0.51, 0.40)),
}


@dataclass(frozen=True)
class Lab:
    """One clip to be made: its seed, length and size, and the violation with its dose in [0, 1].

    `scale` enlarges the room and its props, for flights that need height.  The violation `judder` moves every other
    instant of the clock by the dose as a share of a frame.
    """

    seed: int = 0
    seconds: float = 2.0
    fps: int = 24
    hw: tuple[int, int] = HW
    scale: float = 1.0
    violation: str = ""
    dose: float = 0.0
    _count: list[int] = field(default_factory=lambda: [0])

    def amount(self, violation: str) -> float:
        """Return the dose of that violation, 0 when it is another one."""
        return self.dose if violation == self.violation else 0.0

    @cached_property
    def times(self) -> Floats:
        """Timestamps of the frames (T,) [s]."""
        return np.arange(round(self.seconds * self.fps)) / self.fps

    @cached_property
    def clock(self) -> Floats:
        """Instants (T,) [s] at which the world is seen; equal to `times` unless the motion judders."""
        count = np.arange(len(self.times))
        sign = np.where(count % 2 == 1, -1.0, 1.0) * (count > 0)
        return np.asarray(self.times + sign * self.amount("judder") / self.fps)

    @property
    def until(self) -> float:
        """The end of the clip [s]."""
        return float(self.times[-1])

    @cached_property
    def _rng(self) -> np.random.Generator:
        return np.random.default_rng([self.seed, 2])

    def vary(self, x: float, share: float = 0.06) -> float:
        """Return `x` changed by up to `share` of itself, by the seed; call in a fixed order."""
        return x * (1.0 + share * (2.0 * float(self._rng.random()) - 1.0))

    def paint(self, color: str, cell: float) -> Paint:
        """Return a fresh paint of that color in blotches of `cell` [m]."""
        self._count[0] += 2
        first, second = COLORS[color]
        return Paint(first, second, cell, self.seed * 1000 + self._count[0])

    def ball(self, name: str, radius: float, color: str, role: Any = "object") -> Body:
        """Return a ball of that radius [m]."""
        return Body(name, "ellipsoid", (radius,) * 3, self.paint(color, 0.62 * radius), role, "sphere")

    def block(self, name: str, half: tuple[float, float, float], color: str, role: Any = "object") -> Body:
        """Return a box with those half extents [m]."""
        return Body(name, "box", half, self.paint(color, 0.75 * float(np.median(half))), role, "box")

    def drum(self, name: str, radius: float, half: float, color: str, role: Any = "object") -> Body:
        """Return an upright cylinder of that radius and half height [m]."""
        kind: Kind = "cylinder"
        return Body(name, kind, (radius, half, radius), self.paint(color, 0.6 * radius), role, "cylinder")

    def room(self) -> tuple[Plane, ...]:
        """Return floor, back wall and two side walls."""
        s = self.scale
        wall, floor = self.paint("wall", 0.40 * s), self.paint("floor", 0.34 * s)
        x, y, z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
        return (
            Plane((0.0, -1.0, 0.0), 0.0, x, z, floor),
            Plane((0.0, 0.0, -1.0), 2.6 * s, x, y, wall),
            Plane((1.0, 0.0, 0.0), 3.3 * s, z, y, wall),
            Plane((-1.0, 0.0, 0.0), 3.3 * s, z, y, wall),
        )

    def props(self) -> list[Actor]:
        """Return the scenery at the back of the room: a plaster ball on a plinth, two crates and a drum."""
        s, role = self.scale, "scenery"
        plinth = self.block("plinth", (0.30 * s, 0.28 * s, 0.30 * s), "gray", role)
        plaster = self.ball("plaster", 0.34 * s, "white", role)
        low = self.block("crate_low", (0.36 * s, 0.26 * s, 0.30 * s), "brown", role)
        high = self.block("crate_high", (0.22 * s, 0.20 * s, 0.22 * s), "turquoise", role)
        drum = self.drum("drum", 0.24 * s, 0.38 * s, "gray", role)
        up = (0.0, 1.0, 0.0)
        return [
            Actor(plinth, (-2.05 * s, -0.28 * s, 1.55 * s), rotations(up, 0.35)),
            Actor(plaster, (-2.05 * s, -0.90 * s, 1.55 * s)),
            Actor(low, (2.05 * s, -0.26 * s, 1.75 * s), rotations(up, 0.62)),
            Actor(high, (2.00 * s, -0.72 * s, 1.75 * s), rotations(up, -0.25)),
            Actor(drum, (1.05 * s, -0.38 * s, 2.05 * s)),
        ]

    def light(self, azimuth: Any = -140.0, elevation: float = 48.0) -> Floats:
        """Return unit vectors (..., 3) to a light at `azimuth` [deg] from x toward z, `elevation` [deg] up."""
        a, e = np.radians(azimuth), np.radians(elevation)
        return np.stack(np.broadcast_arrays(np.cos(e) * np.cos(a), -np.sin(e), np.cos(e) * np.sin(a)), axis=-1)

    def world(self, actors: Sequence[Actor], contacts: Sequence[tuple[float, str, str]] = (), **changes: Any) -> World:
        """Return the world of these actors among the props, before the standard camera unless `changes` says else."""
        s = self.scale
        eye, target = np.array([0.0, -1.3 * s, -4.5 * s]), np.array([0.0, -0.85 * s, 0.0])
        defaults: dict[str, Any] = {
            "hw": self.hw,
            "focal": FOCAL * self.hw[1] / HW[1],
            "eye": eye,
            "view": looking(eye, target),
            "planes": self.room(),
            "light": self.light(),
            "surfaces": np.array([[0.0, -1.0, 0.0, 0.0]]),
        }
        return assemble(self.times, [*actors, *self.props()], list(contacts), **(defaults | changes))
