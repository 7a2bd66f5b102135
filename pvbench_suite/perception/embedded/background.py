"""What stands still behind the moving objects, and how much each frame differs from it.

Conventions
-----------
Images are (h, w, 3) Y, Cr, Cb in levels of 0..255 on a grid of at most `LONGEST` px, or, where the camera moves, on the
canvas of the reference frame (`canvas.py`) at that scale.  A difference is expressed in thresholds: 1 is the least that
counts.  The background is the median over time, repaired where an object rested longer than half the clip
(`ghosts.py`); frames are aligned to it in gain, offset and slow shading (`toning.py`) before they are compared.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from pvbench_suite.perception.embedded.canvas import Canvas
from pvbench_suite.perception.embedded.frames import Bytes, Floats, Indices, shrink
from pvbench_suite.perception.embedded.settled import settled
from pvbench_suite.perception.embedded.toning import Image as Image
from pvbench_suite.perception.embedded.toning import Mask as Mask
from pvbench_suite.perception.embedded.toning import aligned, drifts
from pvbench_suite.video.types import Clip

#: Working size [px], and how many frames at most make the median: of a still camera, of a moving one.
LONGEST, SAMPLES, SAMPLES_MOVING = 480, 61, 121
#: Least difference of luma and of chroma that can be an object [levels], and in standard deviations of the pixel.
LUMA, CHROMA, SIGMAS = 9.0, 6.0, 4.5
#: Median over lower quartile of the size of normal noise.
QUIET = 2.117
#: Frames with more grain than this are smoothed first [levels].
GRAINY = 2.0
#: How far a frame of a moving camera may be misplaced: the background's slope times this is no difference [px].
MISPLACED = 0.7


@dataclass(frozen=True, eq=False)
class Scene:
    """The aligned frames (T, h, w, 3) uint8 YCrCb of a clip, its background (h, w, 3) and its thresholds (h, w, 3).

    `unrest` (T,) raises the thresholds of a frame in which everything strays more than usual.  `shown` (T, h, w) is
    where a frame of a moving camera shows anything; elsewhere its `stack` repeats the background.  None = everywhere.
    """

    stack: Bytes
    background: Image
    threshold: Image
    unrest: Floats
    shown: NDArray[np.bool_] | None = None

    def difference(self, t: int) -> tuple[Image, Image]:
        """Return the signed luma change (h, w) [levels] and the size of the whole change (h, w) [thresholds]."""
        d = self.stack[t].astype(np.float32) - self.background
        return d[..., 0], np.sqrt(np.sum((d / self.threshold) ** 2, axis=-1)) / np.float32(self.unrest[t])


def modelled(stack: Bytes, background: Image, shown: NDArray[np.bool_] | None = None) -> Scene:
    """Return the scene of aligned frames (T, h, w, 3) before `background` (h, w, 3), with its thresholds."""
    threshold = thresholds(stack, background, shown)
    if shown is not None:
        plain = np.clip(np.rint(background), 0, 255).astype(np.uint8)
        stack = np.where(shown[..., None], stack, plain)
        slope = [cv2.magnitude(cv2.Sobel(c, cv2.CV_32F, 1, 0), cv2.Sobel(c, cv2.CV_32F, 0, 1)) / 8.0
                 for c in cv2.split(background)]  # fmt: skip
        threshold += MISPLACED * cv2.dilate(np.stack(slope, axis=-1), np.ones((3, 3), np.uint8))
    still, least = background[::4, ::4], threshold[::4, ::4, 0]
    stray = []
    for t, frame in enumerate(stack):
        off = np.abs(frame[::4, ::4].astype(np.float32) - still).max(axis=-1) / least
        stray.append(np.percentile(off if shown is None else off[shown[t, ::4, ::4]], 75))
    unrest = np.clip(np.array(stray) / max(float(np.median(stray)), 0.15), 1.0, 2.5)
    return Scene(stack, background, threshold, unrest, shown)


def scene(clip: Clip, kept: Indices, canvas: Canvas | None = None) -> Scene:
    """Return the aligned frames, the plain median background and the thresholds of the frames `kept` of `clip`."""
    stack = np.stack([cv2.cvtColor(shrink(clip.frames[k], LONGEST), cv2.COLOR_RGB2YCrCb) for k in kept])
    grain = _grain(stack) if canvas is None else 0.0
    if grain > GRAINY:
        for t, frame in enumerate(stack):
            stack[t] = cv2.GaussianBlur(frame, (0, 0), 1.0)
    shown = None
    if canvas is not None:
        stack = np.stack([canvas.lay(t, frame) for t, frame in enumerate(stack)])
        shown = np.stack([canvas.shown(t) for t in range(len(stack))])
    target = _median(stack, shown)
    if drifts(stack, target, shown):
        # a moving camera's middle frame shows only a part of the canvas
        anchor = stack[len(stack) // 2].astype(np.float32) if shown is None else target
        for t, frame in enumerate(stack):
            even = aligned(frame.astype(np.float32), anchor, None if shown is None else shown[t])
            stack[t] = np.clip(np.rint(even), 0, 255)
        target = _median(stack, shown)
    return modelled(stack, target, shown)


def _median(stack: Bytes, shown: NDArray[np.bool_] | None) -> Image:
    """Return the median over time (h, w, 3) of the frames spread over the clip."""
    most = SAMPLES if shown is None else SAMPLES_MOVING
    pick = np.unique(np.linspace(0, len(stack) - 1, min(most, len(stack))).round().astype(int))
    if shown is None:
        return settled(stack[pick], middle(stack[pick]))
    return middle(stack[pick], shown[pick])


def _grain(stack: Bytes) -> float:
    """Return the standard deviation of the luma from frame to frame where nothing moves, per frame [levels]."""
    if len(stack) < 2:
        return 0.0
    pairs = np.unique(np.linspace(0, len(stack) - 2, 9).round().astype(int))
    change = stack[pairs + 1, ::3, ::3, 0].astype(np.int16) - stack[pairs, ::3, ::3, 0]
    return float(1.4826 * np.median(np.abs(change)) / np.sqrt(2.0))


def thresholds(stack: Bytes, background: Image, shown: NDArray[np.bool_] | None = None) -> Image:
    """Return the least difference (h, w, 3) that counts at each pixel and channel [levels], from the pixel's own noise.

    The noise is the smaller of what the pixel strays from the background and 2.5 times what it changes between frames a
    quarter of a second or so apart: an object that rests on a pixel must not pass for its noise.  Nor must one that
    lingers about it: the quieter quarter of the frames bounds the noise (a level more, for what rounding hides).
    """
    pick = np.unique(np.linspace(0, len(stack) - 1, min(31, len(stack))).round().astype(int))
    samples = stack[pick].astype(np.int16)
    seen = None if shown is None else shown[pick]
    both = None if seen is None else seen[1:] & seen[:-1]
    stray = np.abs(samples - np.rint(background).astype(np.int16))
    away = middle(stray, seen)
    if seen is None:  # a frame that is misplaced strays now and then only
        away = np.minimum(away, QUIET * middle(stray, part=4) + 1.0)
    noise = away if len(pick) < 3 else np.minimum(away, 1.77 * middle(np.abs(np.diff(samples, axis=0)), both))
    noise = cv2.blur(cv2.dilate(1.4826 * noise, np.ones((3, 3), np.uint8)), (3, 3))
    return np.maximum(np.array([LUMA, CHROMA, CHROMA], dtype=np.float32), SIGMAS * noise).astype(np.float32)


def middle(values: NDArray[np.integer], shown: NDArray[np.bool_] | None = None, part: int = 2) -> Image:
    """Return the upper median (h, w, 3) of `values` (T, h, w, 3) over the frames that show a pixel, 0 where none.

    `part` 4 gives the lower quartile.
    """
    if shown is None:
        k = len(values) // part
        return np.asarray(np.partition(values, k, axis=0)[k], dtype=np.float32)
    # what is not shown sorts behind all that counts
    ordered = np.sort(np.where(shown[..., None], values, np.iinfo(values.dtype).max), axis=0)
    count = shown.sum(axis=0)
    place = np.minimum(count // part, len(values) - 1)
    out = np.take_along_axis(ordered, place[None, ..., None], axis=0)[0].astype(np.float32)
    out[count == 0] = 0.0
    return out
