"""Cast shadows that touch the body: how dark the lamp of a scene makes them, and a mask without them.

Conventions
-----------
One lamp dims a matt ground to the same share of its luma wherever it is blocked, and leaves its tint and its pattern:
the ratio of luma to the background is even where the background is not.  That share is read from all frames, and only
where the pattern is seen to show through; a scene without such a place has no known lamp, and loses nothing.  Where the
shadow lay so long that the background holds it, the lit ground is brighter by the same factor, and is no body either.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from pvbench_suite.perception.embedded.background import Scene
from pvbench_suite.perception.embedded.frames import Floats
from pvbench_suite.perception.embedded.toning import Image, Mask

#: A shadow dims to between these shares, and changes the tint by less than this [thresholds].
DIMMED, TINT = (0.25, 0.92), 1.0
#: Spread of the ratio within a shadow, and how many times more the pattern below it spreads.
EVEN, THROUGH = 0.03, 2.5
#: Fewest pixels of a shadow, and fewest frames that show one before the lamp is known.
PIXELS, FRAMES = 12, 4
#: A pixel has the lamp's ratio within this; a region of which this share is shadow is one altogether; a scene keeps at
#: least this share of what moves in it.
NEAR, MOST, KEPT = 0.05, 0.6, 0.25
#: What is smaller than this share of the body that a shadow is cut off from is a sliver of it.
SLIVER = 0.15


def _compared(world: Scene, t: int) -> tuple[Image, Image]:
    """Return the ratio of luma to the background (h, w), and the change of tint beyond dimming [thresholds]."""
    now, still = world.stack[t].astype(np.float32), world.background
    ratio = now[..., 0] / np.maximum(still[..., 0], 1.0)
    plain = 128.0 + (still[..., 1:] - 128.0) * np.clip(ratio, 0.0, 1.0 / DIMMED[0])[..., None]
    tint = np.sqrt(np.sum(((now[..., 1:] - plain) / world.threshold[..., 1:]) ** 2, axis=-1))
    return ratio, tint


def _patches(candidate: Mask) -> list[NDArray[np.intp]]:
    """Return the flat indices of each connected patch of `candidate` (h, w) that is large enough, and no thread."""
    thick = cv2.morphologyEx(candidate.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(thick, connectivity=4)
    flat = labels.ravel()
    return [np.flatnonzero(flat == k) for k in range(1, count) if stats[k][cv2.CC_STAT_AREA] >= PIXELS]


def _spread(x: Floats) -> float:
    """Return the spread of `x` (n,) as a standard deviation, from its quartiles."""
    low, high = np.quantile(x, [0.25, 0.75])
    return float(high - low) / 1.349


def lamp(world: Scene, found: list[Mask]) -> float | None:
    """Return the share of its luma that a shadowed ground keeps, or None where no frame shows it.

    `found` are the foreground masks (h, w) of the frames.
    """
    shares: list[float] = []
    for t in range(0, len(found), max(1, len(found) // 24)):
        ratio, tint = _compared(world, t)
        dark = np.minimum(ratio, 1.0 / np.maximum(ratio, 1e-3))
        candidate = found[t] & (dark > DIMMED[0]) & (dark < DIMMED[1]) & (tint < TINT)
        for patch in _patches(candidate):
            inside = np.log(dark.ravel()[patch])
            still = np.log(np.maximum(world.background[..., 0].ravel()[patch], 1.0))
            if _spread(inside) < EVEN and _spread(still) > THROUGH * max(_spread(inside), 0.01):
                shares.append(float(np.median(inside)))
    if len(shares) < FRAMES or _spread(np.array(shares)) > EVEN:
        return None
    return float(np.exp(np.median(shares)))


def lit(world: Scene, found: list[Mask]) -> list[Mask]:
    """Return the foreground masks `found` (h, w) of the frames without the shadows of the lamp, if that is known.

    A scene that would lose nearly all that moves keeps it: a lone dark body is no shadow.
    """
    share = lamp(world, found)
    if share is None:
        return found
    bare = [_lit(world, t, mask, share) for t, mask in enumerate(found)]
    left, before = (sum(int(np.count_nonzero(m)) for m in masks) for masks in (bare, found))
    return bare if left >= KEPT * before else found


def _lit(world: Scene, t: int, mask: Mask, share: float) -> Mask:
    """Return the foreground `mask` (h, w) of frame `t` without the shadows of a lamp that leaves this `share`."""
    ratio, tint = _compared(world, t)
    depth = np.abs(np.log(np.maximum(ratio, 1e-3)))
    candidate = mask & (np.abs(depth + np.log(share)) < NEAR) & (tint < TINT)
    shade = np.zeros(mask.size, dtype=bool)
    for patch in _patches(candidate):
        if _spread(np.log(np.maximum(ratio.ravel()[patch], 1e-3))) < EVEN:
            shade[patch] = True
    if not shade.any():
        return mask
    # the rim of a shadow is a mixture of lit and dark ground
    rim = cv2.dilate(shade.reshape(mask.shape).astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    gone = shade.reshape(mask.shape) | (rim & mask & (depth < -np.log(0.9 * share)) & (tint < TINT))
    count, labels = cv2.connectedComponents(mask.astype(np.uint8), connectivity=8)
    whole = np.maximum(np.bincount(labels.ravel(), minlength=count), 1)
    dark = np.bincount(labels[gone], minlength=count) / whole
    # what is a shadow for the most part goes with its rim
    return _without_slivers(mask & ~(dark > MOST)[labels], gone)


def _without_slivers(mask: Mask, gone: Mask) -> Mask:
    """Return `mask` less `gone`, and less the slivers that this leaves between a body and its shadow."""
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5))
    left = cv2.morphologyEx((mask & ~gone).astype(np.uint8), cv2.MORPH_OPEN, disc)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(left, connectivity=8)
    _, region = cv2.connectedComponents(mask.astype(np.uint8), connectivity=8)
    largest: dict[int, int] = {}
    owner = np.zeros(count, dtype=int)
    for k in range(1, count):
        owner[k] = region[labels == k][0]
        largest[owner[k]] = max(largest.get(owner[k], 0), int(stats[k][cv2.CC_STAT_AREA]))
    thin = [k for k in range(1, count) if stats[k][cv2.CC_STAT_AREA] < SLIVER * largest[owner[k]]]
    return (left > 0) & ~np.isin(labels, thin)
