"""Join the pieces of one object's path across the times at which it was not seen.

Conventions
-----------
An object that was lost and one that appears later are one when they look alike and are of one size; where they are
expected to meet decides between several, but a body that reappears elsewhere keeps its identity: that it jumped is for
the dimension tests to say.  What goes behind a thin post is seen on both sides of it for a while: two parts that are
together no more than the whole, and as near to each other as parts of it are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from pvbench_suite.perception.embedded.blobs import Region, merged, unlike
from pvbench_suite.perception.embedded.frames import Floats
from pvbench_suite.perception.embedded.tracking import Path

#: Two pieces look alike below this distance, and are of one size within this factor.
ALIKE, FACTOR = 0.42, 2.2
#: A meeting this close, in diameters and expected paths, is where the object was expected.
EXPECTED = 1.5
#: Pieces that meet nowhere near need this length to be joined by their looks alone [s], and this likeness.
LENGTH, VERY_ALIKE = 0.25, 0.25
#: Dearest join, in the units of `_cost`.
COST = 2.2
#: Two parts of one object are together at most this share of it, and lie at most this far apart [diameters].
TOGETHER, APART = 1.1, 1.25


def summary(path: Path) -> tuple[Floats, float]:
    """Return the usual look of `path` and its usual area [px], from its whole sightings (all, if there are none)."""
    whole: list[Region] = [r for r in path.seen.values() if r.whole] or list(path.seen.values())
    look = np.mean([r.look for r in whole], axis=0)
    return np.asarray(look), float(np.median([r.area for r in whole]))


def velocity(path: Path, pace: float, end: bool) -> Floats:
    """Return the velocity (x, y) [px per frame] over the last (`end`) or first 0.25 s of `path`."""
    times = sorted(path.seen)
    near = [t for t in times if (times[-1] - t if end else t - times[0]) * pace <= 0.25]
    if len(near) < 3:
        near = times[-3:] if end else times[:3]
    if len(near) < 2:
        return np.zeros(2)
    places = np.array([path.seen[t].centre for t in near])
    x = np.array(near, dtype=float)
    x -= x.mean()
    return np.asarray(x @ places / (x @ x))


@dataclass(frozen=True, eq=False)
class _Piece:
    """A path with what is asked of it over and over: its ends, its look, its area."""

    path: Path
    first: int
    last: int
    look: Floats
    area: float


def _piece(path: Path) -> _Piece:
    look, area = summary(path)
    return _Piece(path, min(path.seen), max(path.seen), look, area)


def _cost(one: _Piece, two: _Piece, pace: float) -> float:
    """Return how unlikely it is that `two` continues `one`; infinite when it cannot."""
    t1, t2 = one.last, two.first
    if t2 <= t1 and not _both_sides(one, two):
        return float(np.inf)
    a, b, area_a, area_b = one.path, two.path, one.area, two.area
    look, size = unlike(one.look, two.look), abs(float(np.log(area_a / area_b)))
    if look > ALIKE or size > np.log(FACTOR):
        return float(np.inf)
    gap = max(t2 - t1, 0)
    va, vb = velocity(a, pace, end=True), velocity(b, pace, end=False)
    there, here = b.seen[t2].centre, a.seen[t1].centre
    misses = (there - here - va * gap, there - here - vb * gap, there - here - 0.5 * (va + vb) * gap)
    miss = min(float(np.linalg.norm(m)) for m in misses)
    speed = float(max(np.linalg.norm(va), np.linalg.norm(vb)))
    near = miss / (2.0 * np.sqrt(max(area_a, area_b) / np.pi) + 0.35 * speed * gap)
    short = min(len(a.seen), len(b.seen)) * pace < LENGTH
    if near > EXPECTED and (short or look > VERY_ALIKE):
        return float(np.inf)
    return 2.0 * look + size + 0.5 * min(near, 3.0) + 0.1 * gap * pace


def _both_sides(one: _Piece, two: _Piece) -> bool:
    """Return whether the end of `one` and the beginning of `two` are two parts of one object, seen together."""
    if two.first <= one.first or two.last <= one.last:
        return False
    area = min(one.area, two.area)
    for t in range(two.first, one.last + 1):
        if t in one.path.seen and t in two.path.seen:
            a, b = one.path.seen[t], two.path.seen[t]
            apart = float(np.linalg.norm(a.centre - b.centre))
            if a.area + b.area > TOGETHER * area or apart > APART * 2.0 * np.sqrt(area / np.pi):
                return False
    return True


def joined(paths: list[Path], pace: float) -> list[Path]:
    """Return `paths` with the pieces of each object joined, in the order of their beginnings."""
    if len(paths) < 2:
        return paths
    pieces = [_piece(p) for p in paths]
    cost = np.array([[_cost(a, b, pace) for b in pieces] for a in pieces])
    rows, columns = linear_sum_assignment(np.where(np.isfinite(cost), cost, 1e3))
    after = {int(i): int(j) for i, j in zip(rows, columns, strict=True) if cost[i, j] <= COST}
    heads = [i for i in range(len(paths)) if i not in after.values()]
    out = []
    for head in heads:
        whole, k = paths[head], head
        while k in after:
            k = after[k]
            both = {t: merged(whole.seen[t], r) for t, r in paths[k].seen.items() if t in whole.seen}
            whole.seen.update(paths[k].seen | both)
            whole.areas += paths[k].areas
            whole.shape, whole.last, whole.centre = paths[k].shape, paths[k].last, paths[k].centre
        out.append(whole)
    return out
