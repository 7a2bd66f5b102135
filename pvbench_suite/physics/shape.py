"""R03: how well a rigid object keeps its 3D shape while its pose changes.

Conventions
-----------
World axes of the first camera, any scale.  Points are the same surface points in every frame; NaN rows are missing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.body import Body, body, pose_gate
from pvbench_suite.physics.points import kabsch, object_size
from pvbench_suite.physics.series import (
    MAD,
    Bools,
    Floats,
    enough_frames,
    smooth,
    time_statistic,
    trimmed_mean,
)

#: Fewest common points for a frame value.
_SHAPE_POINTS = 8


def aligned_points(item: Body, dt: float) -> tuple[Floats, Bools]:
    """Return the points of every frame moved onto the reference frame, and which frames could be.

    The fit (rotation and shift, no scale) is repeated once without the worst 10 % of the points, and the aligned points
    are median-filtered over 0.3 s, which halves the noise floor.

    Returns
    -------
    aligned : (T, P, 3) float
        NaN where missing.
    fitted : (T,) bool
        Frames that share at least 8 points with the reference.
    """
    at = item.X[item.reference]
    common = np.asarray(item.seen & item.seen[item.reference])
    count = np.asarray(common.sum(axis=1))
    fitted = np.asarray(count >= _SHAPE_POINTS, dtype=np.bool_)
    target = np.broadcast_to(at, item.X.shape)

    def moved(weight: Bools) -> Floats:
        rotation, shift = kabsch(item.X, target, weight)
        return np.asarray(item.X @ np.swapaxes(rotation, -1, -2) + shift[:, None])

    residual = np.where(common, np.linalg.norm(moved(common) - target, axis=-1), np.inf)
    rank = np.argsort(np.argsort(residual, axis=1, kind="stable"), axis=1, kind="stable")
    aligned = moved(common & (rank < np.floor(0.9 * count + 1e-9)[:, None]))
    kept = np.asarray(common & fitted[:, None])
    return smooth(np.where(kept[..., None], aligned, np.nan), dt), fitted


def _chamfer(aligned: Floats, reference: Floats) -> tuple[Floats, Floats]:
    """Return per frame the trimmed mean nearest-neighbour distance in both directions, and that of matched points.

    `aligned` (T, P, 3) and `reference` (P, 3) carry NaN rows where a point is missing.
    """
    present = np.asarray(np.isfinite(aligned + reference).all(axis=-1))
    n, points = present.shape
    nearest = np.full((n, 2 * points), np.nan)
    tree, known = cKDTree(np.zeros((1, 3))), np.zeros(points, dtype=np.bool_)
    for t in range(n):
        here = present[t]
        if not here.any():
            continue
        if not np.array_equal(here, known):
            tree, known = cKDTree(reference[here]), here
        nearest[t, :points][here] = tree.query(aligned[t, here])[0]
        nearest[t, points:][here] = cKDTree(aligned[t, here]).query(reference[here])[0]
    matched = np.where(present, np.linalg.norm(aligned - reference, axis=-1), np.nan)
    return trimmed_mean(nearest), trimmed_mean(matched)


def shape_change(
    X: ArrayLike, vis: ArrayLike | None = None, cam: ArrayLike | None = None, dt: float = 1 / 24
) -> Measurement:
    """Return R03: how far an object's surface strays from its own shape, as a share of its size.

    Parameters
    ----------
    X : (T, P, 3) float
        Tracked surface points of one rigid object in the world, any unit.
    vis : (T, P) bool, optional
        Where the tracker saw them.
    cam : (T, 3) float, optional
        Camera centres (None: the origin).
    dt : float
        Frame interval [s].

    Returns
    -------
    Measurement
        TS over frames of the trimmed chamfer distance to the reference frame over l, >= 0.  Evidence: ``chamfer``
        and ``matched`` (per frame, over l), ``reference``, ``size``, and the pose changes of `pose_gate`.

    Raises
    ------
    Unmeasurable
        no_object, bad_shape, too_few_frames, all_nan, zero_depth, too_small (fewer than 8 points in the reference),
        no_pose_change.

    References
    ----------
    Spec ``physics.md`` R03.
    """
    item = body(X, vis, cam)
    points = int(item.seen[item.reference].sum())
    if points < _SHAPE_POINTS:
        raise Unmeasurable("too_small", f"{points} points in the fullest frame, at least {_SHAPE_POINTS} are needed")
    size = object_size(item.X)
    aligned, fitted = aligned_points(item, dt)
    fitted[item.reference] = False
    enough_frames(int(fitted.sum()), least=7, what="frames that share 8 points with the reference")
    pose = pose_gate(item, size, dt)
    nearest, matched = _chamfer(aligned, item.X[item.reference])
    series = np.where(fitted, nearest / size, np.nan)
    kept = series[np.isfinite(series)]
    return Measurement(
        value=time_statistic(series, dt),
        n=int(kept.size),
        spread=float(MAD * np.median(np.abs(kept - np.median(kept)))),
        evidence={
            "chamfer": series,
            "matched": np.where(fitted, matched / size, np.nan),
            "reference": item.reference,
            "size": size,
            **pose,
        },
        assumed=("rigid",),
    )
