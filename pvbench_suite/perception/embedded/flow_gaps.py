"""Where flow is not known: what the two frames do not show, and what the method cannot find.

Conventions
-----------
As `dense_flow`.  Every judgement is made from the pictures and from one direction's flow alone: none compares the flow
forth with the flow back, so that none removes what R17 should charge.
"""

from __future__ import annotations

import cv2
import numpy as np

from pvbench_suite.perception.embedded.dense_flow import (
    NOISE,
    PATCH,
    RESOLVED,
    STILL,
    UNCHANGED,
    Field,
    Image,
    Mask,
    warp,
)

#: Mean difference from which on nothing matches at all [levels, sum of channels].
ALIEN = 40.0
#: A jump between neighbours: pixels, and share of the motion around; share of jumps that makes a place chaotic.
JUMP, CHAOS = (1.0, 0.25), 0.3
#: Window in which structure is judged [px], least slope across an edge [levels/px], and the squared slope along it as
#: a share of that across, below which an edge is straight and bare.
WINDOW, SLOPE, STRAIGHT = 11, 5.0, 0.05


def covered(flow: Field) -> Mask:
    """Return the pixels (h, w) of the target of `flow` on which less than half a pixel of its origin lands."""
    h, w = flow.shape[:2]
    y, x = np.mgrid[:h, :w].astype(np.float32)
    x, y = x + np.nan_to_num(flow[..., 0], nan=1e6), y + np.nan_to_num(flow[..., 1], nan=1e6)
    left, top = np.floor(x), np.floor(y)
    landed = np.zeros(h * w)
    for dx in (0, 1):
        for dy in (0, 1):
            column, row = left + dx, top + dy
            weight = (1 - np.abs(x - column)) * (1 - np.abs(y - row))
            ok = (column >= 0) & (column < w) & (row >= 0) & (row < h)
            landed += np.bincount((row[ok] * w + column[ok]).astype(np.intp), weights=weight[ok], minlength=h * w)
    return np.asarray((landed < 0.5).reshape(h, w))


def unchanged(a: Image, b: Image, noise: float) -> Mask:
    """Return the pixels (h, w) whose neighbourhood is the same in `a` and `b`."""
    return np.asarray(cv2.blur(np.abs(a - b).sum(axis=-1), (3, 3)) < UNCHANGED + NOISE * noise)


def unmatched(a: Image, b: Image, flow: Field, noise: float) -> Mask:
    """Return the pixels (h, w) of `a` that look like nothing in `b`, not even what `flow` found best."""
    off = cv2.blur(np.abs(a - warp(b, flow)).sum(axis=-1), (PATCH, PATCH))
    return np.asarray(off > ALIEN + NOISE * noise)


def thin(flow: Field) -> Mask:
    """Return the moving pixels (h, w) of structures too thin for the matched neighbourhood: strings, twigs, seams."""
    moving = (np.hypot(flow[..., 0], flow[..., 1]) > STILL).astype(np.uint8)
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (PATCH + 2, PATCH + 2))
    thick = cv2.dilate(cv2.morphologyEx(moving, cv2.MORPH_OPEN, disc), np.ones((3, 3), np.uint8))
    return np.asarray((moving > 0) & (thick == 0))


def chaotic(flow: Field) -> Mask:
    """Return the pixels (h, w) around which `flow` jumps from pixel to pixel: its matches are chance, not motion."""
    f = np.nan_to_num(flow)
    jump = np.abs(np.diff(f, axis=0, append=f[-1:])).sum(axis=-1) + np.abs(np.diff(f, axis=1, append=f[:, -1:])).sum(
        axis=-1
    )
    size = cv2.blur(np.hypot(f[..., 0], f[..., 1]), (7, 7))
    rough = cv2.blur((jump > JUMP[0] + JUMP[1] * size).astype(np.float32), (7, 7))
    return np.asarray(rough > CHAOS)


def sliding(image: Image, flow: Field) -> Mask:
    """Return the pixels (h, w) of straight bare edges that `flow` moves along themselves.

    Such motion cannot be seen (the aperture problem): stripes of a blind, a seam, a rod.  Flat ground is not meant: it
    takes its motion from its surroundings.
    """
    y = np.ascontiguousarray(image[..., 0])
    gx, gy = cv2.Sobel(y, cv2.CV_32F, 1, 0) / 8, cv2.Sobel(y, cv2.CV_32F, 0, 1) / 8
    xx, yy, xy = (cv2.blur(p, (WINDOW, WINDOW)) for p in (gx * gx, gy * gy, gx * gy))
    mean, half = 0.5 * (xx + yy), np.sqrt(0.25 * (xx - yy) ** 2 + xy**2)
    across = 0.5 * np.arctan2(2 * xy, xx - yy)
    along = np.abs(np.cos(across) * flow[..., 1] - np.sin(across) * flow[..., 0])
    edge = (mean + half > SLOPE**2) & (mean - half < STRAIGHT * (mean + half))
    return np.asarray(edge & (along > RESOLVED))


def unknown(a: Image, b: Image, flow: Field, noise: float) -> Mask:
    """Return the pixels (h, w) of `a` where `flow` to `b` is no measurement."""
    return thin(flow) | unmatched(a, b, flow, noise) | chaotic(flow) | sliding(a, flow)
