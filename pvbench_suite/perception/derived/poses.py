"""Orientation and displacement of a rigid object from its tracked 3D points.

Conventions
-----------
World points (T, P, 3), NaN where a point is not visible.  A pose (R, p) maps the object's own points to the world,
x = R q + p; the object's frame has the world's axes at the first frame with a pose, and its origin among the points.
"""

from __future__ import annotations

import numpy as np

from pvbench_suite.perception.derived.scene import Floats
from pvbench_suite.physics.points import kabsch

#: Fewest common points of a pose, and least spread of theirs across their longest direction.
POINTS, SPREAD = 5, 0.12
#: Points this far from where a pose puts them [shares of the object's extent] do not take part in its second fit.
STRAY = 0.1


def _flat(q: Floats) -> bool:
    """Return whether points lie so nearly on a line that a turn about it is not known."""
    spread = np.linalg.svd(q - q.mean(axis=0), compute_uv=False)
    return bool(spread[1] < SPREAD * spread[0])


def poses(x: Floats) -> tuple[Floats, Floats, Floats] | None:
    """Return R (T, 3, 3), p (T, 3), and the object's points (P, 3); NaN where there is none, None without any pose.

    The object's points are gathered outward from the frame that sees most: each frame is fitted to the points known so
    far, and then adds those that it sees for the first time, so that an object may turn all the way round.
    """
    T, P = x.shape[:2]
    seen = np.asarray(np.isfinite(x).all(axis=-1))
    R, p, own = np.full((T, 3, 3), np.nan), np.full((T, 3), np.nan), np.full((P, 3), np.nan)
    if P == 0 or seen.sum(axis=1).max(initial=0) < POINTS:
        return None
    start = int(seen.sum(axis=1).argmax())
    middle = x[start, seen[start]].mean(axis=0)
    R[start], p[start] = np.eye(3), middle
    own[seen[start]] = x[start, seen[start]] - middle
    for t in [*range(start + 1, T), *range(start - 1, -1, -1)]:
        fit = _fit(own, x[t], seen[t])
        if fit is None:
            continue
        R[t], p[t] = fit
        new = seen[t] & ~np.isfinite(own).all(axis=1)
        own[new] = (x[t, new] - p[t]) @ R[t]
    first = int(np.flatnonzero(np.isfinite(p[:, 0]))[0])
    gauge = R[first].copy()
    return R @ gauge.T, p, own @ gauge.T


def _fit(own: Floats, x: Floats, seen: np.ndarray) -> tuple[Floats, Floats] | None:
    """Return the pose that brings the object's points `own` to those seen in a frame, or None."""
    common = seen & np.isfinite(own).all(axis=1)
    if common.sum() < POINTS or _flat(own[common]):
        return None
    q, y = own[common], x[common]
    R, p = kabsch(q, y)
    off = np.linalg.norm(q @ R.T + p - y, axis=1)
    kept = off <= max(STRAY * float(np.ptp(q, axis=0).max()), float(np.median(off)))
    return kabsch(q[kept], y[kept]) if kept.sum() >= POINTS and not _flat(q[kept]) else (R, p)
