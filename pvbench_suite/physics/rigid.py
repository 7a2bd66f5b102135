"""R18: how much the distances between points of a rigid object change.

Conventions
-----------
World axes of the first camera, any scale.  Strains are natural logarithms of length ratios.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.body import Body, body, pose_gate
from pvbench_suite.physics.points import Indices, far_pairs
from pvbench_suite.physics.series import (
    MAD,
    Floats,
    enough_frames,
    given,
    of_shape,
    present_median,
    smooth,
    some_finite,
    some_positive,
    time_statistic,
    trimmed_mean,
)

#: Pairs closer than this share of the object's size are left out; at most this many are used.
_FAR, _MOST_PAIRS = 0.25, 300
#: Fewest points of an object, and fewest pairs for a frame value.
_LEAST_POINTS, _LEAST_PAIRS = 6, 3


def choose_pairs(X: Floats) -> tuple[Indices, Indices, float]:
    """Return the pairs of points to watch and the size of the object.

    Parameters
    ----------
    X : (T, P, 3) float
        Tracked points; NaN rows are missing.

    Returns
    -------
    i, j : (M,) int
        At most 300 pairs at least a quarter of the size apart, evenly spread over index order.
    size : float
        Size l: the largest median distance.

    Raises
    ------
    Unmeasurable
        ``too_few_frames`` when no pair is seen together in 8 frames, ``zero_depth`` when all points coincide.
    """
    i, j, size = far_pairs(X, _FAR)
    if i.size > _MOST_PAIRS:
        kept = np.arange(_MOST_PAIRS) * i.size // _MOST_PAIRS
        i, j = i[kept], j[kept]
    return i, j, size


def pair_strains(item: Body, i: Indices, j: Indices, background: Floats | None, dt: float) -> Floats:
    """Return the log strain (T, M) of each pair about its median, less that of the static background.

    `background` (T,) is the size of the static background; it removes a scale of the reconstruction that drifts.
    """
    with np.errstate(divide="ignore"):
        length = np.log(np.linalg.norm(item.X[:, i] - item.X[:, j], axis=-1))
    length = smooth(length, dt)
    strain = length - present_median(length, axis=0)
    if background is None:
        return np.asarray(strain)
    with np.errstate(invalid="ignore", divide="ignore"):
        gauge = np.log(np.where(background > 0, background, np.nan))
    return np.asarray(strain - (gauge - np.nanmedian(gauge))[:, None])


def rigidity(
    X: ArrayLike | None,
    vis: ArrayLike | None = None,
    background: ArrayLike | None = None,
    cam: ArrayLike | None = None,
    dt: float = 1 / 24,
) -> Measurement:
    """Return R18: how much the distances between an object's points change.

    Parameters
    ----------
    X : (T, P, 3) float
        Tracked surface points of one rigid object in the world, any unit.
    vis : (T, P) bool, optional
        Where the tracker saw them.
    background : (T,) float, optional
        Size of the static background in the reconstruction, any unit.
    cam : (T, 3) float, optional
        Camera centres (None: the origin).
    dt : float
        Frame interval [s].

    Returns
    -------
    Measurement
        TS over frames of the trimmed mean of the absolute log strain, >= 0; `n` is the number of pairs.  Evidence:
        ``strain`` (T,), ``shape_only`` (common growth removed), ``scale_only`` (common growth alone), ``worst_point``
        (sees one torn point that the trim removes) and its index, and the pose changes.

    Raises
    ------
    Unmeasurable
        no_object, bad_shape, too_few_frames, all_nan, zero_depth, too_small (fewer than 6 points), no_motion.

    References
    ----------
    Spec ``physics.md`` R18.
    """
    item = body(X, vis, cam)
    gauge = None if background is None else of_shape(given(background, "background"), (len(item.X),), "background")
    if gauge is not None:
        some_finite(gauge)
        some_positive(gauge)
    points = int(item.seen.sum(axis=1).max())
    if points < _LEAST_POINTS:
        raise Unmeasurable("too_small", f"{points} points in the fullest frame, at least {_LEAST_POINTS} are needed")
    i, j, size = choose_pairs(item.X)
    strain = pair_strains(item, i, j, gauge, dt)
    enough = np.sum(~np.isnan(strain), axis=1) >= _LEAST_PAIRS
    enough_frames(int(enough.sum()), what=f"frames with {_LEAST_PAIRS} pairs")
    pose = pose_gate(item, size, dt, reason="no_motion")
    strain = np.where(enough[:, None], strain, np.nan)
    common = present_median(strain, axis=1)
    series = trimmed_mean(np.abs(strain))
    kept = series[np.isfinite(series)]
    torn, torn_point = _worst_point(np.abs(strain), i, j, dt)
    return Measurement(
        value=time_statistic(series, dt),
        n=len(i),
        spread=float(MAD * np.median(np.abs(kept - np.median(kept)))),
        evidence={
            "strain": series,
            "shape_only": time_statistic(trimmed_mean(np.abs(strain - common[:, None])), dt),
            "scale_only": time_statistic(np.abs(common), dt),
            "worst_point": torn,
            "worst_point_index": torn_point,
            "size": size,
            **pose,
        },
        assumed=("rigid",),
    )


def _worst_point(strain: Floats, i: Indices, j: Indices, dt: float) -> tuple[float, int]:
    """Return the largest TS over points of the median strain (T, M) over the point's pairs, and which point it is."""
    best, index = 0.0, -1
    for point in np.union1d(i, j):
        series = present_median(strain[:, (i == point) | (j == point)])
        if np.isfinite(series).any():
            value = time_statistic(series, dt)
            if index < 0 or value > best:
                best, index = value, int(point)
    return best, index
