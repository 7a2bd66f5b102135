"""Does the camera stand still, and is the clip one shot?  What this profile cannot look through, it refuses here.

Conventions
-----------
Corners of one reference frame, the middle one, are sought directly in frames about 1/8 s apart, so that no error
adds up;
luma is normalized by its local mean and contrast first, so that a change of exposure or tint is no motion.  Motion is
given in percent of the diagonal.  Where the picture has too little texture to show a camera motion, the camera
counts as
still: nothing says otherwise.
"""

from __future__ import annotations

import itertools
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from pvbench_suite.errors import NotPerceived
from pvbench_suite.perception.embedded.frames import Bytes, Floats, Indices, distinct, luma, shrink
from pvbench_suite.video.types import Clip

Points = NDArray[np.float32]

#: Working size [px], and the interval between tested frames [s].
LONGEST, STEP = 480, 0.125
#: Grid of cells over which corners are spread, corners per cell, cells that must hold some for a verdict.
CELLS, PER_CELL, CELLS_LEAST = (8, 6), 6, 12
#: Least local contrast that can hold a corner and not the traces of a codec [levels].
CONTRAST = 3.0
#: A corner within this distance of its place has not moved [px]; a model that fits within this is agreed to [px].
STILL, AGREE = 0.7, 1.5
#: A frame is still when this share of the corners is, or when the agreed motion is below this [% of the diagonal].
STILL_SHARE, STILL_MOTION, AGREE_SHARE = 0.15, 0.4, 0.12
#: This share of the tested frames may disagree (an object before the lens, a flash).
FRAMES_ASTRAY = 0.05
#: A cut changes at least this share of the blocks, this many times what the frames around it change.
CUT_SHARE, CUT_FACTOR, CUT_LEVELS = 0.35, 4.0, 12.0

REMEDY = "use a profile with depth and cameras, for example --pv-perception reference"


def normalized(y: Bytes) -> Bytes:
    """Return luma (h, w) with local mean and contrast evened out, centred on 128 (flat where there is none)."""
    f = y.astype(np.float32)
    d = f - cv2.GaussianBlur(f, (0, 0), 6.0)
    contrast = np.sqrt(cv2.GaussianBlur(d * d, (0, 0), 6.0))
    even = np.clip(128.0 + 40.0 * d / (contrast + 6.0), 0, 255)
    return np.asarray(np.where(contrast < CONTRAST, 128, even), dtype=np.uint8)


def corners(y: Bytes) -> tuple[Points, NDArray[np.intp]]:
    """Return corners (P, 2) of a normalized luma image, at most six to a cell, and the cell (P,) of each."""
    found = cv2.goodFeaturesToTrack(y, 600, 0.01, 5)
    if found is None:
        return np.zeros((0, 2), dtype=np.float32), np.zeros(0, dtype=np.intp)
    points = np.asarray(found[:, 0], dtype=np.float32)
    h, w = y.shape
    column = np.minimum(points[:, 0] * CELLS[0] // w, CELLS[0] - 1)
    row = np.minimum(points[:, 1] * CELLS[1] // h, CELLS[1] - 1)
    cell = (column + CELLS[0] * row).astype(np.intp)
    # goodFeaturesToTrack returns the strongest first: rank within the cell, keep the first few
    rank = np.array([np.count_nonzero(cell[:k] == cell[k]) for k in range(len(cell))])
    return points[rank < PER_CELL], cell[rank < PER_CELL]


def follow(a: Bytes, b: Bytes, points: Points, guess: Points) -> tuple[Points, NDArray[np.bool_]]:
    """Return where `points` (P, 2) of image `a` are in `b`, and which of them are found again on the way back."""
    # OpenCV's stubs do not know that the flow functions take a starting guess
    criteria = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 20, 0.01)
    flags = cv2.OPTFLOW_USE_INITIAL_FLOW

    def lk(p: Bytes, q: Bytes, x: Points, x0: Points) -> tuple[Points, NDArray[np.bool_], Floats]:
        y, found, error = cv2.calcOpticalFlowPyrLK(
            p, q, x[:, None], x0[:, None].copy(), winSize=(15, 15), maxLevel=3, criteria=criteria, flags=flags
        )
        return np.asarray(y[:, 0], dtype=np.float32), found[:, 0] > 0, np.asarray(error[:, 0], dtype=float)

    there, ok, error = lk(a, b, points, guess)
    back, ok_back, _ = lk(b, a, there, points)
    return there, ok & ok_back & (np.linalg.norm(back - points, axis=1) < 0.5) & (error < 12.0)


def _agreed(points: Points, there: Points, size: tuple[int, int]) -> tuple[float, int]:
    """Return the motion of the frame's corners [% of the diagonal] under the best affine model, and how many agree."""
    if len(points) < 8:
        return np.inf, 0
    model, inliers = cv2.estimateAffine2D(points, there, ransacReprojThreshold=AGREE)
    if model is None:
        return np.inf, 0
    h, w = size
    frame = np.array([[0, 0], [w, 0], [0, h], [w, h]], dtype=float)
    shift = frame @ model[:, :2].T + model[:, 2] - frame
    return float(100.0 * np.linalg.norm(shift, axis=1).max() / np.hypot(h, w)), int(inliers.sum())


def _astray(clip: Clip, kept: Indices) -> float:
    """Return the share of the tested frames in which the background is not where it is in the reference frame."""
    times = clip.times[kept]
    tested = kept[
        np.unique(np.searchsorted(times, np.arange(times[0], times[-1] + 1e-9, STEP)).clip(max=len(kept) - 1))
    ]
    reference = normalized(luma(shrink(clip.frames[kept[len(kept) // 2]], LONGEST)))
    points, cell = corners(reference)
    cells = len(np.unique(cell))
    if cells < CELLS_LEAST:
        return 0.0
    astray = 0
    for order in (tested[tested >= kept[len(kept) // 2]], tested[tested < kept[len(kept) // 2]][::-1]):
        guess = points.copy()
        for k in order:
            image = normalized(luma(shrink(clip.frames[k], LONGEST)))
            there, found = follow(reference, image, points, guess)
            guess = np.where(found[:, None], there, guess)
            still = found & (np.linalg.norm(there - points, axis=1) < STILL)
            spread = len(np.unique(cell[still])) >= cells / 4
            if spread and still.sum() >= STILL_SHARE * len(points):
                continue
            motion, agreed = _agreed(points[found], there[found], reference.shape)
            astray += not (motion <= STILL_MOTION and agreed >= AGREE_SHARE * len(points))
    return astray / max(len(tested), 1)


def _cut(clip: Clip, kept: Indices) -> bool:
    """Return whether some frame step changes a large part of the picture, and far more than the steps around it."""
    small = [luma(shrink(clip.frames[k], 64)).astype(np.float32) for k in kept]
    small = [y - float(np.median(y)) for y in small]
    change = np.array([np.mean(np.abs(b - a) > CUT_LEVELS) for a, b in itertools.pairwise(small)])
    for k in np.flatnonzero(change >= CUT_SHARE):
        around = np.concatenate([change[max(0, k - 4) : k], change[k + 1 : k + 5]])
        if around.size and change[k] >= CUT_FACTOR * np.median(around):
            return True
    return False


@lru_cache(maxsize=1)
def fault(clip: Clip) -> str:
    """Return why `clip` is outside a static-camera profile, or an empty text where it is inside."""
    kept = distinct(clip)
    if len(kept) < 2:
        return ""
    if _cut(clip, kept):
        return "the clip is cut"
    return "the camera moves" if _astray(clip, kept) > FRAMES_ASTRAY else ""


def require_static(clip: Clip) -> None:
    """Pass when the camera stands still and the clip is one shot.

    Raises
    ------
    NotPerceived
        With what is wrong and the profile that could see it.
    """
    what = fault(clip)
    if what:
        raise NotPerceived(what, REMEDY)
