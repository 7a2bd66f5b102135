"""R17: how much of the flow forth the flow back does not undo.

Conventions
-----------
Flow is (dx, dy) in pixels of the array, x to the right and y down, on integer pixel centres.  A pair is two frames
about 1/12 s apart.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.checks import absent
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

#: Slowest flow that counts as motion, at 720p [px].
_MOVES = 2.0
#: A region counts in a pair when its moving pixels are this share of the frame, and as a whole with this many pairs.
_SHARE, _PAIRS = 0.002, 7
#: Share of the frame that moves in any pair from which on a clip has motion, though perhaps too little to be measured:
#: three times what white noise lets pass its gate of four standard deviations.
_BRIEF = 0.001


def sample(field: Floats, x: Floats, y: Floats) -> Floats:
    """Return `field` (H, W, ...) at the points `x`, `y` [px] by bilinear interpolation.

    The result is NaN outside [0, W-1] x [0, H-1] and where a pixel with weight above 0 is missing.
    """
    height, width = field.shape[:2]
    with np.errstate(invalid="ignore"):
        inside = (x >= 0) & (x <= width - 1) & (y >= 0) & (y <= height - 1)
    x, y = np.where(inside, x, 0.0), np.where(inside, y, 0.0)
    left, top = np.floor(x).astype(np.intp), np.floor(y).astype(np.intp)
    fx, fy = x - left, y - top
    right, bottom = np.minimum(left + 1, width - 1), np.minimum(top + 1, height - 1)
    flat = field.reshape(height * width, -1)
    total = np.zeros((*x.shape, flat.shape[1]))
    for row, column, weight in (
        (top, left, (1 - fy) * (1 - fx)),
        (top, right, (1 - fy) * fx),
        (bottom, left, fy * (1 - fx)),
        (bottom, right, fy * fx),
    ):
        # A missing pixel of weight 0 must not spread: integer flow lands exactly on one pixel.
        part = flat[row * width + column] * weight[..., None]
        total += np.where(weight[..., None] > 0, part, 0.0)
    total[~inside] = np.nan
    return total.reshape(*x.shape, *field.shape[2:])


def occlusion(back: Floats) -> Bools:
    """Return the pixels of the first frame that are hidden in the second, by the range map of the backward flow.

    Every pixel of the second frame drops bilinear weight where it came from; a pixel of the first frame that receives
    less than 0.5 is hidden.  No forward-backward check is used, so it cannot remove what R17 should charge.

    Parameters
    ----------
    back : (M, H, W, 2) or (H, W, 2) float
        Flow from the second frame to the first [px].

    Returns
    -------
    (M, H, W) or (H, W) bool

    Examples
    --------
    >>> import numpy as np
    >>> back = np.zeros((1, 4, 2)); back[0, 2, 0] = -2.0
    >>> occlusion(back)[0].tolist()
    [False, False, True, False]
    """
    if back.ndim == 4:
        return np.stack([occlusion(b) for b in back])
    height, width = back.shape[:2]
    finite = np.isfinite(back).all(axis=-1)
    rows, columns = np.nonzero(finite)
    x, y = columns + back[finite][:, 0], rows + back[finite][:, 1]
    left, top = np.floor(x), np.floor(y)
    received = np.zeros(height * width)
    for dx in (0, 1):
        for dy in (0, 1):
            weight = (1 - np.abs(x - left - dx)) * (1 - np.abs(y - top - dy))
            column, row = left + dx, top + dy
            inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
            index = (row[inside] * width + column[inside]).astype(np.intp)
            received += np.bincount(index, weight[inside], minlength=height * width)
    return np.asarray((received < 0.5).reshape(height, width))


def flow_noise(flow: Floats) -> float:
    """Return the white noise of a series of flow fields (M, H, W, 2) [px per component], pooled over pixels."""
    if len(flow) < 4:
        return 0.0
    third = np.abs(flow[3:] - 3 * flow[2:-1] + 3 * flow[1:-2] - flow[:-3])
    third = third[np.isfinite(third)]
    return MAD * float(np.median(third)) / math.sqrt(20.0) if third.size >= 5 else 0.0


def flow_inconsistency(
    forward: ArrayLike | None,
    back: ArrayLike | None,
    occluded: ArrayLike | None = None,
    regions: ArrayLike | None = None,
    hw720: tuple[float, float] = (720, 1280),
    dt: float = 1 / 12,
) -> Measurement:
    """Return R17: the share of the motion that the return flow does not undo, in the worst region.

    Parameters
    ----------
    forward, back : (M, H, W, 2) float
        Flow from the first frame of each pair to the second, and back [px]; NaN where missing.
    occluded : (M, H, W) bool, optional
        Pixels of the first frame hidden in the second, from `occlusion`.
    regions : (M, H, W) int, optional
        Region labels in the first frame, 0 the rest (None: one region).
    hw720 : (H, W)
        Size of the frame at which the 2 px threshold holds [px].
    dt : float
        Time between successive pairs [s].

    Returns
    -------
    Measurement
        Largest TS over regions, in [0, 1]; `n` is the number of valid pairs of that region.  Evidence: ``regions`` (the
        labels that qualify), ``pairs`` (a row of values for each, NaN where not valid), ``values``, ``region`` (the
        worst) and ``noise`` [px].

    Raises
    ------
    Unmeasurable
        no_object, bad_shape, too_few_frames (fewer than 7 pairs), all_nan, no_motion (not detectable where something
        moves that is too small or moves too briefly), too_noisy (in 7 pairs what moves and what has no flow would be
        enough together, so that motion cannot be excluded).

    References
    ----------
    Spec ``physics.md`` R17.
    """
    f, b = given(forward, "forward"), given(back, "back")
    of_shape(f, (None, None, None, 2), "forward")
    of_shape(b, f.shape, "back")
    hidden = np.zeros(f.shape[:3], dtype=bool) if occluded is None else flags(occluded, f.shape[:3], "occluded")
    labels = np.zeros(f.shape[:3]) if regions is None else of_shape(given(regions, "regions"), f.shape[:3], "regions")
    enough_frames(len(f), least=_PAIRS, what="pairs")
    some_finite(f, b)
    noise = flow_noise(f)
    gate = _MOVES * math.hypot(*f.shape[1:3]) / math.hypot(*hw720)
    names, index = np.unique(np.nan_to_num(labels), return_inverse=True)
    index = index.reshape(labels.shape)
    found = [_pair_values(f[k], b[k], hidden[k], index[k], len(names), gate, noise) for k in range(len(f))]
    pairs = np.stack([values for values, _ in found], axis=1)
    kept = np.flatnonzero(np.isfinite(pairs).sum(axis=1) >= _PAIRS)
    if kept.size == 0:
        raise _unmoved(np.array([share for _, share in found]), np.asarray(np.isnan(f).any(axis=-1)), gate, noise)
    values = [time_statistic(smooth(pairs[r], dt), dt) for r in kept]
    worst = int(np.argmax(values))
    return Measurement(
        value=values[worst],
        n=int(np.isfinite(pairs[kept[worst]]).sum()),
        evidence={
            "regions": [int(names[r]) for r in kept],
            "pairs": pairs[kept],
            "values": values,
            "region": int(names[kept[worst]]),
            "noise": noise,
        },
    )


def _pair_values(
    f: Floats, b: Floats, hidden: Bools, region: NDArray[np.intp], regions: int, gate: float, noise: float
) -> tuple[Floats, float]:
    """Return the inconsistency of each region in one pair, NaN where too few of its pixels move, and the share moving.

    The share is that of the pixels of the frame that leave their place.
    """
    height, width = hidden.shape
    y, x = np.mgrid[:height, :width]
    returned = sample(b, x + f[..., 0], y + f[..., 1])
    size = np.maximum(np.hypot(f[..., 0], f[..., 1]), np.hypot(returned[..., 0], returned[..., 1]))
    with np.errstate(invalid="ignore"):
        moving = size > max(gate, 4.0 * noise)
    rest = np.hypot(f[..., 0] + returned[..., 0], f[..., 1] + returned[..., 1])
    lost = np.minimum(np.maximum(0.0, rest - 3.0 * noise), size)

    def total(where: Bools, of: Floats | None = None) -> Floats:
        weight = None if of is None else of[where]
        return np.bincount(region[where], weight, minlength=regions).astype(np.float64)

    with np.errstate(invalid="ignore"):
        leaving = moving & (np.hypot(f[..., 0], f[..., 1]) > max(gate, 4.0 * noise))
    # A list that hides more than half of what moves by its own flow, over the whole frame, is refused.  One region may
    # be hidden as a whole: an object that passes behind another, or still ground that something covers.  Such ground is
    # in motion by the flow back alone, and of its rim the range map hides only a part: it does not make a region count.
    refused = bool((leaving & ~hidden).sum() < 0.5 * leaving.sum())
    used = moving if refused else moving & ~hidden
    count = total(used & leaving)
    valid = (count >= _SHARE * height * width - 1e-9) & (count > 0)
    way = total(used, size)
    return np.where(valid, total(used, lost) / np.where(way > 0, way, 1.0), np.nan), float(leaving.mean())


def _unmoved(moving: Floats, missing: Bools, gate: float, noise: float) -> Unmeasurable:
    """Return the reason for a clip without a region that moves, by the shares of each pair that move and lack flow."""
    lacking = missing.mean(axis=(1, 2))
    if ((moving + lacking >= _SHARE) & (lacking >= 0.5 * _BRIEF)).sum() >= _PAIRS:
        return Unmeasurable("too_noisy", f"flow is missing in up to {lacking.max():.2%} of the frame")
    words = f"no region moves by {gate:.2g} px in {_PAIRS} pairs"
    if moving.max() < _BRIEF:
        return absent("no_motion", words, (noise, gate))
    return Unmeasurable("no_motion", f"{words}, but {moving.max():.2%} of the frame in one", detectable=False)
