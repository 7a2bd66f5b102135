"""Worlds of two bodies: they meet, or one passes before the other.

Conventions
-----------
As `lab` and `worlds`.  Collisions are head-on and instantaneous, with a restitution below 1; what they exchange is
broken by the violations momentum_loss (the second body takes too little) and pass_through (nothing is exchanged).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pvbench_suite.simulate.lab import Lab
from pvbench_suite.simulate.motion import bounces, collide, rolling
from pvbench_suite.simulate.scene import Actor, World
from pvbench_suite.simulate.vectors import Floats, rotations


def at(x: Floats | float, height: Floats | float, z: Floats | float) -> Floats:
    """Return lab points (T, 3), or (3,), from x, height over the floor, and z [m]."""
    return np.stack(np.broadcast_arrays(x, -np.asarray(height), z), axis=-1).astype(np.float64)


def _pucks(lab: Lab, radii: tuple[float, float], ratio: float, colors: tuple[str, str], speed: float) -> World:
    """Return two pucks that glide without friction on a table and meet head-on; masses `ratio` to 1."""
    t, start, rest, top, half = lab.clock, -1.55, 0.15, 0.62, 0.11
    when = (rest - start - radii[0] - radii[1]) / speed
    v1, v2 = collide(speed, 0.0, ratio, 0.9)
    v2 *= 1.0 - 0.9 * lab.amount("momentum_loss")
    if lab.amount("pass_through") > 0.0:
        v1, v2 = speed, 0.0
    after = np.maximum(t - when, 0.0)
    first, second = lab.drum("puck_1", radii[0], half, colors[0]), lab.drum("puck_2", radii[1], half, colors[1])
    table = lab.block("table", (2.9, 0.5 * top, 0.55), "white", "scenery")
    actors = [
        Actor(first, at(start + speed * np.minimum(t, when) + v1 * after, top + half, 0.0)),
        Actor(second, at(rest + v2 * after, top + half, 0.0)),
        Actor(table, at(0.0, 0.5 * top, 0.0)),
    ]
    return lab.world(actors, [(when, "puck_1", "puck_2")], surfaces=np.array([[0.0, -1.0, 0.0, -top]]))


def pucks(lab: Lab) -> World:
    """Return two equal pucks that meet on an air table."""
    return _pucks(lab, (0.22, 0.22), 1.0, ("red", "blue"), lab.vary(1.5, 0.04))


def unequal_pucks(lab: Lab) -> World:
    """Return a light puck that runs into one of three times its mass."""
    return _pucks(lab, (0.19, 0.29), 1.0 / 3.0, ("yellow", "turquoise"), lab.vary(1.6, 0.04))


def air_collision(lab: Lab) -> World:
    """Return two equal balls, thrown at each other, that meet in the air, fall and bounce."""
    t, radius, level, restitution = lab.clock, 0.2, lab.vary(1.7, 0.03), 0.75
    path = bounces(0.70, lab.vary(4.0, 0.03), lab.until, 0.7)
    when = (3.0 - 2.0 * radius) / (2.0 * level)
    back, other = -restitution * level, restitution * level * (1.0 - 0.9 * lab.amount("momentum_loss"))
    if (through := lab.amount("pass_through")) > 0.0:
        # They slow down inside each other: a low dose would show as a short overlap, a full one as a long one.
        back, other = level * (1.0 - 0.5 * through), -level * (1.0 - 0.5 * through)
    after, until, height = np.maximum(t - when, 0.0), np.minimum(t, when), path.height(t) + radius
    x1, x2 = -1.5 + level * until + back * after, 1.5 - level * until + other * after
    actors = [
        Actor(lab.ball("ball_1", radius, "green"), at(x1, height, 0.0), airborne=path.airborne(t)),
        Actor(lab.ball("ball_2", radius, "yellow"), at(x2, height, 0.0), airborne=path.airborne(t)),
    ]
    floor = [(w, name, "") for w in path.contacts for name in ("ball_1", "ball_2")]
    return lab.world(actors, [(when, "ball_1", "ball_2"), *floor])


def hide(lab: Lab) -> World:
    """Return a ball that rolls behind a pillar and comes out on the other side."""
    radius = 0.2
    way = lab.vary(1.4, 0.03) * lab.clock
    ball, pillar = lab.ball("ball", radius, "yellow"), lab.block("pillar", (0.26, 0.85, 0.15), "gray")
    actors = [
        Actor(ball, at(-1.75 + way, radius, 0.35), rolling(way, radius, (1.0, 0.0))),
        Actor(pillar, at(-0.35, 0.85, -0.9)),
    ]
    return lab.world(actors)


def overlap(lab: Lab) -> World:
    """Return a near crate that slides past in front of a far box."""
    way = lab.vary(0.95) * lab.clock
    near, far = lab.block("crate", (0.20, 0.44, 0.20), "orange"), lab.block("box", (0.42, 0.55, 0.30), "blue")
    actors = [
        Actor(near, at(-1.0 + way, 0.44, -0.9), rotations((0.0, 1.0, 0.0), 0.3)),
        Actor(far, at(0.2, 0.55, 0.7), rotations((0.0, 1.0, 0.0), -0.25)),
    ]
    return lab.world(actors)


#: The worlds of this module, by name.
TWO: dict[str, Callable[[Lab], World]] = {f.__name__: f for f in (pucks, unequal_pucks, air_collision, hide, overlap)}
