"""The worlds: bodies on closed-form paths in the lab, lawful or with a law of motion broken.

Conventions
-----------
As `lab`; a world takes a `Lab` and returns a `World`.  Its first body is the one that a violation befalls.  Laws that
shape the path itself are broken here, by `Lab.amount` of the names in `OWN`; everything else is done to the finished
world by `violations`.  Sizes never vary with the seed, since the prompts state them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pvbench_suite.simulate.lab import Lab
from pvbench_suite.simulate.motion import GRAVITY, bounces, rolling, swing
from pvbench_suite.simulate.scene import Actor, World
from pvbench_suite.simulate.still_worlds import STILL
from pvbench_suite.simulate.two_bodies import TWO, at
from pvbench_suite.simulate.vectors import looking, product, rotations
from pvbench_suite.simulate.violations import VIOLATIONS

_BALLS = ("bounce", "high_bounce", "low_bounce", "thud", "projectile")
_PAIRS = ("pucks", "unequal_pucks", "air_collision")

#: The violations of single laws of motion, and the worlds that have such a law; `judder` is the lab's clock.
OWN: dict[str, tuple[str, ...]] = {
    "gravity": _BALLS,
    "gravity_change": _BALLS,
    "energy_gain": (*_BALLS, "pendulum"),
    "sink": _BALLS,
    "momentum_loss": _PAIRS,
    "pass_through": _PAIRS,
}


def _ball(lab: Lab, color: str, drop: float, speed: tuple[float, float], x0: float, restitution: float) -> World:
    """Return a ball of 0.4 m that starts `drop` over contact with (level, upward) `speed` and bounces on."""
    t, radius = lab.clock, 0.2
    fewer, other = 1.0 - 0.65 * lab.amount("gravity"), 1.0 - 0.6 * lab.amount("gravity_change")
    path = bounces(
        drop,
        speed[1],
        lab.until,
        restitution + 0.38 * lab.amount("energy_gain"),
        lambda k: GRAVITY * fewer * (other if k % 2 else 1.0),
        0.17 * lab.amount("sink"),
    )
    where = at(x0 + speed[0] * t, path.height(t) + radius, 0.0)
    spin = rotations((0.2, 0.1, 1.0), 1.5 * t)
    ball = Actor(lab.ball("ball", radius, color), where, spin, airborne=path.airborne(t))
    return lab.world([ball], [(when, "ball", "") for when in path.contacts])


def bounce(lab: Lab) -> World:
    """Return a heavy rubber ball that drops onto the floor and bounces."""
    return _ball(lab, "red", lab.vary(1.05), (lab.vary(0.35), 0.0), lab.vary(-0.5), 0.86)


def high_bounce(lab: Lab) -> World:
    """Return a ball that drops from higher up."""
    return _ball(lab, "blue", lab.vary(1.5), (lab.vary(0.30), 0.0), lab.vary(-0.4), 0.80)


def low_bounce(lab: Lab) -> World:
    """Return a ball that drops from knee height, so that there is room for it to rise."""
    return _ball(lab, "green", lab.vary(0.72), (lab.vary(0.25), 0.0), lab.vary(-0.4), 0.86)


def thud(lab: Lab) -> World:
    """Return a heavy ball that drops, hardly rebounds, and rolls on over the floor."""
    return _ball(lab, "red", lab.vary(1.05), (0.3, 0.0), lab.vary(-0.5), 0.2)


def projectile(lab: Lab) -> World:
    """Return a ball that flies in an arc from left to right and bounces."""
    return _ball(lab, "orange", lab.vary(0.35), (lab.vary(1.75), lab.vary(4.3, 0.03)), -1.9, 0.8)


def pendulum(lab: Lab) -> World:
    """Return a ball on a string that swings below a beam, released at rest."""
    length, height = lab.vary(0.66, 0.03), 1.92
    theta = swing(lab.clock, length, np.radians(lab.vary(30.0)), 0.30 * lab.amount("energy_gain"))
    bob, string = lab.ball("ball", 0.17, "purple"), lab.drum("string", 0.012, 0.5 * length, "black", "decor")
    beam = lab.block("beam", (0.5, 0.04, 0.06), "brown", "scenery")
    x, fall = np.sin(theta), np.cos(theta)
    turned = rotations((0.0, 0.0, 1.0), -theta)
    actors = [
        Actor(bob, at(length * x, height - length * fall, 0.0), turned, pivot=(0.0, -height, 0.0)),
        Actor(string, at(0.5 * length * x, height - 0.5 * length * fall, 0.0), turned),
        Actor(beam, at(0.0, height + 0.04, 0.0)),
    ]
    return lab.world(actors)


def roll(lab: Lab) -> World:
    """Return a ball that rolls across the room."""
    t, radius = lab.clock, 0.26
    way = lab.vary(0.95) * t - 0.5 * 0.05 * t * t
    ball = lab.ball("ball", radius, "red")
    return lab.world([Actor(ball, at(-1.3 + way, radius, -0.2), rolling(way, radius, (1.0, 0.0)))])


def approach(lab: Lab) -> World:
    """Return a ball that rolls from the back of the room toward the camera."""
    t, radius, heading = lab.clock, 0.22, (0.38, -0.92)
    way = lab.vary(1.35) * t
    ball = lab.ball("ball", radius, "orange")
    where = at(-0.9 + heading[0] * way, radius, 1.3 + heading[1] * way)
    return lab.world([Actor(ball, where, rolling(way, radius, heading))])


def slide(lab: Lab) -> World:
    """Return a box that slides over the floor, turning slowly, slowed by friction."""
    t, speed = lab.clock, lab.vary(1.5)
    way = speed * t - 0.5 * 0.30 * t * t
    yaw = rotations((0.0, 1.0, 0.0), lab.vary(0.6) * (t - 0.15 * t * t))
    return lab.world([Actor(lab.block("box", (0.19, 0.16, 0.16), "turquoise"), at(-1.5 + way, 0.16, -0.5), yaw)])


def spin(lab: Lab) -> World:
    """Return a long box that turns on a turntable at a steady rate."""
    box, table = lab.block("box", (0.46, 0.26, 0.22), "purple"), lab.drum("turntable", 0.60, 0.05, "black", "decor")
    turned = rotations((0.0, 1.0, 0.0), 0.5 + lab.vary(0.9) * lab.clock)
    actors = [Actor(box, at(0.0, 0.36, -0.4), turned, driven=True), Actor(table, at(0.0, 0.05, -0.4), turned)]
    return lab.world(actors)


def tumble(lab: Lab) -> World:
    """Return a large crate in a high arc through a hall, turning about one of its principal axes."""
    t, s = lab.clock, lab.scale
    crate, tilt = lab.block("crate", (0.75, 0.52, 0.52), "brown"), rotations((0.0, 1.0, 0.0), -0.6)
    turned = rotations((tilt[0, 2], tilt[1, 2], tilt[2, 2]), 0.3 + lab.vary(1.5) * t)
    pose = np.stack([product(turn, tilt) for turn in turned])
    where = at(-3.0 + lab.vary(2.8) * t, 1.5 + 9.4 * t - 0.5 * GRAVITY * t * t, 0.0)
    high = looking((0.0, -1.3 * s, -4.5 * s), (0.0, -1.08 * s, 0.0))
    return lab.world([Actor(crate, where, pose, airborne=True)], view=high)


def squash(lab: Lab) -> World:
    """Return a lump of jelly that wobbles on the floor, wider when it is lower."""
    q = 0.24 * np.sin(2.0 * np.pi * lab.vary(1.3) * lab.clock)
    size = 0.36 * np.exp(np.stack([0.5 * q, -q, 0.5 * q], axis=-1))
    return lab.world([Actor(lab.ball("jelly", 0.36, "green"), at(0.1, size[:, 1], -0.4), half=size)])


_ONE: dict[str, Callable[[Lab], World]] = {
    f.__name__: f
    for f in (
        *(bounce, high_bounce, low_bounce, thud, projectile, pendulum),
        *(roll, approach, slide, spin, tumble, squash),
    )
}

#: Every world, by name.
WORLDS: dict[str, Callable[[Lab], World]] = _ONE | TWO | STILL


def build(name: str, lab: Lab) -> World:
    """Return the world `name` of that lab, with its violation.

    Raises
    ------
    KeyError
        If there is no such world.
    ValueError
        If there is no such violation, or that world has no law of that kind to break.
    """
    violation = lab.violation
    known = {*VIOLATIONS, *OWN, "judder"}
    if violation and violation not in known:
        raise ValueError(f"there is no violation {violation!r}; choose {', '.join(sorted(known))}")
    if violation in OWN and name not in OWN[violation]:
        raise ValueError(f"world {name!r} has no such law to break; {violation} goes with {', '.join(OWN[violation])}")
    world = WORLDS[name](lab)
    if violation in VIOLATIONS and lab.dose > 0.0:
        return VIOLATIONS[violation](world, lab.dose, world.objects[0])
    return world
