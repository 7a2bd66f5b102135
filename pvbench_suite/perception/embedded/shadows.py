"""Which pixels of a frame are neither background nor a soft shadow on it, tidied up.

Conventions
-----------
A shadow dims what lies under it and keeps its chroma, and its outline is soft.  Differences are in thresholds of the
scene (`background.py`).
"""

from __future__ import annotations

import cv2
import numpy as np

from pvbench_suite.perception.embedded.background import Image, Mask, Scene

#: A shadow dims to this ratio at most and keeps its chroma within this many thresholds; a faint one is never a body.
SHADOW, SHADOW_CHROMA, FAINT = 0.5, 1.0, 0.9
#: A shadow is dimmed all over (share of its pixels), with an outline softer than this share of its depth per pixel.
ALL_OVER, SOFT = 0.85, 0.25
#: Halos are sought this near to the outline [px], and differ by less than this share of what lies beside them.
HALO, EDGE = 3, 0.33


def foreground(world: Scene, t: int) -> Mask:
    """Return the pixels (h, w) of frame `t` that are neither background nor a soft shadow on it."""
    dim, size = world.difference(t)
    strong = size > 1.0
    ratio = 1.0 + dim / np.maximum(world.background[..., 0], 1.0)
    shade = strong & (dim < 0) & (ratio > SHADOW) & (_chroma(world, t) < SHADOW_CHROMA)
    strong &= ~(shade & (ratio > FAINT))
    strong = _without_shadows(strong, shade & strong, dim)
    if world.shown is None:
        return _trimmed(clean(strong), size)
    # beyond the border of the frame everything goes on, as in `clean`
    shown = world.shown[t]
    beyond = cv2.dilate((strong & shown).astype(np.uint8), np.ones((9, 9), np.uint8)) > 0
    return _trimmed(clean(np.where(shown, strong, beyond)), np.where(shown, size, 0.0)) & shown


def _trimmed(mask: Mask, size: Image) -> Mask:
    """Return a clean `mask` without the halo that blur and a codec draw around what differs much.

    The edge of a blurred body lies where it differs half as much as inside; below a third it is halo or smear.
    """
    m = mask.astype(np.uint8)
    peak = cv2.dilate(cv2.blur(size, (3, 3)), np.ones((9, 9), np.uint8))
    inner = cv2.erode(m, np.ones((2 * HALO + 1,) * 2, np.uint8)) > 0
    m = (mask & (inner | (size >= EDGE * peak))).astype(np.uint8)
    return cv2.morphologyEx(m, cv2.MORPH_OPEN, cv2.getStructuringElement(cv2.MORPH_CROSS, (3, 3))) > 0


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
