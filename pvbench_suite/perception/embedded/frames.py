"""The frames that the other modules look at: duplicates dropped, one working size, true timestamps.

Conventions
-----------
Indices are those of `Clip.frames`.  Luma is 0..255.  A working grid of `w` columns spans the full frame of `W`
columns: a
pixel centre ``x`` of the grid lies at ``(x + 0.5) W / w - 0.5`` [px] of the full frame (`to_full`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from pvbench_suite.video.types import Clip

Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]
Indices = NDArray[np.intp]

#: Side of the blocks in which duplicates are sought [px] (spec physics.md section 0).
BLOCK = 16
#: A frame repeats its predecessor when no block differs by this much [levels].
SAME = 1.0
#: A codec can leave up to this much in the blocks of a true duplicate (a new key frame) [levels] ...
SAME_MOST = 8.0
#: ... which is believed only when every other frame differs by this factor more.
CLEAR = 3.5
#: A longer stretch without change is a scene at rest and not a repeated frame: content has at least 8 frames/s [s], and
#: a clip whose other frames come faster repeats none of them for this many of its frame times.
REST, RESTS = 0.25, 3.5


def luma(frame: Bytes) -> Bytes:
    """Return the luma (h, w) of one RGB frame (h, w, 3), Rec. 601 weights, rounded."""
    return np.asarray(cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY), dtype=np.uint8)


def shrink(image: NDArray[Any], longest: int) -> NDArray[Any]:
    """Return `image` resized by area so that its long side is at most `longest` [px]; never enlarged."""
    h, w = image.shape[:2]
    k = longest / max(h, w)
    if k >= 1.0:
        return image
    size = (max(1, round(w * k)), max(1, round(h * k)))
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA))


def to_full(points: ArrayLike, grid: tuple[int, int], hw: tuple[int, int]) -> Floats:
    """Return points (..., 2) given as (x, y) on a grid (h, w) in pixels of the full frame `hw` = (H, W)."""
    scale = np.array([hw[1] / grid[1], hw[0] / grid[0]])
    return np.asarray((np.asarray(points, dtype=float) + 0.5) * scale - 0.5)


def block_change(a: Bytes, b: Bytes) -> float:
    """Return the largest mean absolute difference of two luma images over blocks of 16 x 16 px [levels]."""
    d = cv2.absdiff(a, b).astype(np.float32)
    rows, columns = np.arange(0, d.shape[0], BLOCK), np.arange(0, d.shape[1], BLOCK)
    total = np.add.reduceat(np.add.reduceat(d, rows, axis=0), columns, axis=1)
    count = np.outer(np.diff(np.append(rows, d.shape[0])), np.diff(np.append(columns, d.shape[1])))
    return float((total / count).max())


def _threshold(change: Floats) -> float:
    """Return the change below which a frame repeats its predecessor: 1, or the middle of a clear gap above it."""
    level = np.sort(np.maximum(change, 1e-3))
    low, high = level[:-1], level[1:]
    gap = (low >= SAME / 2) & (low <= SAME_MOST) & (high >= CLEAR * np.maximum(low, SAME))
    gap &= (np.arange(1, len(level)) >= 0.2 * len(level)) & (high > SAME_MOST)
    if not gap.any():
        return SAME
    best = int(np.argmax(np.where(gap, high / low, 0.0)))
    return max(SAME, float(np.sqrt(max(low[best], SAME) * high[best])))


def distinct_frames(clip: Clip) -> Indices:
    """Return the indices (K,) of the frames of `clip` that are not repetitions of the frame before, ascending.

    The rule of spec physics.md section 0, with two amendments.  A stretch without change of more than 0.25 s, or of
    more than 3.5 frame times of the rest of the clip, is a scene at rest and is kept at that pace (else a ball that
    vanishes from a still scene would take the rest of the clip with it).  Where the changes fall into two groups with a
    clear gap between them the cut lies in the gap, at most at 28 levels, because a codec redraws repeated frames by a
    few levels at each key frame.
    """
    frames, times = clip.frames, clip.times
    if len(frames) < 3:
        return np.arange(len(frames))
    change = np.empty(len(frames) - 1)
    before = luma(frames[0])
    for k in range(1, len(frames)):
        now = luma(frames[k])
        change[k - 1] = block_change(before, now)
        before = now
    return _without_repeats(change, np.asarray(times, dtype=float))


def _without_repeats(change: Floats, times: Floats) -> Indices:
    """Return the indices kept, given the change (T - 1,) from each frame to the next [levels] and `times` (T,) [s]."""
    same = np.concatenate([[False], change < _threshold(change)])
    fresh = np.flatnonzero(~same)
    ends = np.append(fresh, len(times))
    spans = np.diff(np.append(times[fresh], times[-1]))
    short = spans[:-1][spans[:-1] <= REST]
    pace = float(np.median(short)) if short.size >= 4 else float(np.median(np.diff(times)))
    kept: list[int] = []
    for start, end, span in zip(fresh, ends[1:], spans, strict=True):
        kept.append(int(start))
        if span > min(REST, RESTS * pace):
            for k in range(int(start) + 1, int(end)):
                if times[k] - times[kept[-1]] >= 0.75 * pace:
                    kept.append(k)
    return np.asarray(kept, dtype=np.intp)


@lru_cache(maxsize=1)
def distinct(clip: Clip) -> Indices:
    """Return `distinct_frames` of `clip`, remembered for the clip seen last: every provider of a clip asks for it."""
    return distinct_frames(clip)
