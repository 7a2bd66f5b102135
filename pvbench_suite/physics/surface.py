"""R02: how well the normals that one network sees follow from the depth that another sees.

Conventions
-----------
Camera axes: x right, y down, z forward; normals face the camera.  Pixel centres are integers.  Depth is along the
optical axis, in any unit.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.ndimage import correlate1d, minimum_filter

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.series import (
    MAD,
    Bools,
    Floats,
    enough_frames,
    flags,
    given,
    of_shape,
    some_finite,
    some_positive,
)

#: Side of the fitted window as a share of the image width, and its least side [px].
_WINDOW_SHARE, _WINDOW_LEAST = 0.025, 5
#: Largest rms residual of the plane fit, as a share of the window's mean inverse depth.
_RESIDUAL = 0.05
#: A frame with fewer used pixels is left out.
_LEAST_PIXELS = 300


def window_side(width: int) -> int:
    """Return the side [px] of the fitted window: the odd number nearest 2.5 % of `width` [px], at least 5.

    Examples
    --------
    >>> [window_side(w) for w in (128, 240, 320, 640)]
    [5, 7, 9, 17]
    """
    return max(_WINDOW_LEAST, 2 * math.floor(_WINDOW_SHARE * width / 2 + 1e-9) + 1)


def normals_from_depth(depth: Floats, K: Floats) -> tuple[Floats, Bools]:
    r"""Return the unit normals that one depth map implies, and where they can be trusted.

    Inverse depth is linear in the pixel on a plane, :math:`1/Z = a u + b v + c`, so its least-squares fit over a window
    gives the normal :math:`-K^T (a, b, c)` up to length, exactly on planes.

    Parameters
    ----------
    depth : (H, W) float
        Depth along the optical axis, any unit; NaN, infinite and non-positive values are missing.
    K : (3, 3) float
        Intrinsics [px] at this resolution.

    Returns
    -------
    normals : (H, W, 3) float
        Unit normals in camera axes, facing the camera.
    trusted : (H, W) bool
        The whole window lies in the image, has depth everywhere and fits a plane within 5 %.
    """
    height, width = depth.shape
    side = window_side(width)
    half = side // 2
    has_depth = np.isfinite(depth) & (depth > 0)
    inverse = np.where(has_depth, 1.0 / np.where(has_depth, depth, 1.0), 0.0)
    # Centred offsets make the three unknowns orthogonal, so each is one separable correlation.
    offset = np.arange(-half, half + 1, dtype=np.float64)
    flat = np.ones(side)
    spread = side * np.square(offset).sum()
    rows = correlate1d(inverse, flat, axis=0, mode="constant")
    mean = correlate1d(rows, flat, axis=1, mode="constant") / side**2
    a = correlate1d(rows, offset, axis=1, mode="constant") / spread
    b = correlate1d(correlate1d(inverse, offset, axis=0, mode="constant"), flat, axis=1, mode="constant") / spread
    square = correlate1d(correlate1d(inverse**2, flat, axis=0, mode="constant"), flat, axis=1, mode="constant")
    rms = np.sqrt(np.maximum(0.0, square / side**2 - mean**2 - (a**2 + b**2) * spread / side**2))
    trusted = minimum_filter(has_depth, size=side, mode="constant", cval=False) & (rms < _RESIDUAL * mean)
    c = mean - a * np.arange(width) - b * np.arange(height)[:, None]
    normals = -np.stack([a, b, c], axis=-1) @ K
    length = np.linalg.norm(normals, axis=-1, keepdims=True)
    return normals / np.where(length > 0, length, 1.0), np.asarray(trusted & (length[..., 0] > 0))


def angle_between(a: Floats, b: Floats) -> Floats:
    """Return the angle [rad, 0 to pi] between vectors `a` and `b` (..., 3) of any length; NaN for a zero vector."""
    with np.errstate(invalid="ignore", divide="ignore"):
        a = a / np.linalg.norm(a, axis=-1, keepdims=True)
        b = b / np.linalg.norm(b, axis=-1, keepdims=True)
    # Kahan's form keeps its precision near 0 and pi, where the arc cosine loses half of the digits.
    return np.asarray(2.0 * np.arctan2(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1)))


def normal_error(depth: ArrayLike, normals: ArrayLike, K: ArrayLike, mask: ArrayLike | None = None) -> Measurement:
    """Return R02: the mean angle between predicted normals and those that the depth implies.

    Parameters
    ----------
    depth : (T, H, W) float
        Depth along the optical axis, metric up to one factor.
    normals : (T, H, W, 3) float
        Predicted normals in camera axes, any length.
    K : (3, 3) float
        Intrinsics [px].
    mask : (T, H, W) bool, optional
        The pixels to use.

    Returns
    -------
    Measurement
        Mean over frames of the mean angle in the frame [deg, 0 to 180]; `n` is the number of frames.  Evidence:
        ``frames`` (each frame's value), ``worst_frame``, ``angle_map`` of it, ``t90``, and the shares of pixels below
        11.25, 22.5 and 30 deg.

    Raises
    ------
    Unmeasurable
        no_object, bad_shape, too_few_frames (fewer than 8 frames with 300 used pixels), all_nan, zero_depth.

    References
    ----------
    PVBench, appendix D, dimension R02; spec ``physics.md`` R02.
    """
    z, predicted, k = given(depth, "depth"), given(normals, "normals"), given(K, "K")
    of_shape(z, (None, None, None), "depth")
    of_shape(predicted, (*z.shape, 3), "normals")
    of_shape(k, (3, 3), "K")
    use = flags(mask, z.shape, "mask")
    enough_frames(len(z))
    some_finite(z, predicted)
    if not np.isfinite(k).all():
        raise Unmeasurable("all_nan", "the intrinsics are missing")
    some_positive(z)
    maps = np.full(z.shape, np.nan, dtype=np.float32)
    values = np.full(len(z), np.nan)
    below = np.zeros(3)
    used = 0
    for t in range(len(z)):
        implied, trusted = normals_from_depth(z[t], k)
        angle = np.degrees(angle_between(implied, predicted[t]))
        good = trusted & use[t] & np.isfinite(angle)
        if good.sum() >= _LEAST_PIXELS:
            values[t] = angle[good].mean()
            maps[t][good] = angle[good]
            below += [(angle[good] < limit).sum() for limit in (11.25, 22.5, 30.0)]
            used += int(good.sum())
    kept = values[np.isfinite(values)]
    enough_frames(kept.size, what=f"frames with {_LEAST_PIXELS} used pixels")
    worst = int(np.nanargmax(values))
    return Measurement(
        value=float(kept.mean()),
        n=int(kept.size),
        spread=float(MAD * np.median(np.abs(kept - np.median(kept)))),
        evidence={
            "frames": values,
            "worst_frame": worst,
            "angle_map": maps[worst],
            "t90": float(np.percentile(kept, 90)),
            **{f"below_{limit}": float(b / used) for limit, b in zip((11.25, 22.5, 30.0), below, strict=True)},
        },
    )
