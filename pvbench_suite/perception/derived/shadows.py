"""The main cast shadow: the dark patch of the ground that begins at a body's foot.

Conventions
-----------
Pictures hold levels in proportion to light.  The ground is seen on a grid in its own plane, one frame at a time, so
that a shadow has its true shape; lengths are in world units.  A patch is dark when it is dimmer than the ground's usual
brightness by more than the ground's own paint explains, at about its hue.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import label, map_coordinates, median_filter

from pvbench_suite.perception.derived.gaps import Bodily
from pvbench_suite.perception.derived.scene import Bools, Floats, Scene
from pvbench_suite.perception.derived.surroundings import Plane, Surroundings

#: A shadow is dimmer than this share of the ground's brightness, and at most this far in hue (log ratio of channels).
DARK, HUE = 0.62, 0.25
#: Least length of a shadow, in radii of its body.
LEAST = 1.0
#: Cells of the ground's grid per radius of the body, and how far it reaches [radii].
_FINE, _FAR = 6.0, 9.0
#: A shadow begins within this many radii of the foot; fewest cells of ground that tell its usual brightness.
_NEAR, _CELLS = 2.0, 100


def shadow(seen: Scene, bodily: Bodily, around: Surroundings, pictures: list[Floats]) -> Floats:
    """Return base to tip (T, 3) of the main cast shadow, NaN rows where none is seen.

    The main one is that of the body whose shadow is seen in most frames, and of these the longest.
    """
    T, N = bodily.centre.shape[:2]
    none = np.full((T, 3), np.nan)
    level = [p for p in around.planes if p.equation[:3] @ -around.down > 0.98]
    best: tuple[float, Floats] = (0.0, none)
    for n in range(N):
        for plane in level:
            found = np.full((T, 3), np.nan)
            gap, tolerance = bodily.to_plane(n, plane)
            for t in np.flatnonzero(np.isfinite(gap) & (gap <= tolerance)).tolist():
                found[t] = _cast(seen, t, n, bodily, plane, pictures[t])
            known = np.isfinite(found[:, 0])
            worth = float(known.sum()) * float(np.median(np.linalg.norm(found[known], axis=1))) if known.any() else 0.0
            if worth > best[0]:
                best = (worth, found)
    return best[1]


def _cast(seen: Scene, t: int, n: int, bodily: Bodily, plane: Plane, picture: Floats) -> Floats:
    """Return base to tip (3,) of the shadow that body `n` casts on a plane in a frame, NaN where none is seen."""
    normal, radius = plane.equation[:3], float(bodily.radius[n])
    foot = bodily.centre[t, n] - plane.above(bodily.centre[t, n]) * normal
    ahead = seen.Tcw[t, :3, 2] - (seen.Tcw[t, :3, 2] @ normal) * normal
    ahead /= np.linalg.norm(ahead)
    axes = np.stack([np.cross(ahead, normal), ahead])
    step = np.arange(-_FAR * radius, _FAR * radius + 1e-9, radius / _FINE)
    spread = np.stack(np.meshgrid(step, step, indexing="ij"), axis=-1)
    bright, known = _ground(seen, t, foot + spread @ axes, plane, picture)
    way = _farthest(_dark(bright, known), spread, radius)
    return np.full(3, np.nan) if way is None else np.asarray(way @ axes)


def _dark(bright: Floats, known: Bools) -> Bools:
    """Return the cells (n, n) of the ground that are in shadow: dim at about the ground's own hue."""
    if known.sum() < _CELLS:
        return np.zeros_like(known)
    share = bright / np.median(bright[known], axis=0)
    hue = np.log(np.maximum(share, 1e-3))
    even = np.ptp(hue, axis=-1) < 2.0 * HUE
    return np.asarray(median_filter((known & (share.mean(axis=-1) < DARK) & even).astype(np.uint8), 3) > 0)


def _farthest(dark: Bools, spread: Floats, radius: float) -> Floats | None:
    """Return the far end (2,) of the largest dark patch that begins near the foot, in the ground's axes, or None.

    What the body itself hides of the ground round its foot may part the shadow from it.  A patch that reaches the end
    of the grid has no end that is seen.
    """
    parts, _ = label(dark)
    away = np.linalg.norm(spread, axis=-1)
    near = np.unique(parts[(away < _NEAR * radius) & dark])
    if not len(near):
        return None
    mine = parts == near[int(np.argmax([(parts == k).sum() for k in near]))]
    tip = mine & (away >= np.percentile(away[mine], 97))
    way = spread[tip].mean(axis=0)
    cut = np.abs(way).max() > (_FAR - 1.0) * radius
    return None if cut or np.linalg.norm(way) < LEAST * radius else np.asarray(way)


def _ground(seen: Scene, t: int, x: Floats, plane: Plane, picture: Floats) -> tuple[Floats, Bools]:
    """Return the brightness (..., 3) of the plane's points `x` (..., 3), and which of them the frame shows."""
    uv, z = seen.pixels(t, x)
    h, w = seen.cells
    H, W = seen.masks.grid
    row, column = (uv[..., 1] + 0.5) * h / H - 0.5, (uv[..., 0] + 0.5) * w / W - 0.5
    inside = np.isfinite(z) & (row > 0) & (row < h - 1) & (column > 0) & (column < w - 1)
    i, j = np.where(inside, np.rint(row), 0).astype(int), np.where(inside, np.rint(column), 0).astype(int)
    depth = seen.depth(t)
    shown = np.abs(plane.above(seen.world(t, depth[..., None] * seen.cell_rays))) < 0.01 * depth
    known = inside & seen.free(t)[i, j] & shown[i, j] & (np.abs(depth[i, j] / np.where(inside, z, 1.0) - 1.0) < 0.06)
    y, c = (uv[..., 1] + 0.5) * picture.shape[0] / H - 0.5, (uv[..., 0] + 0.5) * picture.shape[1] / W - 0.5
    y, c = np.where(inside, y, 0.0), np.where(inside, c, 0.0)
    bright = np.stack([map_coordinates(picture[..., k], [y, c], order=1, mode="nearest") for k in range(3)], axis=-1)
    return bright, known
