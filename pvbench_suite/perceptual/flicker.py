"""PTQ-03: how much the brightness of what stands still flickers.

Conventions
-----------
Luma is 0 to 255.  Flow is (dx, dy) in pixels of the array, from the first frame of a pair to the second; thresholds
in pixels hold at 720p and shrink with the array.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.ndimage import binary_dilation, distance_transform_edt

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.flow import sample
from pvbench_suite.physics.series import (
    MAD,
    Bools,
    Floats,
    enough_frames,
    flags,
    given,
    of_shape,
    smooth,
    some_finite,
    time_statistic,
)

#: Flow below this is static, and masks of moving objects are widened by this, both at 720p [px].
_STATIC, _MARGIN = 1.0, 5.0
#: Share of the frame that must be static for a pair to count, and how many pairs must count.
_SHARE, _PAIRS = 0.20, 7


def widen(mask: Bools, margin: float) -> Bools:
    """Return `mask` (H, W) widened by `margin` [px], and by at least the eight neighbours of every pixel."""
    if not mask.any():
        return mask
    near = np.asarray(distance_transform_edt(~mask)) <= margin
    return np.asarray(near | binary_dilation(mask, np.ones((3, 3), dtype=bool)))


def flicker(
    luma0: ArrayLike | None,
    luma1: ArrayLike | None,
    flow: ArrayLike | None,
    moving: ArrayLike | None = None,
    occluded: ArrayLike | None = None,
    hw720: tuple[float, float] = (720, 1280),
    dt: float = 1 / 12,
) -> Measurement:
    """Return PTQ-03: the change of brightness along the flow where nothing moves.

    Parameters
    ----------
    luma0, luma1 : (M, H, W) float
        Luma of the first and the second frame of each pair, about 1/12 s apart, 0 to 255.
    flow : (M, H, W, 2) float
        Forward flow [px of the array].
    moving : (M, H, W) bool, optional
        Masks of moving objects in the first frame.
    occluded : (M, H, W) bool, optional
        Pixels of the first frame hidden in the second.
    hw720 : (H, W)
        Size of the frame at which the thresholds hold [px].
    dt : float
        Time between successive pairs [s].

    Returns
    -------
    Measurement
        TS over pairs of the mean absolute change in percent of 255, in [0, 100]; `n` is the number of pairs that count.
        Evidence: ``pairs`` (NaN where too little is static), ``signed`` (mean change with its sign: pumping shows as
        a wave) and ``static`` (share of the frame).

    Raises
    ------
    Unmeasurable
        no_object, bad_shape, too_few_frames (fewer than 7 pairs), all_nan, no_static_region.

    References
    ----------
    Spec ``perceptual.md`` PTQ-03.
    """
    first, second, f = given(luma0, "luma0"), given(luma1, "luma1"), given(flow, "flow")
    of_shape(first, (None, None, None), "luma0")
    of_shape(second, first.shape, "luma1")
    of_shape(f, (*first.shape, 2), "flow")
    objects = np.zeros(first.shape, dtype=bool) if moving is None else flags(moving, first.shape, "moving")
    hidden = np.zeros(first.shape, dtype=bool) if occluded is None else flags(occluded, first.shape, "occluded")
    enough_frames(len(first), least=_PAIRS, what="pairs")
    some_finite(first, second, f)
    scale = math.hypot(*first.shape[1:]) / math.hypot(*hw720)
    values, signed, share = (np.full(len(first), np.nan) for _ in range(3))
    for k in range(len(first)):
        change = _change(first[k], second[k], f[k], scale)
        change[hidden[k] | widen(objects[k], _MARGIN * scale)] = np.nan
        static = np.isfinite(change)
        share[k] = static.mean()
        if share[k] >= _SHARE:
            values[k] = 100.0 / 255.0 * np.abs(change[static]).mean()
            signed[k] = 100.0 / 255.0 * change[static].mean()
    kept = values[np.isfinite(values)]
    if kept.size < _PAIRS:
        raise Unmeasurable("no_static_region", f"a fifth of the frame stands still in {kept.size} pairs")
    return Measurement(
        value=time_statistic(smooth(values, dt), dt),
        n=int(kept.size),
        spread=float(MAD * np.median(np.abs(kept - np.median(kept)))),
        evidence={"pairs": values, "signed": signed, "static": share},
    )


def _change(first: Floats, second: Floats, flow: Floats, scale: float) -> Floats:
    """Return the change of luma (H, W) along the flow; NaN where the pixel moves, leaves the frame or is missing."""
    height, width = first.shape
    y, x = np.mgrid[:height, :width]
    with np.errstate(invalid="ignore"):
        slow = np.hypot(flow[..., 0], flow[..., 1]) < _STATIC * scale
    return np.where(slow, sample(second, x + flow[..., 0], y + flow[..., 1]) - first, np.nan)
