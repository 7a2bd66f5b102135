"""The sightings of one object on the grid of its masks: where, how large, how fast, and what lies over it.

Conventions
-----------
Lengths are in pixels of the mask grid, velocities per second.  A sighting is whole when its area is near the usual one
and it does not meet the border.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from pvbench_suite.perception.embedded.frames import Floats
from pvbench_suite.perception.stretches import runs
from pvbench_suite.perception.types import Bodies, Masks

Bools = NDArray[np.bool_]

#: A sighting is whole with this share of the usual area, the median over this time on either side [s].
WHOLE, USUAL = 0.85, 0.5
#: How far back the velocity at an end is read [s].
VELOCITY = 0.4
#: An object this many times larger can carry what it covers.
LARGER = 2.0
#: An object was covered where its area sinks, for `TALL` frames, below `DEEP` of what it is in as many frames this
#: long [s] before and after; that began and ended where it passed `PARTLY` of it.
DIP, TALL, DEEP, PARTLY = 1.5, 3, 0.5, 0.95


def theil_sen(times: Floats, places: Floats) -> Floats:
    """Return the median slope (2,) of `places` (K, 2) over `times` (K,); 0 for fewer than three."""
    if len(times) < 3:
        return np.zeros(2)
    i, j = np.triu_indices(len(times), k=1)
    return np.asarray(np.median((places[j] - places[i]) / (times[j] - times[i])[:, None], axis=0))


def usual(times: Floats, area: Floats, whole: Bools) -> Floats:
    """Return the usual area (T,): the median of the `whole` sightings within half a second, NaN where `area` is 0.

    With fewer than three of them, the five nearest in time count.
    """
    out = np.full(len(times), np.nan)
    good = np.flatnonzero(whole & (area > 0))
    good = good if good.size else np.flatnonzero(area > 0)
    for t in np.flatnonzero(area > 0):
        near = good[np.abs(times[good] - times[t]) <= USUAL]
        if near.size < 3:
            near = good[np.argsort(np.abs(times[good] - times[t]), kind="stable")[:5]]
        out[t] = np.median(area[near])
    return out


def covered_up(times: Floats, area: Floats) -> Bools:
    """Return when (T,) something covered a part of the object; `area` (T,) is 0 where it is not seen.

    What sinks below half, for three frames at least, of what it was within a second and a half before, and is after,
    was covered, also while it was still, or already, more than half: a body that turns or comes nearer changes less, or
    does not come back.  A shorter loss is short enough for a median not to follow it.
    """
    free = area.copy()
    for t in range(len(area)):
        sides = (times < times[t]) & (times >= times[t] - DIP), (times > times[t]) & (times <= times[t] + DIP)
        if all((area[side] > 0).any() for side in sides):
            free[t] = min(float(np.sort(area[side][area[side] > 0])[-TALL:][0]) for side in sides)
    out = area < PARTLY * free
    for run in runs(out):
        if np.count_nonzero(area[run] < DEEP * free[run]) < TALL:
            out[run] = False
    return out


class Sightings:
    """One object `n` of the masks, where it is present in the record of the bodies."""

    def __init__(self, bodies: Bodies, masks: Masks, n: int) -> None:
        self.masks, self.n, self.times = masks, n, np.asarray(bodies.times, dtype=float)
        self.seen = np.flatnonzero(np.asarray(bodies.present)[:, n])
        self.uv = np.full((len(self.times), 2), np.nan)
        for t in self.seen:
            rows, columns = np.nonzero(masks.dense(int(t), n))
            if len(rows):
                self.uv[t] = columns.mean(), rows.mean()
        self.area = masks.area()[:, n] * masks.grid[0] * masks.grid[1]
        self.border = np.zeros(len(self.times), dtype=bool)
        for t in self.seen:
            mask = masks.dense(int(t), n)
            self.border[t] = mask[[0, -1]].any() or mask[:, [0, -1]].any()
        shown = np.where(np.isin(np.arange(len(self.times)), self.seen), self.area, 0.0)
        covered = covered_up(self.times, np.where(self.border, 0.0, shown))
        self.normal = usual(self.times, shown, (shown > 0) & ~self.border & ~covered)
        whole = shown >= WHOLE * np.nan_to_num(self.normal, nan=np.inf)
        self.whole = whole & ~self.border & ~covered
        self.radius = float(
            np.sqrt(np.median(self.area[self.whole] if self.whole.any() else self.area[self.seen]) / np.pi)
        )
        self.step = float(np.median(np.diff(self.times))) if len(self.times) > 1 else 1.0

    def velocity(self, t: int, side: int) -> Floats:
        """Return the velocity (2,) [px/s] at sighting `t`, from the whole sightings before (-1) or after (+1) it."""
        near = self.seen[(side * (self.seen - t) >= 0) & (np.abs(self.times[self.seen] - self.times[t]) <= VELOCITY)]
        whole = near[self.whole[near]]
        near = whole if len(whole) >= 3 else near
        return theil_sen(self.times[near], self.uv[near])

    def extent(self, t: int, u: Floats) -> tuple[float, float]:
        """Return how far the mask of frame `t` reaches along and against the direction `u` [px]."""
        rows, columns = np.nonzero(self.masks.dense(t, self.n))
        along = columns * u[0] + rows * u[1]
        return float(along.max()), float(along.min())

    def others(self) -> list[int]:
        """Return the indices of all other objects."""
        return [m for m in range(len(self.masks.names)) if m != self.n]

    def larger(self, t: int, m: int) -> bool:
        """Return whether object `m` is large enough in frame `t` to carry this one behind or inside it."""
        if not 0 <= t < len(self.times):
            return False
        pixels = self.masks.area()[t, m] * self.masks.grid[0] * self.masks.grid[1]
        return bool(pixels >= LARGER * np.pi * self.radius**2)

    def covered(self, t: int, place: Floats, share: float, by: list[int] | None = None) -> bool:
        """Return whether other objects cover this `share` of the disc of the object at `place` in frame `t`."""
        if not 0 <= t < len(self.times) or not np.isfinite(place).all():
            return False
        disc = np.zeros(self.masks.grid, dtype=np.uint8)
        cv2.circle(disc, (round(float(place[0])), round(float(place[1]))), max(1, round(self.radius)), 1, cv2.FILLED)
        total = int(disc.sum())
        if total == 0:
            return False
        over = np.zeros(self.masks.grid, dtype=bool)
        for m in self.others() if by is None else by:
            if self.masks.confidence[t, m] > 0:
                over |= self.masks.dense(t, m)
        return bool(np.count_nonzero(over & (disc > 0)) >= share * total)

    def outside(self, place: Floats) -> bool:
        """Return whether less than half of the box of the object at `place` is inside the frame."""
        h, w = self.masks.grid
        x, y, r = float(place[0]), float(place[1]), self.radius
        if not (np.isfinite(x) and np.isfinite(y)):
            return False
        wide = max(0.0, min(x + r, w - 0.5) - max(x - r, -0.5))
        high = max(0.0, min(y + r, h - 0.5) - max(y - r, -0.5))
        return wide * high < 0.5 * (2.0 * r) ** 2
