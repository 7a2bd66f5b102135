"""Kinks: instants at which the velocity of a planar path changes at once.

Conventions
-----------
Paths are (T, 2) in pixels, image +y down, NaN where unknown; velocities in px/s.  Both sides of an instant are fitted
with parabolas, so that the bend of a fall is no kink; windows never reach over another kink, so that two bounces a
quarter of a second apart are two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pvbench_suite.perception.embedded.frames import Floats

#: Time on either side of an instant from which velocities are taken [s], in frames at least, and fewest samples.
SIDE, FRAMES, SAMPLES = 0.21, 5.2, 4
#: A kink is a change of velocity beyond this many standard errors, this many diameters per second, and this share of
#: the speed before it (a grazing touch is no contact that a path could show).
SIGMAS, LEAST, SHARE = 6.0, 1.5, 0.35
#: Longest time without a sighting across which a kink is sought [s], in frames at least.
GAP, GAPS = 0.3, 3.0
#: A frame this near to a kink is on neither side of it [frames].
BESIDE = 0.4
#: Least error of a place that is believed [px].
ERROR = 0.05


@dataclass(frozen=True)
class Kink:
    """A change of velocity: the frame after it, its time [s], the velocities before and after (2,) [px/s]."""

    frame: int
    when: float
    before: Floats
    after: Floats

    @property
    def push(self) -> Floats:
        """The change of velocity (2,) [px/s]: the direction in which the object was pushed."""
        return self.after - self.before


@dataclass(frozen=True)
class _Side:
    """A parabola through one side of an instant: coefficients (3, 2) in time from the instant, and their error."""

    c: Floats
    error: float

    def at(self, s: Floats) -> Floats:
        """Return the places (K, 2) at times `s` (K,) from the instant."""
        return np.vander(s, 3, increasing=True) @ self.c


def _side(t: Floats, x: Floats, at: float, noise: float) -> _Side:
    """Return the parabola through `x` (K, 2) at times `t` (K,), and the standard error of its velocity at `at`."""
    design = np.vander(t - at, 3, increasing=True)
    c, *_ = np.linalg.lstsq(design, x, rcond=None)
    rest = x - design @ c
    free = max(len(t) - 3, 1)
    sigma = np.sqrt(np.maximum((rest**2).sum(axis=0) / free, noise**2))
    spread = float(np.sqrt(np.linalg.inv(design.T @ design)[1, 1]))
    return _Side(np.asarray(c, dtype=float), float(np.linalg.norm(sigma)) * spread)


def _noise(path: Floats) -> float:
    """Return the standard deviation of the white part of a path (K, 2) [px], from its third differences."""
    if len(path) < 8:
        return ERROR
    third = np.linalg.norm(np.diff(path, n=3, axis=0), axis=-1) / np.sqrt(20.0)
    return max(ERROR, float(np.median(third)) / 1.1774)


def kinks(t: Floats, path: Floats, diameter: float) -> list[Kink]:
    """Return the kinks of a path (T, 2) over times `t` (T,) [s], in order of time.

    Raises nothing: a path that is too short, or known nowhere, has none.
    """
    known = np.flatnonzero(np.isfinite(path).all(axis=-1))
    step = float(np.median(np.diff(t))) if len(t) > 1 else 1 / 24
    search = _Search(t, path, diameter, step, _noise(path[known]))
    return search.within(known)


@dataclass(frozen=True)
class _Search:
    t: Floats
    path: Floats
    diameter: float
    step: float
    noise: float

    def within(self, known: NDArray[np.intp]) -> list[Kink]:
        """Return the kinks between the sightings `known`: the strongest, and those on either side of it."""
        best: Kink | None = None
        strength = 0.0
        for k in range(SAMPLES, len(known) - SAMPLES + 1):
            kink, here = self._at(known, k)
            if here > strength:
                best, strength = kink, here
        if best is None:
            return []
        # a frame at the very instant belongs to neither side
        apart = self.t[known] - best.when
        before, after = known[apart < -BESIDE * self.step], known[apart > BESIDE * self.step]
        return [*self.within(before), best, *self.within(after)]

    def _at(self, known: NDArray[np.intp], k: int) -> tuple[Kink | None, float]:
        """Return the kink between sightings `k - 1` and `k`, and how many standard errors it is; (None, 0): none."""
        t, a, b = self.t, known[k - 1], known[k]
        if t[b] - t[a] > max(GAP, GAPS * self.step):
            return None, 0.0
        at, reach = 0.5 * (t[a] + t[b]), max(SIDE, FRAMES * self.step)
        left = known[:k][t[known[:k]] >= at - reach]
        right = known[k:][t[known[k:]] <= at + reach]
        if len(left) < SAMPLES or len(right) < SAMPLES:
            return None, 0.0
        one = _side(t[left], self.path[left], at, self.noise)
        two = _side(t[right], self.path[right], at, self.noise)
        # where both parabolas meet is when it happened
        s = np.linspace(t[a] - at, t[b] - at, 21)
        meet = float(s[np.argmin(np.linalg.norm(one.at(s) - two.at(s), axis=-1))])
        v0, v1 = one.c[1] + 2 * meet * one.c[2], two.c[1] + 2 * meet * two.c[2]
        change, error = float(np.linalg.norm(v1 - v0)), float(np.hypot(one.error, two.error))
        if change <= max(SIGMAS * error, LEAST * self.diameter, SHARE * float(np.linalg.norm(v0))):
            return None, 0.0
        return Kink(int(b), at + meet, v0, v1), change / error
