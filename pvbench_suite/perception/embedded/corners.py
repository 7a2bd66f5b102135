"""Corners of the background and where they are in another frame, under changing light.

Conventions
-----------
Luma is normalized by its local mean and contrast first, so that a change of exposure or tint is no motion.  Corners are
spread over a grid of cells, a few to each, so that a textured object does not outvote the scene around it.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from pvbench_suite.perception.embedded.frames import Bytes, Floats

Points = NDArray[np.float32]

#: Grid of cells over which corners are spread, corners per cell, cells that must hold some for a verdict.
CELLS, PER_CELL, CELLS_LEAST = (8, 6), 6, 12
#: Least local contrast that can hold a corner and not the traces of a codec [levels].
CONTRAST = 3.0


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
        ok = found[:, 0] > 0
        # OpenCV leaves the error of what it lost unset
        return np.asarray(y[:, 0], dtype=np.float32), ok, np.where(ok, error[:, 0], np.float32(np.inf)).astype(float)

    there, ok, error = lk(a, b, points, guess)
    back, ok_back, _ = lk(b, a, there, points)
    return there, ok & ok_back & (np.linalg.norm(back - points, axis=1) < 0.5) & (error < 12.0)
