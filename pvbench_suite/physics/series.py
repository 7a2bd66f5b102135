"""Time series: the tools that the physical kernels share (spec ``physics.md`` section 0).

Conventions
-----------
Time is the first axis.  NaN and infinite samples are missing and nothing is imputed.  Windows are given in seconds and
`dt` is the time between frames [s].  Percentiles interpolate linearly between order statistics.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.physics.checks import (
    LEAST_FRAMES,
    Bools,
    Floats,
    enough_frames,
    flags,
    given,
    of_shape,
    some_finite,
    some_positive,
)

__all__ = [
    "LEAST_FRAMES",
    "MAD",
    "SMOOTH",
    "Bools",
    "Floats",
    "enough_frames",
    "flags",
    "gate_range",
    "given",
    "median_dt",
    "motion",
    "motion_error",
    "of_shape",
    "present_median",
    "running_median",
    "sd3",
    "se3",
    "smooth",
    "some_finite",
    "some_positive",
    "time_statistic",
    "trim",
    "trimmed_mean",
    "window",
]

#: Factor from the median absolute deviation to a standard deviation.
MAD = 1.4826
#: Length of the running median that precedes every time statistic and gate [s].
SMOOTH = 0.3
#: How long a level must be held to count in full [s].
_HELD = 0.5


def median_dt(t: ArrayLike) -> float:
    """Return the frame interval [s]: the median of the differences of the timestamps `t` (T,) [s].

    Raises
    ------
    Unmeasurable
        ``too_few_frames`` when no positive difference exists.
    """
    steps = np.diff(np.asarray(t, dtype=np.float64))
    steps = steps[np.isfinite(steps)]
    dt = float(np.median(steps)) if steps.size else 0.0
    if not dt > 0.0:
        raise Unmeasurable("too_few_frames", "the timestamps do not advance")
    return dt


def window(seconds: float, dt: float) -> int:
    """Return the odd number of frames, at least 3, nearest to `seconds` [s] at the frame interval `dt` [s].

    Examples
    --------
    >>> [window(0.3, 1 / fps) for fps in (8, 12, 24, 60)]
    [3, 3, 7, 19]
    """
    return max(3, 2 * math.floor((seconds / dt + 1e-6) / 2) + 1)


def present_median(x: Floats, axis: int = -1) -> Floats:
    """Return the median over the samples present along `axis`; NaN where there is none.

    It is `numpy.nanmedian` without its warnings and several times faster on short axes.
    """
    ordered = np.sort(np.moveaxis(x, axis, -1), axis=-1)
    if ordered.shape[-1] == 0:
        return np.full(ordered.shape[:-1], np.nan)
    count = np.sum(~np.isnan(ordered), axis=-1)
    low = np.maximum((count - 1) // 2, 0)[..., None]
    high = np.minimum(count // 2, ordered.shape[-1] - 1)[..., None]
    low_value = np.take_along_axis(ordered, low, axis=-1)[..., 0]
    high_value = np.take_along_axis(ordered, high, axis=-1)[..., 0]
    return np.asarray(np.where(count > 0, 0.5 * (low_value + high_value), np.nan))


def running_median(x: Floats, n: int) -> Floats:
    """Return the running median over `n` frames (odd) of `x` (T, ...), shortened at both ends.

    Only the samples present count, so the output is missing only where the window holds none.
    """
    x = np.asarray(x, dtype=np.float64)
    half = (n - 1) // 2
    blank = np.full((half, *x.shape[1:]), np.nan)
    padded = np.concatenate([blank, np.where(np.isfinite(x), x, np.nan), blank])
    return present_median(np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1, axis=0))


def smooth(x: Floats, dt: float) -> Floats:
    """Return the 0.3 s running median of `x` (T, ...)."""
    return running_median(x, window(SMOOTH, dt))


def time_statistic(x: Floats, dt: float) -> float:
    """Return TS = max(T90, H) of a series `x` (T,) that has been smoothed already.

    T90 is the 90th percentile over the valid frames.  H is the highest level that is held without a break for 0.5 s:
    the largest, over all runs of that many frames with no sample missing, of the least value in the run.

    Raises
    ------
    Unmeasurable
        ``all_nan`` when no frame is valid.

    Examples
    --------
    >>> burst = np.zeros(240)
    >>> burst[100:112] = 1.0
    >>> time_statistic(burst, 1 / 24), time_statistic(burst[:-129], 1 / 24)
    (1.0, 0.0)
    """
    x = np.asarray(x, dtype=np.float64)
    valid = x[np.isfinite(x)]
    if valid.size == 0:
        raise Unmeasurable("all_nan", "no frame of the series has a value")
    statistic = float(np.percentile(valid, 90))
    run = max(1, math.ceil(_HELD / dt - 1e-6))
    if x.shape[0] >= run:
        lowest = np.lib.stride_tricks.sliding_window_view(x, run).min(axis=-1)
        lowest = lowest[np.isfinite(lowest)]
        if lowest.size:
            statistic = max(statistic, float(lowest.max()))
    return statistic


def sd3(x: Floats) -> Floats:
    """Return the standard deviation of the white noise of `x` (T, ...), per component, from third differences.

    It is 1.4826 median |x[k+3] - 3 x[k+2] + 3 x[k+1] - x[k]| / sqrt 20 over the quadruples without a missing
    sample, and 0 where there are fewer than 5 of them.  Any quadratic vanishes.
    """
    x = np.asarray(x, dtype=np.float64)
    if x.shape[0] < 4:
        return np.zeros(x.shape[1:])
    third = np.abs(np.diff(np.where(np.isfinite(x), x, np.nan), n=3, axis=0))
    enough = np.sum(~np.isnan(third), axis=0) >= 5
    return np.asarray(np.where(enough, MAD * present_median(third, axis=0) / math.sqrt(20.0), 0.0))


def se3(x: Floats) -> float:
    """Return the standard error of a slow series `x` (T,) or (T, d) read in the image: the norm of `sd3`.

    For what uses depth the caller takes `depth_factor` times this: `sd3` does not see correlated noise.
    """
    return float(np.linalg.norm(sd3(x)))


def gate_range(x: Floats, dt: float) -> float:
    """Return G: the norm over components of the 5-95 % range of the 0.3 s medians of `x` (T,) or (T, d)."""
    medians = smooth(np.asarray(x, dtype=np.float64), dt).reshape(len(x), -1)
    medians = medians[:, np.isfinite(medians).any(axis=0)]
    if medians.size == 0:
        return 0.0
    low, high = np.nanpercentile(medians, [5.0, 95.0], axis=0)
    return float(np.linalg.norm(high - low))


def motion(tracks: Sequence[Floats], hw: tuple[float, float], dt: float) -> float:
    """Return the largest image motion in percent of the frame diagonal.

    Parameters
    ----------
    tracks : sequence of (T, 2) float
        One track per object, and one of the static background [px].
    hw : (H, W)
        Size of the frame [px].
    dt : float
        Frame interval [s].

    Returns
    -------
    float
        100 G / hypot(H, W) of the track that moves most; a track counts 0 unless G > 4 SE and 8 frames are valid.
    """
    largest = 0.0
    for track in tracks:
        track = np.asarray(track, dtype=np.float64)
        if track.ndim != 2 or np.isfinite(track).all(axis=-1).sum() < LEAST_FRAMES:
            continue
        moved = gate_range(track, dt)
        if moved > 4.0 * se3(track):
            largest = max(largest, 100.0 * moved / math.hypot(*hw))
    return largest


def motion_error(tracks: Sequence[Floats], hw: tuple[float, float]) -> float:
    """Return the largest standard error of the image motion of the `tracks` of `motion`, in percent of the diagonal.

    It tells whether a still clip is known to be still; infinite when no track has 8 valid frames.
    """
    errors = [
        100.0 * se3(track) / math.hypot(*hw)
        for track in (np.asarray(t, dtype=np.float64) for t in tracks)
        if track.ndim == 2 and np.isfinite(track).all(axis=-1).sum() >= LEAST_FRAMES
    ]
    return max(errors, default=math.inf)


def trim(x: ArrayLike, share: float = 0.1) -> Floats:
    """Return the smallest part of `x` (n,) in ascending order, without the largest `share`; at least one value.

    Examples
    --------
    >>> trim([3.0, 1.0, 2.0]).tolist()
    [1.0, 2.0]
    """
    ordered = np.sort(np.asarray(x, dtype=np.float64).ravel())
    return ordered[: max(1, math.floor((1.0 - share) * ordered.size + 1e-9))]


def trimmed_mean(x: Floats, share: float = 0.1) -> Floats:
    """Return the mean of each row of `x` (T, M) after `trim` over the samples present; NaN for an empty row."""
    ordered = np.sort(x, axis=-1)
    count = np.sum(~np.isnan(ordered), axis=-1)
    keep = np.maximum(1, np.floor((1.0 - share) * count + 1e-9)).astype(int)
    kept = np.where(np.arange(x.shape[-1]) < keep[..., None], ordered, 0.0)
    return np.asarray(np.where(count > 0, kept.sum(axis=-1) / keep, np.nan))
