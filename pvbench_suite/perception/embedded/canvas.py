"""The picture plane of the reference frame, on which the frames of a moving camera are laid, and the way back.

Conventions
-----------
The canvas spans all frames; its pixels are those of the reference frame, moved by whole pixels.  A frame covers a part
of it, which is `shown`; what a frame does not show is never foreground there.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from pvbench_suite.perception.embedded.egomotion import applied
from pvbench_suite.perception.embedded.frames import Bytes, Floats

Mask = NDArray[np.bool_]

#: What the resampling of a frame spoils along its edge [px].
EDGE = 2


@dataclass(frozen=True, eq=False)
class Canvas:
    """Homographies (T, 3, 3) from frames of `frame` = (h, w) px to the reference and to a canvas of `size` = (h, w)."""

    to_reference: Floats
    to_canvas: Floats
    frame: tuple[int, int]
    size: tuple[int, int]

    def lay(self, t: int, image: Bytes) -> Bytes:
        """Return frame `t` (h, w, 3) on the canvas, 0 where it shows nothing."""
        return np.asarray(
            cv2.warpPerspective(image, self.to_canvas[t], self.size[::-1], flags=cv2.INTER_CUBIC), dtype=np.uint8
        )

    def shown(self, t: int) -> Mask:
        """Return the part (h, w) of the canvas that frame `t` shows."""
        inner = np.zeros(self.frame, dtype=np.uint8)
        inner[EDGE:-EDGE, EDGE:-EDGE] = 1
        return cv2.warpPerspective(inner, self.to_canvas[t], self.size[::-1], flags=cv2.INTER_NEAREST) > 0

    def back(self, t: int, mask: Mask) -> Mask:
        """Return a mask of the canvas on the grid of frame `t`; what reaches the edge of `shown` meets the border."""
        # linear and cut at the half: the nearest pixel would move the outline by up to half a pixel
        seen = cv2.warpPerspective(
            mask.astype(np.float32), np.linalg.inv(self.to_canvas[t]), self.frame[::-1], flags=cv2.INTER_LINEAR
        )
        rim = EDGE + 1
        inner = (seen[rim:-rim, rim:-rim] >= 0.5).astype(np.uint8)
        return np.asarray(cv2.copyMakeBorder(inner, rim, rim, rim, rim, cv2.BORDER_REPLICATE) > 0)


def canvas_of(to_reference: Floats, frame: tuple[int, int]) -> Canvas:
    """Return the canvas that spans all frames (h, w) with homographies `to_reference` (T, 3, 3)."""
    h, w = frame
    outline = np.array([[-0.5, -0.5], [w - 0.5, -0.5], [w - 0.5, h - 0.5], [-0.5, h - 0.5]])
    places = np.concatenate([applied(m, outline) for m in to_reference])
    low, high = np.floor(places.min(axis=0)), np.ceil(places.max(axis=0))
    shift = np.array([[1.0, 0.0, -low[0]], [0.0, 1.0, -low[1]], [0.0, 0.0, 1.0]])
    size = (int(high[1] - low[1]) + 1, int(high[0] - low[0]) + 1)
    return Canvas(to_reference, shift @ to_reference, frame, size)


def in_full(to_reference: Floats, grid: tuple[int, int], hw: tuple[int, int]) -> Floats:
    """Return homographies (T, 3, 3) between pixels of a grid (h, w) as those between pixels of the frame `hw`."""
    sx, sy = hw[1] / grid[1], hw[0] / grid[0]
    to_full = np.array([[sx, 0.0, 0.5 * sx - 0.5], [0.0, sy, 0.5 * sy - 0.5], [0.0, 0.0, 1.0]])
    out = to_full @ to_reference @ np.linalg.inv(to_full)
    return np.asarray(out / out[:, 2:, 2:])
