"""Dense optical flow between two luma images, forth or back, without learned weights.

Conventions
-----------
Flow is (dx, dy) [px of the images].  DIS (dense inverse search) smears the motion of small objects over their flat
surroundings; where standing still explains the picture as well as moving does, the flow is set to 0.
"""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from pvbench_suite.perception.embedded.frames import Bytes

Field = NDArray[np.float32]

#: Side of the patch over which standing still is compared with moving [px], and its handicap [levels].
PATCH, FREE = 5, 1.5


@lru_cache(maxsize=1)
def _dis() -> cv2.DISOpticalFlow:
    dis = cv2.DISOpticalFlow_create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM)
    dis.setUseSpatialPropagation(True)
    dis.setFinestScale(0)
    return dis


def warp(image: NDArray[np.generic], flow: Field) -> NDArray[np.float32]:
    """Return `image` (h, w) or (h, w, c) sampled at x + `flow` (h, w, 2), the border held."""
    h, w = flow.shape[:2]
    x = np.arange(w, dtype=np.float32)[None, :] + flow[..., 0]
    y = np.arange(h, dtype=np.float32)[:, None] + flow[..., 1]
    source = np.asarray(image, dtype=np.float32)
    return np.asarray(cv2.remap(source, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), dtype=np.float32)


def flow_between(a: Bytes, b: Bytes) -> Field:
    """Return the flow (h, w, 2) from luma `a` (h, w) to `b` [px]."""
    h, w = a.shape
    if min(h, w) < 16:
        return np.zeros((h, w, 2), dtype=np.float32)
    moved = np.asarray(_dis().calc(a, b, None), dtype=np.float32)
    one = a.astype(np.float32)
    still = cv2.blur(np.abs(one - b), (PATCH, PATCH))
    going = cv2.blur(np.abs(one - warp(b, moved)), (PATCH, PATCH))
    moved[still <= going + FREE] = 0.0
    return moved
