"""Filmed worlds and what the derivations make of them, each made once; noise on the depth that they read.

The noise is that of ``pvbench_suite.calibrate.noise``: relative, correlated over half a second, one error for each
object and one for the background, and a tenth of it in every cell by itself.  The tracker's own depths share the
object's error.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import cv2
import numpy as np

from pvbench_suite.calibrate.noise import LEVELS, Sensor
from pvbench_suite.perception.derived import PROFILE
from pvbench_suite.simulate.film import shoot
from pvbench_suite.simulate.lab import Lab
from pvbench_suite.simulate.motion import rolling
from pvbench_suite.simulate.scene import Actor, World
from pvbench_suite.simulate.truth import records
from pvbench_suite.simulate.two_bodies import at
from pvbench_suite.simulate.vectors import rotations
from pvbench_suite.simulate.worlds import build

SMALL, FULL = (90, 160), (180, 320)
FPS = 24


@dataclass(frozen=True, eq=False)
class Derived:
    """A world, its true records, the records that were read, and those derived from them."""

    world: World
    truth: dict[str, Any]
    read: dict[str, Any]
    bodies: Any
    contacts: Any
    ordering: Any


def slope(lab: Lab) -> World:
    """Return a ball that rolls down a long ramp of 20 deg, which is a part of the room."""
    angle, radius, t = np.radians(20.0), 0.2, lab.clock
    way = 0.3 + 0.5 * (5.0 / 7.0) * 9.80665 * np.sin(angle) * t * t
    along, normal = np.array([np.cos(angle), np.sin(angle), 0.0]), np.array([np.sin(angle), -np.cos(angle), 0.0])
    top = np.array([-1.6, -1.35, -0.2])
    ramp = lab.block("ramp", (1.6, 0.05, 0.5), "gray", "scenery")
    place = top + 1.6 * along - 0.05 * normal
    ball = Actor(lab.ball("ball", radius, "red"), top + way[:, None] * along + radius * normal, driven=True)
    return lab.world([ball, Actor(ramp, tuple(place), rotations((0.0, 0.0, 1.0), angle))])


def lift(lab: Lab) -> World:
    """Return a ball that a wide plate, an object of its own, lifts and carries."""
    height = 0.35 + 0.5 * lab.clock
    ball, plate = lab.ball("ball", 0.2, "red"), lab.block("plate", (0.35, 0.06, 0.3), "blue")
    return lab.world(
        [Actor(ball, at(0.1, height + 0.26, 0.0), driven=True), Actor(plate, at(0.1, height, 0.0), driven=True)]
    )


def loop(lab: Lab) -> World:
    """Return a ball that swings like a pendulum in the middle of the room, with nothing that it hangs from."""
    angle = 0.5 * np.cos(2.0 * np.pi * 0.6 * lab.clock)
    return lab.world([Actor(lab.ball("ball", 0.17, "purple"), at(0.7 * np.sin(angle), 1.5 - 0.7 * np.cos(angle), 0.0))])


def rolls_out(lab: Lab) -> World:
    """Return a long box on its way out of the picture on the left."""
    way = 1.6 * lab.clock
    roll = Actor(lab.ball("ball", 0.2, "green"), at(0.6, 0.2, -0.3), rolling(0.0 * way, 0.2, (1.0, 0.0)))
    return lab.world([Actor(lab.block("box", (0.3, 0.2, 0.2), "blue"), at(-1.2 - way, 0.2, 0.0)), roll])


def beside(lab: Lab) -> World:
    """Return a ball that rests on a short table, and another that rolls over the floor beside and past it."""
    table = lab.block("table", (0.5, 0.25, 0.4), "white", "scenery")
    still, way = lab.ball("ball_1", 0.18, "red"), 1.2 * lab.clock
    moving = Actor(lab.ball("ball_2", 0.18, "blue"), at(-0.1 + way, 0.18, -0.9), rolling(way, 0.18, (1.0, 0.0)))
    return lab.world([Actor(still, at(-0.8, 0.68, 0.0)), moving, Actor(table, at(-0.8, 0.25, 0.0))])


def twice(lab: Lab) -> World:
    """Return a ball that glides to and fro between another one, which it hits at 0.5 and 1.5 s, and nothing."""
    off = 0.4 + 1.4 * np.abs((lab.clock % 1.0) - 0.5)
    balls = [lab.ball("ball_1", 0.2, "red"), lab.ball("ball_2", 0.2, "blue")]
    actors = [Actor(balls[0], at(0.3 - off, 0.2, 0.0)), Actor(balls[1], at(0.3, 0.2, 0.0))]
    return lab.world(actors, [(0.5, "ball_1", "ball_2"), (1.5, "ball_1", "ball_2")])


_OWN = {f.__name__: f for f in (slope, lift, loop, beside, twice, rolls_out)}


def noisy(made: dict[str, Any], seed: int, level: str = "mid") -> dict[str, Any]:
    """Return the records with noise on depth and on the tracker's own depths."""
    if seed < 0:
        return made
    depth, masks, tracks, cameras = made["depth"], made["masks"], made["tracks"], made["cameras"]
    (T, h, w), N = depth.z.shape, len(masks.names)
    sensor = Sensor(LEVELS[level], np.random.default_rng(seed), 1.0 / FPS)
    sd = sensor.level.depth
    common, z = sensor.wander(T, N + 1), depth.z.astype(float)
    for t in range(T):
        label = cv2.resize(masks.labels(t).astype(np.int16), (w, h), interpolation=cv2.INTER_NEAREST)
        z[t] *= np.exp(sd * common[t][label] + sensor.white(0.1 * sd, h, w))
    owner = tracks.owner + 1
    factor = np.exp(sd * common[:, owner] + 0.1 * sd * sensor.wander(T, len(owner)))
    eye = cameras.Tcw[:, None, :3, 3]
    xyz = eye + (tracks.xyz - eye) * factor[..., None]
    return {**made, "depth": replace(depth, z=z), "tracks": replace(tracks, z=tracks.z * factor, xyz=xyz)}


@lru_cache(maxsize=24)
def filmed(
    name: str, violation: str, seconds: float, hw: tuple[int, int], dose: float, take: int = 3
) -> tuple[World, dict[str, Any]]:
    """Return a world of the lab's seed `take`, and its true records."""
    scale = 3.0 if name == "tumble" else 1.0
    lab = Lab(take, seconds, FPS, hw, scale, violation, dose if violation else 0.0)
    world = _OWN[name](lab) if name in _OWN else build(name, lab)
    return world, dict(records(world, shoot(world)))


def provide(read: dict[str, Any], product: str, **given: Any) -> Any:
    """Return what the profile's provider makes of `read`, and of records `given` by name."""
    return PROFILE.providers[product](None, {**read, **given})


@lru_cache(maxsize=24)
def derived(
    name: str,
    violation: str = "",
    *,
    seed: int = -1,
    seconds: float = 2.0,
    hw: tuple[int, int] = SMALL,
    dose: float = 1.0,
    take: int = 3,
) -> Derived:
    """Return what is derived of a world; `seed` below 0 is without noise, else mid noise of that seed."""
    world, truth = filmed(name, violation, seconds, hw, dose, take)
    read = noisy(truth, seed)
    bodies = provide(read, "bodies")
    contacts = provide(read, "contacts", bodies=bodies)
    ordering = provide(read, "ordering", bodies=bodies, contacts=contacts)
    return Derived(world, truth, read, bodies, contacts, ordering)


def matched(found: Any, true: Any, within: float = 1.5) -> tuple[list[float], int, int]:
    """Return the timing errors [frames] of the contacts of one record that another has, and how many each has alone.

    The first alone are missed ones (of `true`), the second are false ones (of `found`).
    """
    left = [(float(w), {int(i), int(j)}) for w, i, j in zip(found.when, found.first, found.second, strict=True)]
    errors, missed = [], 0
    for when, i, j in zip(true.when, true.first, true.second, strict=True):
        near = [k for k, (w, pair) in enumerate(left) if pair == {int(i), int(j)} and abs(w - when) * FPS <= within]
        if near:
            errors.append((left.pop(near[0])[0] - float(when)) * FPS)
        else:
            missed += 1
    return errors, missed, len(left)
