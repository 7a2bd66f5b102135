"""Worlds in which light or camera move, or nothing at all.

Conventions
-----------
As `lab` and `worlds`; cameras stay level and turned to one point.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pvbench_suite.simulate.lab import Lab
from pvbench_suite.simulate.motion import eased, rolling
from pvbench_suite.simulate.scene import Actor, World
from pvbench_suite.simulate.vectors import Floats, looking, rotations


def _exhibits(lab: Lab) -> list[Actor]:
    """Return a cube and a ball that stand still in the middle of the room."""
    cube, ball = lab.block("cube", (0.27, 0.27, 0.27), "blue"), lab.ball("ball", 0.25, "red")
    turned = rotations((0.0, 1.0, 0.0), 0.5)
    return [Actor(cube, (0.45, -0.27, 0.2), turned), Actor(ball, (-0.45, -0.25, -0.3), turned)]


def _seen_from(lab: Lab, eye: Floats, target: Floats) -> World:
    """Return the still room seen along a path of the camera, eye and target (T, 3)."""
    views = np.stack([looking(e, p) for e, p in zip(eye, target, strict=True)])
    return lab.world(_exhibits(lab), eye=eye, view=views)


def still(lab: Lab) -> World:
    """Return a room in which nothing moves."""
    return lab.world(_exhibits(lab))


def orbit(lab: Lab) -> World:
    """Return a still room that the camera sees from an arc round its middle."""
    reach = np.radians(lab.vary(17.0))
    angle = reach * (2.0 * eased(lab.clock, -0.4, lab.until + 0.4) - 1.0)
    eye = np.stack([4.3 * np.sin(angle), np.full_like(angle, -1.3), -4.3 * np.cos(angle)], axis=-1)
    return _seen_from(lab, eye, np.broadcast_to(np.array([0.0, -0.7, 0.0]), eye.shape))


def dolly(lab: Lab) -> World:
    """Return a still room that the camera passes sideways and a little forward, looking straight on."""
    way = lab.vary(1.1) * (eased(lab.clock, -0.4, lab.until + 0.4) - 0.5)
    eye = np.stack([way, np.full_like(way, -1.25), -4.3 + 0.5 * way], axis=-1)
    return _seen_from(lab, eye, eye + np.array([0.0, 0.38, 4.3]))


def _rod(lab: Lab) -> list[Actor]:
    """Return a slim rod that casts the shadow to look at, and a ball that rolls past behind it."""
    t = lab.clock
    way, radius = lab.vary(0.9) * t, 0.2
    rod, ball = lab.drum("rod", 0.09, 0.55, "orange"), lab.ball("ball", radius, "blue")
    return [
        Actor(rod, (-0.35, -0.55, -0.7)),
        Actor(ball, np.stack(np.broadcast_arrays(-0.9 + way, -radius, 0.8), axis=-1), rolling(way, radius, (1.0, 0.0))),
    ]


def lamp(lab: Lab) -> World:
    """Return a room round which a lamp swings slowly, and the shadow of a rod with it."""
    azimuth = lab.vary(-128.0, 0.03) + 11.0 * lab.clock
    return lab.world(_rod(lab), light=lab.light(azimuth, 42.0))


def sundial(lab: Lab) -> World:
    """Return a ball that rolls past a rod whose shadow lies still on the floor."""
    return lab.world(_rod(lab), light=lab.light(lab.vary(-130.0, 0.03), 42.0))


#: The worlds of this module, by name.
STILL: dict[str, Callable[[Lab], World]] = {f.__name__: f for f in (still, orbit, dolly, lamp, sundial)}
