"""R19: how far two independent sources disagree on how the points of the scene move in 3D.

Conventions
-----------
World axes, each source in its own world and scale.  Displacements are taken over one second.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.checks import absent
from pvbench_suite.physics.points import kabsch
from pvbench_suite.physics.robust import depth_factor
from pvbench_suite.physics.series import (
    MAD,
    Bools,
    Floats,
    enough_frames,
    flags,
    given,
    of_shape,
    present_median,
    sd3,
    smooth,
    some_finite,
    time_statistic,
)

#: Least motion in a second, as a share of the distance to the camera.
_MOVES = 0.05
#: Least share of the points that move in a valid interval, of the intervals that are valid, and least of these.
_MOVERS, _VALID_SHARE, _VALID_LEAST = 0.30, 0.25, 7
#: Fewest static points that fix the similarity between the two worlds.
_STATIC = 3


def similarity(a: Floats, b: Floats) -> tuple[float, Floats, Floats]:
    """Return scale, rotation and shift that carry points onto others with least squared distance (Umeyama 1991).

    Parameters
    ----------
    a, b : (n, 3) float
        The points and their targets.

    Returns
    -------
    s : float
        Scale, >= 0.
    R : (3, 3) float
        Proper rotation: ``b`` is close to ``s * a @ R.T + t``.
    t : (3,) float
        Shift.
    """
    rotation, _ = kabsch(a, b)
    from_a, from_b = a - a.mean(axis=0), b - b.mean(axis=0)
    spread = float(np.square(from_a).sum())
    scale = max(0.0, float(np.sum((from_a @ rotation.T) * from_b)) / spread) if spread > 0 else 1.0
    return scale, rotation, b.mean(axis=0) - scale * (rotation @ a.mean(axis=0))


def align(a: Floats, b: Floats, static: Bools) -> Floats:
    """Return the points `a` (T, P, 3) carried into the world of `b` by a similarity fitted on the static points.

    Three fits; after each, the samples with residuals up to 3 times their median are kept for the next.  Without
    static samples `a` comes back unchanged.
    """
    source, target = a[:, static].reshape(-1, 3), b[:, static].reshape(-1, 3)
    finite = np.isfinite(source).all(axis=-1) & np.isfinite(target).all(axis=-1)
    source, target = source[finite], target[finite]
    if len(source) < _STATIC:
        return a
    keep = np.ones(len(source), dtype=bool)
    for _ in range(3):
        scale, rotation, shift = similarity(source[keep], target[keep])
        residual = np.linalg.norm(scale * source @ rotation.T + shift - target, axis=-1)
        keep = residual <= 3.0 * np.median(residual) + 1e-12
    return np.asarray(scale * a @ rotation.T + shift)


def motion_disagreement(
    Xa: ArrayLike | None,
    Xb: ArrayLike | None,
    static: ArrayLike | None = None,
    cam: ArrayLike | None = None,
    dt: float = 1 / 24,
) -> Measurement:
    """Return R19: the disagreement of two sources about the motion of the same points, relative to that motion.

    Parameters
    ----------
    Xa : (T, P, 3) float
        Points by the 3D tracker with its own depth.
    Xb : (T, P, 3) float
        The same points by depth, cameras and 2D tracks of other models.
    static : (P,) bool, optional
        Points off every moving object; with at least 3 of them the two worlds are aligned on them.
    cam : (T, 3) float, optional
        Camera centres in the world of `Xb` (None: the origin).
    dt : float
        Frame interval [s].

    Returns
    -------
    Measurement
        TS over one-second intervals of the ratio of sums |da - db| / mean(|da|, |db|), in [0, 2]; `n` is the
        number of valid intervals.  Evidence: ``intervals`` (NaN where not valid) and ``movers`` (share of points that
        move in each).

    Raises
    ------
    Unmeasurable
        no_object, bad_shape, too_few_frames (fewer than 8, or a second or less), all_nan, zero_depth, no_motion.

    References
    ----------
    Spec ``physics.md`` R19.
    """
    a, b = given(Xa, "Xa"), given(Xb, "Xb")
    of_shape(a, (None, None, 3), "Xa")
    of_shape(b, a.shape, "Xb")
    frames, points = a.shape[:2]
    still = np.zeros(points, dtype=bool) if static is None else flags(static, (points,), "static")
    centre = np.zeros((frames, 3)) if cam is None else of_shape(given(cam, "cam"), (frames, 3), "cam")
    if still.all():
        raise Unmeasurable("no_object", "every point is static")
    enough_frames(frames)
    step = math.floor(1.0 / dt + 0.5)
    enough_frames(frames, least=step + 1)
    some_finite(a, b)
    if not np.nanmax(np.abs(b)) > 0.0:
        raise Unmeasurable("zero_depth", "every point lies at the origin")
    if still.sum() >= _STATIC:
        a = align(a, b, still)
    a, b = a[:, ~still], b[:, ~still]
    # Third differences see the white part of a depth error only: without the factor its slow part moves a still clip.
    noise = depth_factor(dt) * np.maximum(np.linalg.norm(sd3(a), axis=-1), np.linalg.norm(sd3(b), axis=-1))
    a, b = smooth(a, dt), smooth(b, dt)
    distance = np.linalg.norm(b - centre[:, None], axis=-1)[:-step]
    da, db = a[step:] - a[:-step], b[step:] - b[:-step]
    series, movers, seen = _interval_values(da, db, _MOVES * distance, noise)
    valid = np.isfinite(series)
    needed = max(_VALID_LEAST, _VALID_SHARE * len(series))
    if valid.sum() < needed:
        _refuse(int(valid.sum()), needed, seen, noise, distance)
    return Measurement(
        value=time_statistic(series, dt),
        n=int(valid.sum()),
        spread=float(MAD * np.median(np.abs(series[valid] - np.median(series[valid])))),
        evidence={"intervals": series, "movers": movers},
        assumed=() if still.sum() >= _STATIC else ("same_world",),
    )


def _interval_values(da: Floats, db: Floats, least: Floats, noise: Floats) -> tuple[Floats, Floats, Floats]:
    """Return per interval the ratio (NaN where not valid), the share of points that move, and the points seen."""
    length_a, length_b = np.linalg.norm(da, axis=-1), np.linalg.norm(db, axis=-1)
    seen = np.isfinite(length_a) & np.isfinite(length_b) & np.isfinite(least)
    with np.errstate(invalid="ignore"):
        moves = seen & (np.maximum(length_a, length_b) > np.maximum(least, 4.0 * noise))
    count = seen.sum(axis=1).astype(np.float64)
    movers = moves.sum(axis=1) / np.maximum(count, 1.0)
    gap = np.where(moves, np.linalg.norm(da - db, axis=-1), 0.0).sum(axis=1)
    way = np.where(moves, 0.5 * (length_a + length_b), 0.0).sum(axis=1)
    valid = (movers >= _MOVERS - 1e-12) & (way > 0)
    return np.where(valid, gap / np.where(way > 0, way, 1.0), np.nan), movers, count


def _refuse(valid: int, needed: float, seen: Floats, noise: Floats, distance: Floats) -> None:
    """Raise ``no_motion``; it would have been seen only if enough intervals hold points and their noise is low."""
    gate = np.nan_to_num(_MOVES * present_median(distance, axis=0))
    error = absent("no_motion", f"points move in {valid} intervals, {needed:g} are needed")
    clear = 3.0 * noise < gate
    error.detectable = bool(clear.mean() >= _MOVERS and (seen > 0).sum() >= needed)
    raise error
