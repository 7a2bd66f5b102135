"""Dense optical flow between two frames, forth and back, without learned weights.

Conventions
-----------
Flow is (dx, dy) [px of the images], float32, NaN where a pixel has no counterpart.  Images are (h, w, 3) Y, Cr, Cb.

Method: several explanations of every pixel compete by the match of its 5 x 5 neighbourhood: standing still, DIS (dense
inverse search), DIS chained through the frames between, the shifts of whole changed regions, and the inverse of the
best flow
of the other direction.  Regions that do not change and do not move as a whole are still, so that the motion of a small
object is not smeared over its flat surroundings.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from pvbench_suite.perception.embedded.frames import Bytes

Field = NDArray[np.float32]
Image = NDArray[np.float32]
Mask = NDArray[np.bool_]

#: Neighbourhood that is matched [px], and the largest difference that still counts [levels, sum of channels].
PATCH, CAP = 5, 80.0
#: Change below which a pixel is unchanged: a floor, and a factor of the pair's usual change [levels, sum of channels].
UNCHANGED, NOISE = 7.0, 3.0
#: DIS motion of most of an unchanged region that makes it still [px].
STILL = 0.4
#: Advantages in the competition [levels]: of standing still (times the noise), and of agreeing with the other
#: direction.
FREE, AGREE = 0.5, 1.0
#: Differences of the two directions that the method does not resolve [px].
RESOLVED = 0.5
#: Most changed regions that are searched for as a whole, their range (share of the width), their least match.
SHIFTS, RANGE, MATCH = 5, 0.14, 0.6


@lru_cache(maxsize=1)
def _dis() -> cv2.DISOpticalFlow:
    dis = cv2.DISOpticalFlow_create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM)
    dis.setFinestScale(0)
    dis.setPatchStride(3)
    dis.setGradientDescentIterations(25)
    return dis


def warp(image: NDArray[np.generic], flow: Field) -> Image:
    """Return `image` (h, w) or (h, w, c) sampled at x + `flow` (h, w, 2), the border held."""
    h, w = flow.shape[:2]
    x = np.arange(w, dtype=np.float32)[None, :] + flow[..., 0]
    y = np.arange(h, dtype=np.float32)[:, None] + flow[..., 1]
    source = np.asarray(image, dtype=np.float32)
    return np.asarray(cv2.remap(source, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), dtype=np.float32)


def dis(a: Bytes, b: Bytes) -> Field:
    """Return the DIS flow (h, w, 2) from luma `a` to `b`; 0 for images too small for it."""
    if min(a.shape) < 24:
        return np.zeros((*a.shape, 2), dtype=np.float32)
    return np.asarray(_dis().calc(a, b, None), dtype=np.float32)


def _chained(steps: Sequence[Bytes]) -> Field:
    """Return the flow from the first to the last luma of `steps`, composed of the flows between neighbours."""
    total = dis(steps[0], steps[1])
    for a, b in itertools.pairwise(steps):
        total = total + warp(dis(a, b), total)
    return total


def _shifts(a: Bytes, b: Bytes) -> list[tuple[int, int]]:
    """Return the shifts (dx, dy) that carry the largest changed regions of luma `a` to their best match in `b`."""
    h, w = a.shape
    changed = (cv2.blur(cv2.absdiff(a, b), (3, 3)) > 12).astype(np.uint8)
    _, _, stats, _ = cv2.connectedComponentsWithStats(changed, connectivity=8)
    reach, out = int(RANGE * w), []
    for k in np.argsort(-stats[1:, cv2.CC_STAT_AREA], kind="stable")[:SHIFTS] + 1:
        x, y, bw, bh, area = (int(v) for v in stats[k])
        x0, y0 = max(0, x - 2), max(0, y - 2)
        patch = a[y0 : y + bh + 2, x0 : x + bw + 2]
        if area < 12 or bw * bh > 0.2 * h * w or float(patch.std()) < 3.0:
            continue
        top, left = max(0, y0 - reach), max(0, x0 - reach)
        field = b[top : y0 + patch.shape[0] + reach, left : x0 + patch.shape[1] + reach]
        _, best, _, at = cv2.minMaxLoc(cv2.matchTemplate(field, patch, cv2.TM_CCOEFF_NORMED))
        if best > MATCH:
            out.append((at[0] + left - x0, at[1] + top - y0))
    return out


def _still(a: Image, b: Image, motion: Field, noise: float) -> Mask:
    """Return the pixels (h, w) of the regions that neither change from `a` to `b` nor move by DIS `motion`.

    Texture decides: DIS invents motion on flat ground, but an edge that moved would have changed.
    """
    same = cv2.blur(np.abs(a - b).sum(axis=-1), (3, 3)) < UNCHANGED + NOISE * noise
    count, labels = cv2.connectedComponents(same.astype(np.uint8), connectivity=4)
    slow = np.hypot(motion[..., 0], motion[..., 1]) < STILL
    y = np.ascontiguousarray(a[..., 0])
    texture = 1.0 + (cv2.Sobel(y, cv2.CV_32F, 1, 0) ** 2 + cv2.Sobel(y, cv2.CV_32F, 0, 1) ** 2) / 64.0
    size = np.bincount(labels.ravel(), weights=texture.ravel(), minlength=count)
    still = np.bincount(labels.ravel(), weights=(texture * slow).ravel(), minlength=count) > 0.5 * size
    still[0] = False
    return np.asarray(still[labels])


def _best(a: Image, b: Image, flows: list[Field], bonus: list[float], still: Mask) -> Field:
    """Return, per pixel, the flow of `flows` that matches the neighbourhood best after its `bonus` [levels]."""
    least, out = np.full(still.shape, np.inf, dtype=np.float32), np.zeros((*still.shape, 2), dtype=np.float32)
    for flow, extra in zip(flows, bonus, strict=True):
        off = np.minimum(np.abs(a - warp(b, flow)).sum(axis=-1), CAP)
        cost = cv2.blur(off, (PATCH, PATCH)) - np.float32(extra)
        better = cost < least
        least = np.where(better, cost, least)
        out[better] = flow[better]
    smooth = np.dstack([cv2.medianBlur(np.ascontiguousarray(out[..., c]), 5) for c in (0, 1)])
    return np.asarray(np.where(still[..., None], 0.0, smooth), dtype=np.float32)


def inverse(flow: Field, otherwise: Field) -> Field:
    """Return the flow back along `flow` (h, w, 2): each pixel drops its own where it lands; `otherwise` elsewhere."""
    h, w = flow.shape[:2]
    y, x = np.mgrid[:h, :w]
    column, row = np.rint(x + flow[..., 0]).astype(np.intp), np.rint(y + flow[..., 1]).astype(np.intp)
    ok = (column >= 0) & (column < w) & (row >= 0) & (row < h)
    at = (row * w + column)[ok]
    count = np.bincount(at, minlength=h * w).reshape(h, w).astype(np.float32)
    total = np.stack(
        [np.bincount(at, weights=-flow[..., c][ok], minlength=h * w).reshape(h, w) for c in (0, 1)], axis=-1
    ).astype(np.float32)
    # pinholes between diverging pixels take the mean of their neighbours
    near, near_total = cv2.blur(count, (3, 3)), cv2.blur(total, (3, 3))
    out = np.where((near > 0.4)[..., None], near_total / np.maximum(near, 1e-6)[..., None], otherwise)
    return np.asarray(np.where((count > 0)[..., None], total / np.maximum(count, 1)[..., None], out), dtype=np.float32)


def two_way(a: Image, b: Image, steps: Sequence[Bytes]) -> tuple[Field, Field, Mask, Mask, float]:
    """Return the flow from `a` to `b` and back, the still pixels of each, and the usual change of the pair [levels].

    `steps` are the luma images from `a` to `b`, both included.
    """
    noise = float(np.median(np.abs(a - b).sum(axis=-1)))
    zero = np.zeros((*a.shape[:2], 2), dtype=np.float32)
    there, back = [dis(steps[0], steps[-1])], [dis(steps[-1], steps[0])]
    if len(steps) > 2:
        there.append(_chained(steps))
        back.append(_chained(steps[::-1]))
    still_a, still_b = _still(a, b, there[0], noise), _still(b, a, back[0], noise)
    found = _shifts(steps[0], steps[-1]) + [(-u, -v) for u, v in _shifts(steps[-1], steps[0])]
    for shift in dict.fromkeys(found):
        there.append(zero + np.array(shift, dtype=np.float32))
        back.append(zero - np.array(shift, dtype=np.float32))
    free = [FREE * noise]
    forth = _best(a, b, [zero, *there], free + [0.0] * len(there), still_a)
    home = _best(b, a, [zero, *back], free + [0.0] * len(back), still_b)
    for flows in ([zero], []):
        extra = [*free[: len(flows)], 0.0, AGREE]
        new = _best(a, b, [*flows, forth, inverse(home, forth)], extra, still_a)
        home = _best(b, a, [*flows, home, inverse(forth, home)], extra, still_b)
        forth = new
    forth, home = _reconciled(forth, home), _reconciled(home, forth)
    return forth, home, still_a, still_b, noise


def _reconciled(flow: Field, back: Field) -> Field:
    """Return `flow` averaged with the inverse of `back` where the two differ by less than this method resolves."""
    other = inverse(back, flow)
    near = np.hypot(*np.moveaxis(flow - other, -1, 0)) < RESOLVED
    return np.asarray(np.where(near[..., None], 0.5 * (flow + other), flow), dtype=np.float32)
