"""Product `contacts`: who touches what and when, and who flies freely, from planar paths.

Conventions
-----------
Image +y is down.  Contacts and flight come from what the object does beside other things, never from how well a
parabola fits; when
unsure, an object is not airborne, so that a carried, rolling or hanging object is not asked for free fall.

- A contact with the surroundings is a kink of the velocity that a passive surface can make: the vertical velocity
turns from down
  to up or stops, or the object is slowed or thrown back without gaining speed.
- A contact of two objects is a kink of either while their outlines are within a quarter radius of each other.
- Flight lies between contacts, where a compact object moves, away from others, on a path that is curved downward or
  vertical (a straight slanting path may be a slope, an upward curve is a hand's or a string's), without sideways
  acceleration, and not along a level (a table or the floor would carry it). Rest before a release is no flight.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pvbench_suite.perception.embedded.frames import Floats
from pvbench_suite.perception.protocol import Parameter
from pvbench_suite.perception.types import Bodies, Contacts
from pvbench_suite.video.types import Clip

#: Time on either side of an instant from which velocities are taken [s].
SIDE = 0.21
#: A kink is a change of velocity beyond this many standard errors, this many diameters per second, and this share of
#: the speed before it (a grazing touch is no contact that a path could show).
SIGMAS, LEAST, SHARE = 6.0, 1.5, 0.35
#: A passive surface gives back at most this share of the speed.
GAIN = 1.1
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


@dataclass(frozen=True)
class _Kink:
    """A change of velocity: frame after it, time [s], velocities before and after [px/s]."""

    frame: int
    when: float
    before: Floats
    after: Floats


def _line(t: Floats, x: Floats, at: float) -> tuple[Floats, Floats, Floats]:
    """Return position and velocity at `at`, and the standard error (2,) of the velocity, of a quadratic fit.

    A line would take the bend of a fall for a kink.
    """
    s = t - at
    degree = 2
    design = np.vander(s, degree + 1, increasing=True)
    c, *_ = np.linalg.lstsq(design, x, rcond=None)
    rest = x - design @ c
    free = max(len(t) - degree - 1, 1)
    sigma = np.sqrt(np.maximum((rest**2).sum(axis=0) / free, 0.05**2))
    spread = float(np.sqrt(np.linalg.inv(design.T @ design)[1, 1]))
    return c[0], c[1], sigma * spread


def kinks(t: Floats, path: Floats, diameter: float) -> list[_Kink]:
    """Return the kinks of a path (T, 2), NaN where it is not known, in order of time; the strongest of close ones."""
    known = np.flatnonzero(np.isfinite(path).all(axis=-1))
    step = float(np.median(np.diff(t))) if len(t) > 1 else 1 / 24
    reach = max(SIDE, 5.2 * step)
    found: list[tuple[float, _Kink]] = []
    for a, b in itertools.pairwise(known):
        if t[b] - t[a] > max(0.3, 3 * step):
            continue
        at = 0.5 * (t[a] + t[b])
        left = known[(t[known] <= t[a]) & (t[known] >= at - reach)]
        right = known[(t[known] >= t[b]) & (t[known] <= at + reach)]
        if len(left) < 4 or len(right) < 4:
            continue
        _, v0, e0 = _line(t[left], path[left], at)
        _, v1, e1 = _line(t[right], path[right], at)
        change, error = float(np.linalg.norm(v1 - v0)), float(np.linalg.norm(np.hypot(e0, e1)))
        if change > max(SIGMAS * error, LEAST * diameter, SHARE * float(np.linalg.norm(v0))):
            found.append((change / error, _Kink(int(b), at, v0, v1)))
    chosen: list[_Kink] = []
    for _, kink in sorted(found, key=lambda f: -f[0]):
        if all(abs(kink.when - other.when) > reach for other in chosen):
            chosen.append(kink)
    return sorted(chosen, key=lambda k: k.when)


def passive(kink: _Kink) -> bool:
    """Return whether a surface at rest can have made the kink: a bounce off the floor, a stop, or a loss of speed."""
    before, after = float(np.linalg.norm(kink.before)), float(np.linalg.norm(kink.after))
    bounced = kink.before[1] > 0 and kink.after[1] < 0.3 * kink.before[1] and kink.before[1] > 0.3 * before
    return bool(bounced or after <= GAIN * before)


def _gap(bodies: Bodies, i: int, j: int, t: int) -> float:
    """Return the gap between the discs of two objects in smaller radii; infinite where either is not known."""
    a, b = bodies.uv[t, i], bodies.uv[t, j]
    r = bodies.radius[t, [i, j]]
    distance = float(np.linalg.norm(a - b)) - float(r.sum())
    return distance / float(r.min()) if np.isfinite(distance) else float("inf")


def _partner(bodies: Bodies, n: int, frame: int) -> int:
    """Return the object that touches `n` about a frame, or -1."""
    around = range(max(0, frame - 2), min(len(bodies.times), frame + 2))
    best, nearest = -1, TOUCH
    for m in range(len(bodies.names)):
        if m != n and bodies.present[:, m].any():
            gap = min((_gap(bodies, n, m, t) for t in around), default=float("inf"))
            if gap <= nearest:
                best, nearest = m, gap
    return best


def airborne(bodies: Bodies, n: int, cuts: list[float]) -> NDArray[np.bool_]:
    """Return in which frames (T,) object `n` flies freely; `cuts` are the times of its contacts [s]."""
    t = np.asarray(bodies.times, dtype=float)
    out = np.zeros(len(t), dtype=bool)
    diameter = float(bodies.diameter[n])
    if not diameter < COMPACT * bodies.hw[0]:
        return out
    known = np.isfinite(bodies.uv[:, n]).all(axis=-1)
    edges = [-np.inf, *cuts, np.inf]
    for start, stop in itertools.pairwise(edges):
        inside = np.flatnonzero(known & (t > start) & (t < stop))
        for run in _parts(inside, t):
            part = _moving(run, t, np.asarray(bodies.uv[:, n], dtype=float), diameter)
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
    t, uv = np.asarray(bodies.times, dtype=float)[part], np.asarray(bodies.uv[part, n], dtype=float)
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
        if m != n and sum(_gap(bodies, n, m, int(k)) < TOUCH for k in inner) > 0.25 * len(inner):
            return True
    return False


@dataclass(frozen=True)
class PlanarContacts:
    """Contact candidates, flight and gravity's direction (image down) from planar paths."""

    name: str = "embedded-contacts@1"
    product: str = "contacts"
    needs: tuple[str, ...] = ("bodies",)
    parameters: ClassVar[Mapping[str, Parameter]] = {"side": SIDE, "sigmas": SIGMAS, "gain": GAIN, "touch": TOUCH}

    def __call__(self, clip: Clip, records: Mapping[str, Any]) -> Contacts:
        """Return the contacts of the bodies."""
        bodies: Bodies = records["bodies"]
        times = np.asarray(bodies.times, dtype=float)
        T, N = bodies.present.shape
        when: list[tuple[float, int, int]] = []
        fly = np.zeros((T, N), dtype=bool)
        for n in range(N):
            if not np.isfinite(bodies.diameter[n]):
                continue
            mine = []
            for kink in kinks(times, np.asarray(bodies.uv[:, n], dtype=float), float(bodies.diameter[n])):
                partner = _partner(bodies, n, kink.frame)
                if partner >= 0 or passive(kink):
                    mine.append(kink.when)
                    when.append((kink.when, n, partner))
            fly[:, n] = airborne(bodies, n, mine)
        pairs = _once(sorted(when))
        driven = np.zeros((T, N), dtype=bool)
        return Contacts(
            times,
            np.array([w for w, _, _ in pairs], dtype=float),
            np.array([i for _, i, _ in pairs], dtype=np.int64),
            np.array([j for _, _, j in pairs], dtype=np.int64),
            fly,
            driven,
            bodies.names,
            down=np.array([0.0, 1.0, 0.0]),
            down_source="image axis",
        )


def _once(found: list[tuple[float, int, int]]) -> list[tuple[float, int, int]]:
    """Return contacts with those of one pair within a tenth of a second counted once."""
    out: list[tuple[float, int, int]] = []
    for when, i, j in found:
        pair = {i, j}
        if j >= 0 and any(abs(when - w) < 0.1 and {a, b} == pair for w, a, b in out):
            continue
        out.append((when, i, j))
    return out
