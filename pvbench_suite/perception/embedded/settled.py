"""The colour that a pixel keeps coming back to, where the median over time is a colour that it never rests at.

Conventions
-----------
Samples are (K, h, w, 3) uint8 Y, Cr, Cb over time.  An object that lingers about a place covers its pixels for more
than half of the clip, each with another spot of the object at another time: their median is a mixture that is in no
frame.  The bare background, seen for less than half of the clip, is the same each time.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from pvbench_suite.perception.embedded.frames import Bytes
from pvbench_suite.perception.embedded.toning import Image, Mask

#: Two samples are of one colour when no channel differs by more than this [levels].
AT = 6
#: The median stands where this share of the samples are of its colour; another replaces it with at least this share.
MOST, LEAST = 0.5, 0.15
#: How far the surroundings are asked [px], and how much nearer to them the second colour must be to be preferred.
AROUND, NEARER = 10.0, 0.5
#: Pixels worked on at a time.
_CHUNK = 16384


def settled(samples: Bytes, median: Image) -> Image:
    """Return `median` (h, w, 3) with the pixels that are seldom of that colour set to the one that they return to.

    That is the most frequent colour; the second, where it is much more like the settled surroundings: the flat side of
    an object that lingers may be there more often than the ground.
    """
    if len(samples) < 8:
        return median
    held = np.zeros(median.shape[:2], dtype=np.float32)
    middle = np.rint(median).astype(np.int16)
    for frame in samples:
        held += (np.abs(frame.astype(np.int16) - middle) <= AT).all(axis=-1)
    held /= len(samples)
    sure = held >= MOST
    pixels = np.flatnonzero(~sure.ravel())
    near = _surroundings(median, sure).reshape(-1, 3)
    out = median.reshape(-1, 3).copy()
    for start in range(0, len(pixels), _CHUNK):
        part = pixels[start : start + _CHUNK]
        values = samples.reshape(len(samples), -1, 3)[:, part].astype(np.int16)
        colour, share, same = densest(values, np.ones(values.shape[:2], dtype=bool))
        other, second, _ = densest(values, ~same)
        far, close = (np.linalg.norm(c - near[part], axis=-1) for c in (colour, other))
        rather = (second >= LEAST) & (close < NEARER * far)
        colour[rather], share[rather] = other[rather], second[rather]
        better = (share >= LEAST) & ((share > held.ravel()[part]) | rather)
        out[part[better]] = colour[better]
    return np.asarray(out.reshape(median.shape))


def _surroundings(median: Image, sure: Mask) -> Image:
    """Return the mean (h, w, 3) of the `sure` pixels about each pixel."""
    weight = cv2.GaussianBlur(sure.astype(np.float32), (0, 0), AROUND) + 1e-4
    return np.asarray(cv2.GaussianBlur(median * sure[..., None], (0, 0), AROUND) / weight[..., None])


def densest(values: NDArray[np.int16], use: NDArray[np.bool_]) -> tuple[Image, Image, NDArray[np.bool_]]:
    """Return the most frequent colour (P, 3) of the samples `values` (K, P, 3) in `use` (K, P).

    It comes with its share (P,) of all samples, and which samples (K, P) are of it: it is the mean of those that are of
    one colour with the sample that has most such.
    """
    count = np.zeros(values.shape[:2], dtype=np.int16)
    # channel by channel: a reduction over three neighbours in memory costs several times as much
    planes = [np.ascontiguousarray(values[..., c]) for c in range(values.shape[-1])]
    for k in range(len(values)):
        alike = use.copy()
        for plane in planes:
            alike &= np.abs(plane - plane[k]) <= AT
        count[k] = alike.sum(axis=0)
    best = np.where(use, count, -1).argmax(axis=0)
    centre = np.take_along_axis(values, best[None, :, None], axis=0)
    same = (np.abs(values - centre) <= AT).all(axis=-1) & use
    number = same.sum(axis=0)
    colour = (values * same[..., None]).sum(axis=0) / np.maximum(number, 1)[:, None]
    return colour.astype(np.float32), (number / len(values)).astype(np.float32), same
