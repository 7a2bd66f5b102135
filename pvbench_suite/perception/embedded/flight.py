"""When an object flies freely, from its planar path.

Conventions
-----------
Image +y is down.  When unsure, an object is not airborne, so that a carried, rolling, sliding or hanging object is not
asked for free fall.

Flight lies between contacts, where a compact object moves, away from others, on a path that is curved downward or
vertical (a straight slanting path may be a slope, an upward curve is a hand's or a string's), without sideways
acceleration, and not along a level (a table or the floor would carry it).  Rest before a release is no flight.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from pvbench_suite.perception.embedded.frames import Floats
from pvbench_suite.perception.types import Bodies

#: Objects touch within this gap, in smaller radii.
TOUCH = 0.25
#: Largest object that can be told to fly, its diameter as a share of the frame's height; shortest flight [s].
COMPACT, FLIGHT = 0.3, 0.2
#: Slowest motion that counts, in diameters per second; a level path rises less than this share of its length.
MOVING, LEVEL = 0.8, 0.06
#: A slanting path this straight (largest distance from its chord, share of its length) may be a slope.
STRAIGHT, VERTICAL = 0.02, 0.25
#: A free flight's sideways velocity changes by less than this share of its speed.
SIDEWAYS = 0.25


def gap(bodies: Bodies, i: int, j: int, t: int) -> float:
    """Return the gap between the discs of two objects in smaller radii; infinite where either is not known."""
    a, b = bodies.uv[t, i], bodies.uv[t, j]
    r = bodies.radius[t, [i, j]]
    distance = float(np.linalg.norm(a - b)) - float(r.sum())
    return distance / float(r.min()) if np.isfinite(distance) else float("inf")


def airborne(bodies: Bodies, n: int, cuts: list[float]) -> NDArray[np.bool_]:
    """Return in which frames (T,) object `n` flies freely; `cuts` are the times of its contacts [s]."""
    t = np.asarray(bodies.times, dtype=float)
    out = np.zeros(len(t), dtype=bool)
    diameter = float(bodies.diameter[n])
    if not diameter < COMPACT * bodies.hw[0]:
        return out
    path = np.asarray(bodies.centre[:, n, :2], dtype=float)
    known = np.isfinite(path).all(axis=-1)
    edges = [-np.inf, *cuts, np.inf]
    for start, stop in itertools.pairwise(edges):
        inside = np.flatnonzero(known & (t > start) & (t < stop))
        for run in _parts(inside, t):
            part = _moving(run, t, path, diameter)
            if _flies(bodies, n, part, diameter):
                out[part[0] : part[-1] + 1] = True
    return out


def _parts(inside: NDArray[np.intp], t: Floats) -> list[NDArray[np.intp]]:
    """Return runs of known frames without a gap of more than 0.15 s."""
    if len(inside) == 0:
        return []
    return np.split(inside, np.flatnonzero(np.diff(t[inside]) > 0.15) + 1)


def _moving(part: NDArray[np.intp], t: Floats, uv: Floats, diameter: float) -> NDArray[np.intp]:
    """Return an interval without the frames at its ends in which the object has not got going, or has come to rest."""
    if len(part) < 3:
        return part
    speed = np.linalg.norm(np.diff(uv[part], axis=0), axis=-1) / np.diff(t[part])
    going = np.flatnonzero(speed > MOVING * diameter)
    return part[going[0] : going[-1] + 2] if len(going) else part[:0]


def _flies(bodies: Bodies, n: int, part: NDArray[np.intp], diameter: float) -> bool:
    """Return whether an interval between contacts is free flight, by the rules of this module."""
    t, uv = np.asarray(bodies.times, dtype=float)[part], np.asarray(bodies.centre[part, n, :2], dtype=float)
    if len(part) < 5 or t[-1] - t[0] < FLIGHT:
        return False
    chord = uv[-1] - uv[0]
    way = float(np.abs(np.diff(uv, axis=0)).sum())
    length = max(float(np.linalg.norm(chord)), 1e-9)
    middle = 0.5 * (t[0] + t[-1])
    design = np.vander(t - middle, 3, increasing=True)
    c, *_ = np.linalg.lstsq(design, uv, rcond=None)
    span = t[-1] - t[0]
    turn = 2.0 * np.abs(c[2]) * span
    speed = float(np.linalg.norm(c[1])) + float(turn[1]) / 2.0
    if way < MOVING * diameter * span or np.ptp(uv[:, 1]) < max(LEVEL * way, 0.5 * diameter):
        return False
    off = np.abs((uv - uv[0]) @ np.array([-chord[1], chord[0]])) / length
    slanting = abs(chord[0]) > VERTICAL * abs(chord[1])
    if slanting and float(off.max()) < max(STRAIGHT * length, 0.05 * diameter) and turn[1] < 0.2 * speed:
        return False
    if turn[0] > SIDEWAYS * speed or c[2, 1] <= 0:
        return False
    return not _accompanied(bodies, n, part)


def _accompanied(bodies: Bodies, n: int, part: NDArray[np.intp]) -> bool:
    """Return whether another object stays at the side of `n`; one met at either end (its shadow, say) does not."""
    inner = part[2:-2]
    for m in range(len(bodies.names)):
        if m != n and sum(gap(bodies, n, m, int(k)) < TOUCH for k in inner) > 0.25 * len(inner):
            return True
    return False
