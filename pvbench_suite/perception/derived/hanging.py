"""Hanging: a body that swings below a fixed point at a constant distance from it, and is attached to something there.

Conventions
-----------
World axes; `down` is the unit direction of gravity.  The pivot lies above the lowest point of the path, in the plane of
swing.  Free flight never bends upward, so that a circle about a point above is no flight; that the point is a place of
something static is asked as well, so that a violation of gravity does not pass for a string.
"""

from __future__ import annotations

import numpy as np

from pvbench_suite.perception.derived.gaps import Bodily
from pvbench_suite.perception.derived.scene import Floats
from pvbench_suite.perception.derived.surroundings import Surroundings

#: Longest stray from the circle (median, share of its radius), least swing [rad] and share of frames seen.
STRAY, SWING, SEEN = 0.03, 0.15, 0.5
#: Something static is at the pivot within this share of the string's length, and this share of the depth.
NEAR, DEPTH = 0.2, 0.05


def pivot(bodily: Bodily, n: int, around: Surroundings) -> Floats:
    """Return the point (3,) that body `n` hangs from, NaN where it does not hang."""
    none, known = np.full(3, np.nan), bodily.known(n)
    if known.sum() < max(8, SEEN * len(known)):
        return none
    x, down = bodily.centre[known, n], around.down
    # The picture knows the path across the ray, depth along it: a swing is sought first where it is known.
    middle = np.median(x, axis=0)
    side = (x - middle) - ((x - middle) @ down)[:, None] * down
    axis = np.linalg.svd(side, full_matrices=False)[2][0]
    a, y = side @ axis, (x - middle) @ down
    if np.ptp(a) < 0.5 * bodily.radius[n]:
        return none
    circle = _circle(a, y)
    if circle is None:
        return none
    a0, y0, length = circle
    angle = np.arctan2(a - a0, y - y0)
    off = float(np.median(np.abs(np.hypot(a - a0, y - y0) - length)))
    if y0 > y.min() or off > STRAY * length or float(np.ptp(np.percentile(angle, [2, 98]))) < SWING:
        return none
    place = middle + a0 * axis + y0 * down
    return place if _attached(bodily, place, length, around) else none


def _circle(a: Floats, y: Floats) -> tuple[float, float, float] | None:
    """Return the centre and radius of the circle nearest to points, or None for a line."""
    design = np.stack([a, y, np.ones_like(a)], axis=1)
    c, _, rank, _ = np.linalg.lstsq(design, a * a + y * y, rcond=None)
    square = c[2] + 0.25 * (c[0] ** 2 + c[1] ** 2)
    return (0.5 * c[0], 0.5 * c[1], float(np.sqrt(square))) if rank == 3 and square > 0 else None


def _attached(bodily: Bodily, place: Floats, length: float, around: Surroundings) -> bool:
    """Return whether something static is seen at the pivot."""
    eye = bodily.seen.Tcw[0, :3, 3]
    line = (place - eye) / np.linalg.norm(place - eye)
    way = around.points - place
    along = way @ line
    across = np.linalg.norm(way - along[:, None] * line, axis=1)
    here = (across < NEAR * length) & (np.abs(along) < DEPTH * np.linalg.norm(place - eye))
    return int(here.sum()) >= 3
