"""Sets of tracked points: rigid fits, distances of pairs, size (spec ``physics.md`` section 0).

Conventions
-----------
World axes, any scale.  Time is the first axis and NaN rows are missing points.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.physics.checks import LEAST_FRAMES, Bools, Floats
from pvbench_suite.physics.series import present_median

Indices = NDArray[np.intp]


def kabsch(a: Floats, b: Floats, weight: Floats | Bools | None = None) -> tuple[Floats, Floats]:
    """Return the rotation and shift that carry points onto others with least squared distance.

    Parameters
    ----------
    a, b : (..., n, 3) float
        The points and their targets; leading axes are independent problems.
    weight : (..., n) float or bool, optional
        Weight of each point, 0 where one is missing (its coordinates are then ignored).

    Returns
    -------
    R : (..., 3, 3) float
        Proper rotation: ``b`` is close to ``a @ R.T + t``.
    t : (..., 3) float
        Shift.
    """
    w = np.ones(a.shape[:-1]) if weight is None else np.asarray(weight, dtype=np.float64)
    w = (w / np.maximum(w.sum(axis=-1, keepdims=True), 1e-300))[..., None]
    a, b = np.where(w > 0, a, 0.0), np.where(w > 0, b, 0.0)
    mean_a, mean_b = (w * a).sum(axis=-2), (w * b).sum(axis=-2)
    cross = np.swapaxes(w * (a - mean_a[..., None, :]), -1, -2) @ (b - mean_b[..., None, :])
    u, _, vt = np.linalg.svd(cross)
    handed = np.ones(cross.shape[:-1])
    handed[..., 2] = np.where(np.linalg.det(u @ vt) < 0, -1.0, 1.0)
    rotation = np.swapaxes((u * handed[..., None, :]) @ vt, -1, -2)
    return rotation, mean_b - (rotation @ mean_a[..., None])[..., 0]


def _pair_medians(X: Floats, i: Indices, j: Indices) -> Floats:
    """Return the median over time of the distance of the points i and j of `X` (T, P, 3), over the frames with both."""
    points = np.ascontiguousarray(np.moveaxis(X, 0, 1))
    medians = np.empty(len(i))
    # Blocks of pairs keep the distances of a thousand points within a few tens of megabytes.
    block = max(1, 2_000_000 // X.shape[0])
    for k in range(0, len(i), block):
        difference = points[i[k : k + block]] - points[j[k : k + block]]
        medians[k : k + block] = present_median(np.sqrt(np.square(difference).sum(axis=-1)))
    return medians


def _median_bounds(X: Floats, i: Indices, j: Indices, together: Floats) -> tuple[Floats, Floats]:
    """Return what the median distance of each pair cannot be below and above, without looking at every frame.

    A rigid motion keeps distances, so each frame is moved onto the fullest one; a point then stays within e of one
    place in 4 of 5 of its frames.  Where both points of a pair do so in most of their common frames, the median of
    their distance is within the sum of both e of the distance of the two places.
    """
    seen = np.asarray(np.isfinite(X).all(axis=-1))
    reference = int(np.argmax(seen.sum(axis=1)))
    common = np.asarray(seen & seen[reference])
    rotation, shift = kabsch(X, np.broadcast_to(X[reference], X.shape), common)
    still = X @ np.swapaxes(rotation, -1, -2) + shift[:, None]
    place = present_median(still, axis=0)
    frames = seen.sum(axis=0)
    strays = np.floor(0.2 * frames).astype(np.intp)
    away = np.sort(np.where(seen, np.linalg.norm(still - place, axis=-1), np.inf), axis=0)
    # Rounding of the motion itself is far below this floor.
    reach = np.take_along_axis(away, np.maximum(frames - strays - 1, 0)[None], axis=0)[0]
    reach = reach + 1e-9 * np.nanmax(np.abs(still), initial=0.0)
    distance = np.linalg.norm(place[i] - place[j], axis=-1)
    slack = np.where(together - strays[i] - strays[j] > 0.5 * together, reach[i] + reach[j], np.inf)
    return distance - slack, distance + slack


def far_pairs(X: Floats, share: float, least: int = LEAST_FRAMES) -> tuple[Indices, Indices, float]:
    """Return the pairs of points at least `share` of the object's size apart, and that size.

    Parameters
    ----------
    X : (T, P, 3) float
        Tracked points in world units; a missing sample has a NaN.
    share : float
        Least median distance over time, as a share of the size.
    least : int
        The fewest frames in which both points of a pair are seen.

    Returns
    -------
    i, j : (M,) int
        Indices of each pair, i < j, in index order.
    size : float
        Size l: the largest median distance of a pair [world units].

    Raises
    ------
    Unmeasurable
        ``too_few_frames`` when no pair is seen together that often, ``zero_depth`` when all points coincide.
    """
    seen = np.asarray(np.isfinite(X).all(axis=-1), dtype=np.float64)
    together = seen.T @ seen
    i, j = np.nonzero(np.triu(together >= least, k=1))
    if i.size == 0:
        raise Unmeasurable("too_few_frames", f"no two points are seen together in {least} frames")
    low, high = _median_bounds(X, i, j, together[i, j])
    contenders = np.flatnonzero(high >= low.max())
    size = float(_pair_medians(X, i[contenders], j[contenders]).max())
    if not size > 0.0:
        raise Unmeasurable("zero_depth", "all points of the object coincide")
    far = low >= share * size
    unsure = np.flatnonzero(~far & (high >= share * size))
    far[unsure] = _pair_medians(X, i[unsure], j[unsure]) >= share * size
    return i[far], j[far], size


def object_size(X: Floats, least: int = LEAST_FRAMES) -> float:
    """Return l, the size of an object: the largest median distance of two of its points seen together.

    Parameters and errors are those of `far_pairs`.
    """
    return far_pairs(X, 1.0, least)[2]
