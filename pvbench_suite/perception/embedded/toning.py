"""Frames brought to one exposure, tint and shading before they are compared.

Conventions
-----------
Images are (h, w, 3) Y, Cr, Cb in levels of 0..255.  `shown` (h, w) says where a frame of a moving camera shows
anything; None is everywhere.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from pvbench_suite.perception.embedded.frames import Bytes

Image = NDArray[np.float32]
Mask = NDArray[np.bool_]

#: Variance of a tone below which its gain is not believed [levels^2].
PULL = 1.0
#: Stray of the still parts from which on frames are aligned [levels].
DRIFT = 1.5
#: Slow shading that is followed rather than called an object [levels].
SHADING = 10.0


def aligned(image: Image, target: Image, shown: Mask | None = None) -> Image:
    """Return `image` after the change of tone and tint, and of slow shading, that brings it nearest to `target`."""
    x, y = _tone(image[::5, ::5]).reshape(-1, 5), target[::5, ::5].reshape(-1, 3)
    if shown is not None:
        inside = shown[::5, ::5].ravel()
        x, y = x[inside], y[inside]
    plain = np.zeros((5, 3), dtype=np.float32)
    plain[1:4] = np.eye(3)
    plain[0] = np.median(y - x[:, 1:4], axis=0)
    model = plain
    for _ in range(4):
        e = np.abs(x @ model - y).max(axis=1)
        keep = e <= max(3.0, 2.5 * float(np.median(e)))
        # a pull towards the plain shift keeps what the picture does not show (a tint without spread) where it is
        pull = PULL * np.count_nonzero(keep) * np.diag([0.0, 1.0, 1.0, 1.0, 1.0])
        a = x[keep].T @ x[keep] + pull
        model = np.linalg.solve(a, x[keep].T @ y[keep] + pull @ plain).astype(np.float32)
    out = _tone(image) @ model
    return out + _shading(target - out, shown)


def _tone(image: Image) -> Image:
    """Return the terms (h, w, 5) of the tone model: 1, Y, Cr, Cb and the curvature of Y."""
    out = np.empty((*image.shape[:2], 5), dtype=np.float32)
    out[..., 0] = 1.0
    out[..., 1:4] = image
    out[..., 4] = image[..., 0] * (1.0 - image[..., 0] / 255.0)
    return out


def _shading(rest: Image, shown: Mask | None) -> Image:
    """Return the slow part (h, w, 3) of the difference `rest`, blind to what exceeds the slow part by far."""
    size = max(8.0, max(rest.shape[:2]) / 12.0)
    small = cv2.resize(rest, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)
    weight = (np.abs(small).max(axis=-1) < SHADING).astype(np.float32)
    if shown is not None:
        weight *= cv2.resize(shown.astype(np.uint8), small.shape[1::-1], interpolation=cv2.INTER_NEAREST)
    below = cv2.GaussianBlur(weight, (0, 0), size / 4) + 1e-3
    slow = np.stack([cv2.GaussianBlur(small[..., c] * weight, (0, 0), size / 4) / below for c in range(3)], axis=-1)
    return np.asarray(cv2.resize(slow, rest.shape[1::-1], interpolation=cv2.INTER_LINEAR), dtype=np.float32)


def drifts(stack: Bytes, target: Image, shown: Mask | None = None) -> bool:
    """Return whether tone or tint of the still parts strays from `target` in some frame by more than a level or two."""
    if shown is not None:
        return any(drifts(f[s][None, ::36, None], target[s][::36, None]) for f, s in zip(stack, shown, strict=True))
    step = 6 if stack.shape[2] > 1 else 1
    off = stack[:, ::step, ::step].astype(np.int16) - target[::step, ::step].astype(np.int16)
    middle = np.median(off, axis=(1, 2))
    spread = np.median(np.abs(off - middle[:, None, None]), axis=(1, 2))
    return bool(np.abs(middle).max() > DRIFT or spread.max() > DRIFT)
