"""Connected regions of the foreground of one frame, and what they look like.

Conventions
-----------
A region is a mask (bh, bw) with the row and column of its first pixel on the working grid.  A look is three normalized
histograms (Y in 16 bins, Cr and Cb in 32 bins each); two looks are compared by their Hellinger distance in [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from pvbench_suite.perception.embedded.frames import Bytes, Floats
from pvbench_suite.perception.embedded.toning import Mask

#: Least area of a region as a share of the picture, in pixels, and the least radius of a disc that fits inside [px].
AREA, PIXELS, INSCRIBED = 1e-4, 14, 2.4
#: Histograms are smoothed by this: a tint that is off by a level or two is the same tint.
SMOOTH = np.array([1.0, 4.0, 6.0, 4.0, 1.0]) / 16.0


@dataclass(frozen=True, eq=False)
class Region:
    """A set of pixels of one frame with its look.

    `corner` is (row, column) of ``mask[0, 0]``; `centre` (x, y) and `area` are in pixels of the working grid;
    `whole` is
    false when the region is the visible part of an object, or its share of a region that several objects make.
    """

    corner: tuple[int, int]
    mask: Mask
    centre: Floats
    area: int
    look: Floats
    whole: bool = True

    @property
    def diameter(self) -> float:
        """Diameter of the disc of the same area [px]."""
        return float(2.0 * np.sqrt(self.area / np.pi))

    def paste(self, size: tuple[int, int], shift: tuple[int, int] = (0, 0)) -> Mask:
        """Return the region on a picture of `size` = (h, w), moved by `shift` = (rows, columns), cut at the border."""
        out = np.zeros(size, dtype=bool)
        r, c = self.corner[0] + shift[0], self.corner[1] + shift[1]
        bh, bw = self.mask.shape
        r0, r1, c0, c1 = max(r, 0), min(r + bh, size[0]), max(c, 0), min(c + bw, size[1])
        if r0 < r1 and c0 < c1:
            out[r0:r1, c0:c1] = self.mask[r0 - r : r1 - r, c0 - c : c1 - c]
        return out


def look_of(pixels: Bytes) -> Floats:
    """Return the look (80,) of `pixels` (n, 3) YCrCb."""
    y = np.bincount(pixels[:, 0] >> 4, minlength=16)[:16]
    # chroma of natural pictures lives in the middle half of its range: 32 bins of 4 levels there
    parts = [y.astype(float)]
    for c in (1, 2):
        bins = np.clip((pixels[:, c].astype(np.int16) - 64) // 4, 0, 31)
        parts.append(np.bincount(bins, minlength=32).astype(float))
    smooth = [np.convolve(p, SMOOTH, mode="same") for p in parts]
    return np.concatenate([p / max(p.sum(), 1e-9) for p in smooth])


def unlike(a: Floats, b: Floats) -> float:
    """Return how different two looks are, in [0, 1]; chroma counts twice luma, which shading changes."""
    root = np.sqrt(a * b)
    parts = np.array([root[:16].sum(), root[16:48].sum(), root[48:].sum()])
    return float(np.sqrt(np.clip(1.0 - parts @ np.array([0.2, 0.4, 0.4]), 0.0, 1.0)))


def likelihood(look: Floats, pixels: Bytes) -> Floats:
    """Return the log likelihood (n,) of `pixels` (n, 3) under `look`."""
    y = look[:16][pixels[:, 0] >> 4]
    cr = look[16:48][np.clip((pixels[:, 1].astype(np.int16) - 64) // 4, 0, 31)]
    cb = look[48:][np.clip((pixels[:, 2].astype(np.int16) - 64) // 4, 0, 31)]
    return np.asarray(np.log(y + 0.02) + np.log(cr + 0.02) + np.log(cb + 0.02))


def region_of(mask: Mask, image: Bytes, whole: bool = True) -> Region:
    """Return the region of the true pixels of `mask` (h, w), which must not be empty, in `image` (h, w, 3) YCrCb."""
    rows, columns = np.nonzero(mask)
    r0, c0 = int(rows.min()), int(columns.min())
    crop = mask[r0 : int(rows.max()) + 1, c0 : int(columns.max()) + 1].copy()
    centre = np.array([columns.mean(), rows.mean()])
    core = (
        cv2.erode(crop.astype(np.uint8), np.ones((3, 3), np.uint8), borderType=cv2.BORDER_CONSTANT, borderValue=0) > 0
    )
    inner = core if core.sum() >= 8 else crop
    pixels = image[r0 : r0 + crop.shape[0], c0 : c0 + crop.shape[1]][inner]
    return Region((r0, c0), crop, centre, len(rows), look_of(pixels), whole)


def regions(foreground: Mask, image: Bytes) -> list[Region]:
    """Return the connected regions of `foreground` (h, w) large and thick enough to be bodies, largest first."""
    count, labels, stats, _ = cv2.connectedComponentsWithStats(foreground.astype(np.uint8), connectivity=8)
    least = max(PIXELS, AREA * foreground.size)
    thick = cv2.distanceTransform(np.pad(foreground, 1, mode="edge").astype(np.uint8), cv2.DIST_L2, 3)[1:-1, 1:-1]
    found = []
    for k in range(1, count):
        x, y, w, h, area = (int(v) for v in stats[k])
        box = (slice(y, y + h), slice(x, x + w))
        here = labels[box] == k
        if area < least or float(thick[box][here].max()) < INSCRIBED:
            continue
        full = np.zeros(foreground.shape, dtype=bool)
        full[box] = here
        found.append(region_of(full, image))
    return sorted(found, key=lambda r: (-r.area, r.corner))


def solidity(region: Region) -> float:
    """Return the share of its convex hull that `region` fills, in (0, 1]."""
    points = np.argwhere(region.mask)[:, ::-1].astype(np.int32)
    hull = cv2.convexHull(points)
    # pixels are squares: a hull through their centres misses half a pixel all round
    area = cv2.contourArea(hull) + 0.5 * cv2.arcLength(hull, True) + 1.0
    return float(min(1.0, region.area / max(area, 1.0)))


def union(a: Region, b: Region, image: NDArray[np.uint8]) -> Region:
    """Return the region of all pixels of `a` and `b`."""
    size = (image.shape[0], image.shape[1])
    return region_of(a.paste(size) | b.paste(size), image, a.whole and b.whole)


def merged(a: Region, b: Region) -> Region:
    """Return two parts of one object, which do not overlap, as one part."""
    corner = (min(a.corner[0], b.corner[0]), min(a.corner[1], b.corner[1]))
    ends = [(r.corner[0] + r.mask.shape[0], r.corner[1] + r.mask.shape[1]) for r in (a, b)]
    mask = np.zeros((max(e[0] for e in ends) - corner[0], max(e[1] for e in ends) - corner[1]), dtype=bool)
    for r in (a, b):
        y, x = r.corner[0] - corner[0], r.corner[1] - corner[1]
        mask[y : y + r.mask.shape[0], x : x + r.mask.shape[1]] |= r.mask
    share = a.area / (a.area + b.area)
    centre = share * a.centre + (1.0 - share) * b.centre
    return Region(corner, mask, centre, a.area + b.area, share * a.look + (1.0 - share) * b.look, whole=False)


def shape_match(a: Region, b: Region) -> float:
    """Return how well `a` covers `b` once it is moved and scaled onto it (intersection over union), in [0, 1]."""
    k = float(np.sqrt(b.area / a.area))
    h, w = a.mask.shape
    size = (max(1, round(w * k)), max(1, round(h * k)))
    scaled = cv2.resize(a.mask.astype(np.uint8), size, interpolation=cv2.INTER_LINEAR_EXACT) > 0
    span = 2 * max(*scaled.shape, *b.mask.shape) + 3

    def centred(mask: Mask) -> Mask:
        rows, columns = np.nonzero(mask)
        out = np.zeros((span, span), dtype=bool)
        out[rows - round(rows.mean()) + span // 2, columns - round(columns.mean()) + span // 2] = True
        return out

    p, q = centred(scaled), centred(b.mask)
    return float(int(np.count_nonzero(p & q)) / max(int(np.count_nonzero(p | q)), 1))
