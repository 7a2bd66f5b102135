"""Noise of a point track, its spikes, and the repair of its depth (spec ``physics.md`` section 0).

Conventions
-----------
Positions are (T, 3) in one world frame and unit; `rays` are (T, 3) directions from the camera centre to the point, of
any length.  Noise has one standard deviation across the ray and another along it, because depth is the weak part of
every reconstruction.  Without rays the world axes stand in, z for the ray.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.physics.checks import Bools, Floats, given, of_shape
from pvbench_suite.physics.series import MAD, present_median, running_median

#: Medians of the norm of two and of three independent unit normals, by which a median norm becomes an sd.
MEDIAN_2, MEDIAN_3 = 1.1774, 1.5382
#: Slack in comparisons of times, in frames: container timestamps are rounded.
SLACK = 1e-3
#: Depth errors forget themselves within this time [s]; their standard error counts this many white ones at this rate.
_CORRELATED, _DEPTH_FACTOR, _AT_DT = 0.5, 4.0, 1 / 24
#: How far regularised depth looks to either side [s], and the fewest samples of a line.
_REACH, _LEAST = 0.5, 4


class Noise(NamedTuple):
    """Standard deviations of a track's white noise, in its own unit: per axis across the ray, and along it."""

    across: float
    along: float


def timestamps(t: ArrayLike | None, n: int) -> Floats:
    """Return the container timestamps `t` (n,) [s] after a check that they advance.

    Raises
    ------
    Unmeasurable
        ``no_object`` when there are none, ``bad_shape`` when they are not `n` or do not advance.
    """
    times = of_shape(given(t, "t"), (n,), "t")
    if np.any(np.diff(times[np.isfinite(times)]) <= 0):
        raise Unmeasurable("bad_shape", "the timestamps do not advance")
    return times


def unit(x: Floats) -> Floats:
    """Return `x` (..., 3) scaled to length 1; a vector of length 0 becomes NaN."""
    length = np.linalg.norm(x, axis=-1, keepdims=True)
    return np.asarray(x / np.where(length > 0, length, np.nan))


def ray_basis(rays: Floats | None) -> Floats:
    """Return the axes (3, 3), one a row: two across the mean ray of `rays` (T, 3) and the ray itself."""
    r = np.array([np.nan] * 3) if rays is None else unit(present_mean(unit(rays)))
    if not np.isfinite(r).all():
        return np.eye(3)
    e1 = unit(np.cross(r, [0.0, 1.0, 0.0] if abs(r[1]) < 0.9 else [1.0, 0.0, 0.0]))
    return np.stack([e1, np.cross(r, e1), r])


def present_mean(x: Floats) -> Floats:
    """Return the mean over the rows of `x` (T, d) without a missing component; NaN where there is none."""
    rows = x[np.isfinite(x).all(axis=-1)]
    return np.asarray(rows.mean(axis=0) if len(rows) else np.full(x.shape[-1], np.nan))


def third_differences(
    t: Floats, x: Floats, dt: float, track: NDArray[np.intp] | None = None
) -> tuple[Floats, NDArray[np.intp]]:
    """Return the third divided differences of `x` (n, d) over every four consecutive samples, and where they start.

    Parameters
    ----------
    t : (n,) float
        Times of the samples present [s], rising within a track.
    x : (n, d) float
        The samples.
    dt : float
        Frame interval [s]; four samples that span more than 6 of them are left out.
    track : (n,) int, optional
        Number of the track of each sample, in blocks; four samples of different tracks are left out.

    Returns
    -------
    differences : (m, d) float
        Weights ``prod 1/(t_i - t_j)`` scaled to unit norm: white noise keeps its standard deviation.
    start : (m,) int
        Index of the first of the four samples.
    """
    if len(t) < 4:
        return np.empty((0, x.shape[1])), np.empty(0, dtype=np.intp)
    four = np.lib.stride_tricks.sliding_window_view(t, 4)
    close = four[:, 3] - four[:, 0] <= (6.0 + SLACK) * dt
    if track is not None:
        close &= track[3:] == track[:-3]
    start = np.nonzero(close)[0]
    four = four[start] / dt
    gaps = four[:, :, None] - four[:, None, :] + np.eye(4)
    weights = 1.0 / np.prod(gaps, axis=-1)
    weights /= np.linalg.norm(weights, axis=-1, keepdims=True)
    samples = x[start[:, None] + np.arange(4)]
    return np.einsum("mk,mkd->md", weights, samples), start


def depth_factor(dt: float) -> float:
    """Return how many times its white part an error of depth counts at a frame interval `dt` [s]: 4 at 24 fps.

    Third differences see the less of an error that is correlated over half a second the faster the frames come: 0.38 of
    it at 8 fps, 0.22 at 24, 0.14 at 60.  With one factor for all rates the same error would be taken for a smaller one
    at 60 fps, and noise for a fault.

    Examples
    --------
    >>> [round(depth_factor(1 / fps), 2) for fps in (8, 12, 24, 30, 60)]
    [2.32, 2.83, 4.0, 4.47, 6.32]
    """
    return _DEPTH_FACTOR * _seen(_AT_DT) / _seen(dt)


def _seen(dt: float) -> float:
    """Return the share of a first-order autoregressive error that third differences see."""
    keep = math.exp(-dt / _CORRELATED)
    return math.sqrt((20.0 - 30.0 * keep + 12.0 * keep**2 - 2.0 * keep**3) / 20.0)


def track_noise(
    t: Floats, x: Floats, dt: float, rays: Floats | None, floor: float, track: NDArray[np.intp] | None = None
) -> Noise:
    """Return the white noise of the samples present `x` (n, 3) at times `t` (n,) [s], at least `floor`.

    With rays the part along them counts `depth_factor` times, because depth errors are correlated over about half a
    second and third differences see only their white part, and at least 10 times the part across.

    Raises
    ------
    Unmeasurable
        ``too_few_frames`` when no four samples lie within 6 frame intervals.
    """
    third, start = third_differences(t, x, dt, track)
    if len(third) == 0:
        raise Unmeasurable("too_few_frames", "no four frames within six intervals: the noise is unknown")
    if rays is None:
        sd = max(float(np.median(np.linalg.norm(third, axis=-1))) / MEDIAN_3, floor)
        return Noise(sd, sd)
    directions = unit(rays)
    r = unit(directions[start + 1] + directions[start + 2])
    along = np.sum(third * r, axis=-1)
    across = float(np.median(np.linalg.norm(third - along[:, None] * r, axis=-1))) / MEDIAN_2
    across = max(across, floor)
    return Noise(across, max(depth_factor(dt) * MAD * float(np.median(np.abs(along))), 10.0 * across))


def covariances(noise: Noise, rays: Floats | None, n: int) -> tuple[Floats, Floats]:
    """Return the covariance (n, 3, 3) of each of `n` samples, and the whitener that scales it to the identity."""
    r = np.broadcast_to([0.0, 0.0, 1.0], (n, 3)) if rays is None else unit(rays)
    along = r[:, :, None] * r[:, None, :]
    across = np.eye(3) - along
    covariance = noise.across**2 * across + noise.along**2 * along
    return covariance, across / noise.across + along / noise.along


def spikes(x: Floats, rays: Floats | None, diameter: float) -> Bools:
    """Return the frames (T,) of a track `x` (T, 3) that leave its 5-frame median for one or two frames."""
    y = x @ ray_basis(rays).T
    there = np.isfinite(y).all(axis=-1)
    if there.sum() < 2:
        return np.zeros(len(x), dtype=np.bool_)
    d = np.abs(y - running_median(y, 5))
    steps = np.abs(np.diff(y[there], axis=0))
    limit = 4.0 * MAD * np.median(d[there], axis=0) + 2.0 * np.median(steps, axis=0) + 1e-6 * diameter
    return np.asarray((d > limit).any(axis=-1))


def regularise_depth(t: Floats, x: Floats, contacts: ArrayLike = (), cameras: Floats | None = None) -> Floats:
    r"""Return a track with its bearings kept and each depth replaced by a line fitted to its neighbours.

    Three rounds of least squares over the valid depths within half a second, on the frame's own side of every
    contact, with weights ``min(1, 1.5 s/|e|)``, ``s = 1.4826 median |e|``; fewer than 4 depths: their median.

    Parameters
    ----------
    t : (T,) float
        Timestamps [s].
    x : (T, 3) float
        Positions in the world; NaN rows are missing and stay so.
    contacts : (C,) float
        Times of impacts [s].
    cameras : (T, 4, 4) float, optional
        Camera to world; None: the world is the camera, which does not move.

    Returns
    -------
    (T, 3) float
        Positions in the world.  Never use them where falls are measured: the line bends a true fall.
    """
    local = x if cameras is None else np.einsum("tji,tj->ti", cameras[:, :3, :3], x - cameras[:, :3, 3])
    z = np.where(np.isfinite(local).all(axis=-1) & np.isfinite(t) & (local[:, 2] > 0), local[:, 2], np.nan)
    side = np.searchsorted(np.sort(np.asarray(contacts, dtype=np.float64).ravel()), t)
    s = t[None, :] - t[:, None]
    near = (np.abs(s) <= _REACH + 1e-6) & (side[None, :] == side[:, None]) & np.isfinite(z)[None, :]
    depth = _line_at_zero(np.where(near, s, 0.0), np.where(near, z[None, :], np.nan), near)
    depth = np.where(near.sum(axis=1) < _LEAST, present_median(np.where(near, z[None, :], np.nan)), depth)
    local = local * (depth / z)[:, None]
    if cameras is None:
        return np.asarray(local)
    return np.asarray(np.einsum("tij,tj->ti", cameras[:, :3, :3], local) + cameras[:, :3, 3])


def _line_at_zero(s: Floats, z: Floats, near: Bools) -> Floats:
    """Return, per row, the value at s = 0 of the line fitted to the samples `near` of `z` by three robust rounds."""
    w = near.astype(np.float64)
    filled = np.where(near, z, 0.0)
    value = np.full(len(z), np.nan)
    for _ in range(3):
        n, s1, s2 = w.sum(axis=1), (w * s).sum(axis=1), (w * s * s).sum(axis=1)
        z1, sz = (w * filled).sum(axis=1), (w * s * filled).sum(axis=1)
        spread = n * s2 - s1 * s1
        spread = np.where(spread > 0, spread, np.nan)
        value, slope = (s2 * z1 - s1 * sz) / spread, (n * sz - s1 * z1) / spread
        e = np.abs(z - value[:, None] - slope[:, None] * s)
        # The floor keeps exact data exact: all their residuals are rounding and keep weight 1.
        scale = MAD * present_median(e) + 1e-12 * np.abs(value)
        w = np.where(near & np.isfinite(e), np.minimum(1.0, 1.5 * scale[:, None] / np.maximum(e, 1e-300)), 0.0)
    return value
