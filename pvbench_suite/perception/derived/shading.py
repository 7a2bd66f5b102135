"""Product `shading`: brightness and normals of static points of many orientations, and the main cast shadow.

What the picture shows is shading times the paint's own brightness.  Each smooth surface is given a paint of its own,
which is fitted together with the light: so a flat wall says nothing of the light, and a round thing says all.  Paint
that varies over a surface is noise, which many points even out; what is left turns the light by some degrees, the same
in every frame (docs/perception.md says how many).  Points in shadow are dim and are left to the fit, which uses lit
points only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import label

from pvbench_suite.perception.derived.gaps import Bodily
from pvbench_suite.perception.derived.scene import Floats, Scene, facing, scene
from pvbench_suite.perception.derived.shadows import DARK, HUE, LEAST, shadow
from pvbench_suite.perception.derived.surroundings import surroundings
from pvbench_suite.perception.protocol import Parameter
from pvbench_suite.perception.types import Shading
from pvbench_suite.video.types import Clip

#: Directions into which normals are sorted, most points of each on one surface and on all, fewest cells of a surface.
BINS, EACH, ALL, CELLS = 96, 5, 8, 20
#: Frames in which points are sought, and rounds in which light and paint are told apart.
FRAMES, ROUNDS = 3, 12
#: A point is where its depth says, within this share of it; its surface is smooth within this share of its depth.
SAME, SMOOTH = 0.02, 0.004
#: The exponent that makes picture levels proportional to light.
GAMMA = 2.2


@dataclass(frozen=True)
class PictureShading:
    """Shading from the pictures at static points whose normals the depth tells."""

    name: str = "derived-shading@1"
    product: str = "shading"
    needs: tuple[str, ...] = ("masks", "depth", "cameras", "bodies")
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "bins": BINS, "each": EACH, "all": ALL, "cells": CELLS, "frames": FRAMES, "rounds": ROUNDS, "same": SAME,
        "smooth": SMOOTH, "gamma": GAMMA, "dark": DARK, "hue": HUE, "least": LEAST,
    }  # fmt: skip

    def __call__(self, clip: Clip, records: Mapping[str, Any]) -> Shading:
        """Return the shading of static points and the main cast shadow."""
        seen = scene(records["masks"], records["depth"], records["cameras"])
        around = surroundings(seen)
        points, normals, surface = _points(seen)
        T = len(seen.times)
        frame = np.abs(np.asarray(clip.times)[None, :] - seen.times[:, None]).argmin(axis=1)
        bright = np.full((T, len(points)), np.nan)
        for t in range(T):
            bright[t] = _bright(seen, t, points, linear(clip, int(frame[t])))
        return Shading(
            seen.times,
            np.broadcast_to(normals, (T, *normals.shape)).copy(),
            _even(normals, bright, surface),
            -around.down,
            shadow(seen, Bodily(seen, records["bodies"]), around, [linear(clip, int(k)) for k in frame]),
        )


def linear(clip: Clip, k: int) -> Floats:
    """Return the pixels (h, w, 3) of frame `k` in proportion to light, in [0, 1]."""
    return np.asarray((clip.frames[k].astype(float) / 255.0) ** GAMMA)


def _points(seen: Scene) -> tuple[Floats, Floats, Floats]:
    """Return static world points (P, 3) of many orientations, their normals (P, 3), and their surfaces (P,).

    A surface is a smooth connected patch of one frame: a wall, a side of a crate, a ball.
    """
    T, rng = len(seen.times), np.random.default_rng(23)
    points, normals, surface = [], [], []
    count = 0
    for t in np.unique(np.linspace(0, T - 1, min(FRAMES, T)).astype(int)).tolist():
        x, n, which = smooth_cells(seen, t)
        points.append(seen.world(t, x))
        normals.append(n @ seen.Tcw[t, :3, :3].T)
        surface.append(which + count)
        count += int(which.max(initial=0)) + 1
    x, n, which = np.concatenate(points), np.concatenate(normals), np.concatenate(surface)
    size = np.bincount(which, minlength=count)
    order = rng.permutation(np.flatnonzero(size[which] >= CELLS))
    kind = (n @ _directions().T).argmax(axis=1)
    # First so many of each direction on each surface, then of each direction: what is round shows most directions.
    order = _few(order, kind[order] + BINS * which[order], EACH)
    order = rng.permutation(order)
    chosen = np.sort(_few(order, kind[order], ALL))
    return x[chosen], n[chosen], which[chosen]


def _few(order: NDArray[np.intp], kind: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Return the indices `order` without those of a `kind` that `most` before them are of."""
    sort = np.argsort(kind, kind="stable")
    rank = np.empty(len(kind), dtype=np.intp)
    rank[sort] = np.arange(len(kind)) - np.searchsorted(kind[sort], kind[sort])
    return order[rank < most]


def _even(normals: Floats, bright: Floats, surface: Floats) -> Floats:
    """Return the brightness (T, P) with each surface's own paint taken out, as far as the light tells it.

    In turn the light of every frame is fitted to all points, and each surface's paint to the light, both by medians and
    Huber weights.  A flat surface says nothing of the light once its paint is free; what is round does.
    """
    T, P = bright.shape
    kinds, index = np.unique(surface, return_inverse=True)
    paint = np.ones(len(kinds))
    design = np.column_stack([normals, np.ones(P)])
    for _ in range(ROUNDS):
        even = bright / paint[index]
        fit = np.full((T, P), np.nan)
        for t in range(T):
            c = _light(design, even[t])
            fit[t] = np.where(design @ c > 0.5 * c[3], design @ c, np.nan) if c is not None else np.nan
        with np.errstate(invalid="ignore"):
            ratio = bright / fit
        for k in range(len(kinds)):
            mine = ratio[:, index == k]
            mine = mine[np.isfinite(mine)]
            # A surface of few points keeps near the others' paint.
            if len(mine):
                paint[k] = np.exp((len(mine) / T * np.log(np.median(mine))) / (len(mine) / T + 3.0))
    return np.asarray(bright / paint[index])


def _light(design: Floats, s: Floats) -> Floats | None:
    """Return light and ambient (4,) of the lit points, or None with too few."""
    use = np.isfinite(s)
    if use.sum() < 12:
        return None
    use &= s >= np.median(s[use])
    weight = np.ones(len(s))
    c: Floats = np.zeros(4)
    for _ in range(6):
        root = np.sqrt(weight[use])
        c = np.asarray(np.linalg.lstsq(design[use] * root[:, None], s[use] * root, rcond=1e-6)[0], dtype=float)
        off = np.abs(s - design @ c)
        scale = 1.4826 * float(np.median(off[use])) + 1e-9
        weight = np.minimum(1.0, 1.5 * scale / np.maximum(off, 1e-12))
        use = np.isfinite(s) & (design[:, :3] @ c[:3] > 0.1 * float(np.linalg.norm(c[:3])))
        if use.sum() < 12:
            return None
    return np.asarray(c)


def _directions() -> Floats:
    """Return evenly spread unit vectors (BINS, 3): a Fibonacci lattice."""
    k = np.arange(BINS) + 0.5
    z, angle = 1.0 - 2.0 * k / BINS, np.pi * (1.0 + 5.0**0.5) * k
    r = np.sqrt(1.0 - z * z)
    return np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1)


def smooth_cells(seen: Scene, t: int) -> tuple[Floats, Floats, Floats]:
    """Return points (k, 3), normals (k, 3) toward the camera and numbers (k,) of the background's smooth surfaces.

    Both are in the camera's frame.  Inverse depth is linear over a plane, so that its second differences show edges.
    """
    z = np.where(seen.free(t), seen.depth(t), np.nan)
    x, inverse = z[..., None] * seen.cell_rays, 1.0 / z
    normal, bend = facing(x), np.full(z.shape, np.inf)
    across = np.abs(inverse[1:-1, 2:] + inverse[1:-1, :-2] - 2.0 * inverse[1:-1, 1:-1])
    along = np.abs(inverse[2:, 1:-1] + inverse[:-2, 1:-1] - 2.0 * inverse[1:-1, 1:-1])
    bend[1:-1, 1:-1] = np.fmax(across, along) * z[1:-1, 1:-1]
    # A surface that is seen along itself has no reliable normal.
    steep = -np.sum(normal * x, axis=-1) / np.linalg.norm(x, axis=-1)
    chosen = np.isfinite(normal).all(axis=-1) & (bend < SMOOTH) & (steep > 0.15)
    parts, _ = label(chosen)
    return x[chosen], normal[chosen], np.asarray(parts[chosen])


def _bright(seen: Scene, t: int, points: Floats, picture: Floats) -> Floats:
    """Return the brightness (P,) of world points in a frame, NaN where they are not seen."""
    uv, z = seen.pixels(t, points)
    h, w = seen.cells
    H, W = seen.masks.grid
    row, column = (uv[:, 1] + 0.5) * h / H - 0.5, (uv[:, 0] + 0.5) * w / W - 0.5
    inside = np.isfinite(z) & (row > -0.5) & (row < h - 0.5) & (column > -0.5) & (column < w - 0.5)
    out = np.full(len(points), np.nan)
    i, j = np.rint(row[inside]).astype(int), np.rint(column[inside]).astype(int)
    free, depth = seen.free(t), seen.depth(t)
    with np.errstate(invalid="ignore"):
        same = free[i, j] & (np.abs(depth[i, j] / z[inside] - 1.0) < SAME)
    gray = cv2.blur(picture @ np.array([0.3, 0.59, 0.11]), (3, 3))
    y = (uv[inside, 1] + 0.5) * gray.shape[0] / H - 0.5
    x = (uv[inside, 0] + 0.5) * gray.shape[1] / W - 0.5
    at = gray[
        np.clip(np.rint(y), 0, gray.shape[0] - 1).astype(int), np.clip(np.rint(x), 0, gray.shape[1] - 1).astype(int)
    ]
    out[inside] = np.where(same, at, np.nan)
    return out
