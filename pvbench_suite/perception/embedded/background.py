"""What stands still behind the moving objects, and which pixels of each frame are not it.

Conventions
-----------
Images are (h, w, 3) Y, Cr, Cb in levels of 0..255 on a grid of at most `LONGEST` px.  A difference is expressed in
thresholds: 1 is the least that counts.  The background is the median over time, repaired where an object rested longer
than half the clip (`ghosts.py`); frames are aligned to it in gain, offset and slow shading before they are compared.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from pvbench_suite.perception.embedded.frames import Bytes, Floats, Indices, shrink
from pvbench_suite.video.types import Clip

Image = NDArray[np.float32]
Mask = NDArray[np.bool_]

#: Working size [px], and how many frames at most make the median.
LONGEST, SAMPLES = 480, 61
#: Least difference of luma and of chroma that can be an object [levels], and in standard deviations of the pixel.
LUMA, CHROMA, SIGMAS = 9.0, 6.0, 4.5
#: A shadow dims to this ratio at most and keeps its chroma within this many thresholds; a faint one is never a body.
SHADOW, SHADOW_CHROMA, FAINT = 0.5, 1.0, 0.9
#: A shadow is dimmed all over (share of its pixels), with an outline softer than this share of its depth per pixel.
ALL_OVER, SOFT = 0.85, 0.25
#: Stray of the still parts from which on frames are aligned [levels].
DRIFT = 1.5
#: Slow shading that is followed rather than called an object [levels].
SHADING = 10.0


@dataclass(frozen=True, eq=False)
class Scene:
    """The aligned frames (T, h, w, 3) uint8 YCrCb of a clip, its background (h, w, 3) and its thresholds (h, w, 3).

    `unrest` (T,) raises the thresholds of a frame in which everything strays more than usual.
    """

    stack: Bytes
    background: Image
    threshold: Image
    unrest: Floats

    def difference(self, t: int) -> tuple[Image, Image]:
        """Return the signed luma change (h, w) [levels] and the size of the whole change (h, w) [thresholds]."""
        d = self.stack[t].astype(np.float32) - self.background
        return d[..., 0], np.sqrt(np.sum((d / self.threshold) ** 2, axis=-1)) / np.float32(self.unrest[t])


def modelled(stack: Bytes, background: Image) -> Scene:
    """Return the scene of aligned frames (T, h, w, 3) before `background` (h, w, 3), with its thresholds."""
    threshold = thresholds(stack, background)
    still, least = background[::4, ::4], threshold[::4, ::4]
    stray = [
        np.percentile(np.abs(f[::4, ::4].astype(np.float32) - still).max(axis=-1) / least[..., 0], 75) for f in stack
    ]
    unrest = np.clip(np.array(stray) / max(float(np.median(stray)), 0.15), 1.0, 2.5)
    return Scene(stack, background, threshold, unrest)


def _aligned(image: Image, target: Image) -> Image:
    """Return `image` after the change of tone and tint, and of slow shading, that brings it nearest to `target`."""
    x, y = _tone(image[::5, ::5]).reshape(-1, 5), target[::5, ::5].reshape(-1, 3)
    plain = np.zeros((5, 3), dtype=np.float32)
    plain[1:4] = np.eye(3)
    plain[0] = np.median(y - x[:, 1:4], axis=0)
    model = plain
    for _ in range(4):
        e = np.abs(x @ model - y).max(axis=1)
        keep = e <= max(3.0, 2.5 * float(np.median(e)))
        # a weak pull towards the plain shift keeps what the picture does not show (an unseen tint) where it is
        pull = 1e-4 * np.count_nonzero(keep) * np.diag([0.0, *[float(v) for v in np.var(x[keep, 1:], axis=0) + 9.0]])
        a = x[keep].T @ x[keep] + pull
        model = np.linalg.solve(a, x[keep].T @ y[keep] + pull @ plain).astype(np.float32)
    out = _tone(image) @ model
    return out + _shading(target - out)


def _tone(image: Image) -> Image:
    """Return the terms (h, w, 5) of the tone model: 1, Y, Cr, Cb and the curvature of Y."""
    out = np.empty((*image.shape[:2], 5), dtype=np.float32)
    out[..., 0] = 1.0
    out[..., 1:4] = image
    out[..., 4] = image[..., 0] * (1.0 - image[..., 0] / 255.0)
    return out


def _shading(rest: Image) -> Image:
    """Return the slow part (h, w, 3) of the difference `rest`, blind to what exceeds the slow part by far."""
    size = max(8.0, max(rest.shape[:2]) / 12.0)
    small = cv2.resize(rest, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)
    weight = (np.abs(small).max(axis=-1) < SHADING).astype(np.float32)
    below = cv2.GaussianBlur(weight, (0, 0), size / 4) + 1e-3
    slow = np.stack([cv2.GaussianBlur(small[..., c] * weight, (0, 0), size / 4) / below for c in range(3)], axis=-1)
    return np.asarray(cv2.resize(slow, rest.shape[1::-1], interpolation=cv2.INTER_LINEAR), dtype=np.float32)


def _median(stack: Bytes) -> Image:
    """Return the median over time (h, w, 3) of at most `SAMPLES` frames spread over the clip."""
    pick = np.unique(np.linspace(0, len(stack) - 1, min(SAMPLES, len(stack))).round().astype(int))
    return _middle(stack[pick])


def scene(clip: Clip, kept: Indices) -> Scene:
    """Return the aligned frames, the plain median background and the thresholds of the frames `kept` of `clip`."""
    stack = np.stack([cv2.cvtColor(shrink(clip.frames[k], LONGEST), cv2.COLOR_RGB2YCrCb) for k in kept])
    target = _median(stack)
    if _drifts(stack, target):
        frames = [frame.astype(np.float32) for frame in stack]
        target = frames[len(frames) // 2]
        for t, frame in enumerate(frames):
            stack[t] = np.clip(np.rint(_aligned(frame, target)), 0, 255)
        target = _median(stack)
    return modelled(stack, target)


def _drifts(stack: Bytes, target: Image) -> bool:
    """Return whether tone or tint of the still parts strays from `target` in some frame by more than a level or two."""
    off = stack[:, ::6, ::6].astype(np.int16) - target[::6, ::6].astype(np.int16)
    middle = np.median(off, axis=(1, 2))
    spread = np.median(np.abs(off - middle[:, None, None]), axis=(1, 2))
    return bool(np.abs(middle).max() > DRIFT or spread.max() > DRIFT)


def thresholds(stack: Bytes, background: Image) -> Image:
    """Return the least difference (h, w, 3) that counts at each pixel and channel [levels], from the pixel's own noise.

    The noise is the smaller of what the pixel strays from the background and 2.5 times what it changes between frames a
    quarter of a second or so apart: an object that rests on a pixel must not pass for its noise.
    """
    pick = np.unique(np.linspace(0, len(stack) - 1, min(31, len(stack))).round().astype(int))
    samples = stack[pick].astype(np.int16)
    away = _middle(np.abs(samples - np.rint(background).astype(np.int16)))
    noise = away if len(pick) < 3 else np.minimum(away, 1.77 * _middle(np.abs(np.diff(samples, axis=0))))
    noise = cv2.blur(cv2.dilate(1.4826 * noise, np.ones((3, 3), np.uint8)), (3, 3))
    return np.maximum(np.array([LUMA, CHROMA, CHROMA], dtype=np.float32), SIGMAS * noise).astype(np.float32)


def _middle(values: NDArray[np.generic]) -> Image:
    """Return the upper median of `values` (T, ...) over time."""
    k = len(values) // 2
    return np.asarray(np.partition(values, k, axis=0)[k], dtype=np.float32)


def foreground(world: Scene, t: int) -> Mask:
    """Return the pixels (h, w) of frame `t` that are neither background nor a soft shadow on it."""
    dim, size = world.difference(t)
    strong = size > 1.0
    ratio = 1.0 + dim / np.maximum(world.background[..., 0], 1.0)
    shade = strong & (dim < 0) & (ratio > SHADOW) & (_chroma(world, t) < SHADOW_CHROMA)
    strong &= ~(shade & (ratio > FAINT))
    return clean(_without_shadows(strong, shade & strong, dim))


def _chroma(world: Scene, t: int) -> Image:
    """Return the change of chroma (h, w) beyond what dimming alone does [thresholds]."""
    now, still = world.stack[t].astype(np.float32), world.background
    ratio = np.clip(now[..., :1] / np.maximum(still[..., :1], 1.0), 0.0, 1.0)
    d = now[..., 1:] - (128.0 + (still[..., 1:] - 128.0) * ratio)
    return np.sqrt(np.sum((d / world.threshold[..., 1:]) ** 2, axis=-1))


def _without_shadows(strong: Mask, shade: Mask, dim: Image) -> Mask:
    """Return `strong` without the regions that are dimmed all over and have a soft outline: cast shadows."""
    count, labels = cv2.connectedComponents(strong.astype(np.uint8), connectivity=8)
    if count < 2 or not shade.any():
        return strong
    steep = cv2.magnitude(cv2.Sobel(dim, cv2.CV_32F, 1, 0), cv2.Sobel(dim, cv2.CV_32F, 0, 1)) / 8.0
    rim = strong & ~(cv2.erode(strong.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0)
    flat = labels.ravel()
    pixels = np.maximum(np.bincount(flat, minlength=count), 1)
    dimmed = np.bincount(flat, weights=shade.ravel(), minlength=count) / pixels
    depth = np.maximum(np.bincount(flat, weights=-dim.ravel(), minlength=count) / pixels, 1e-6)
    edge = np.bincount(labels[rim], weights=steep[rim], minlength=count).astype(float)
    edge = edge / np.maximum(np.bincount(labels[rim], minlength=count), 1)
    soft = (dimmed > ALL_OVER) & (edge < SOFT * depth)
    soft[0] = False
    return strong & ~soft[labels]


def clean(mask: Mask) -> Mask:
    """Return `mask` without specks and threads, with its small gaps closed and its holes filled."""
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5))
    m = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, cv2.getStructuringElement(cv2.MORPH_CROSS, (3, 3)))
    m = cv2.morphologyEx(m, cv2.MORPH_CLOSE, disc)
    outlines, _ = cv2.findContours(m, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    cv2.drawContours(m, outlines, -1, 1, cv2.FILLED)
    # strings and cracks go, the corners of thick bodies stay; beyond the border everything goes on
    wide = cv2.copyMakeBorder(m, 4, 4, 4, 4, cv2.BORDER_REPLICATE)
    thick = cv2.dilate(cv2.morphologyEx(wide, cv2.MORPH_OPEN, disc), np.ones((3, 3), np.uint8))[4:-4, 4:-4]
    return (m > 0) & (thick > 0)
