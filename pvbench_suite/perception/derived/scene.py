"""One clip's masks, depth and cameras brought together: visible surfaces in the camera and in the world.

Conventions
-----------
A ray is the direction (x, y, 1) of a pixel in its camera's frame, so that depth times ray is the point.  A *cell* is a
pixel of the depth's grid.  A cell belongs to an object when the mask covers all of it, to the background when no mask
comes within one cell of it, and to nobody between.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation
from scipy.spatial import cKDTree

from pvbench_suite.perception.types import Cameras, Depth, Masks

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: A cell outside an object that is nearer than the object's edge beside it by this share stands before the object.
BEFORE = 0.03
_RING = np.ones((3, 3), dtype=bool)


def rays(K: Floats, xy: Floats) -> Floats:
    """Return the rays (..., 3) of image points `xy` (..., 2) [px] of a camera with matrix `K`."""
    x, y = (xy[..., 0] - K[0, 2]) / K[0, 0], (xy[..., 1] - K[1, 2]) / K[1, 1]
    return np.stack([x, y, np.ones_like(x)], axis=-1)


def on_grid(K: Floats, hw: tuple[int, int], grid: tuple[int, int]) -> Floats:
    """Return the camera matrix of a grid (rows, columns) that spans the frame `hw` of matrix `K`."""
    sx, sy = grid[1] / hw[1], grid[0] / hw[0]
    return np.array(
        [
            [K[0, 0] * sx, 0.0, (K[0, 2] + 0.5) * sx - 0.5],
            [0.0, K[1, 1] * sy, (K[1, 2] + 0.5) * sy - 0.5],
            [0.0, 0.0, 1.0],
        ]
    )


def facing(x: Floats) -> Floats:
    """Return the unit normals (h, w, 3), toward the camera, of the surface through points `x` (h, w, 3) of a grid.

    By differences of the neighbours to either side; NaN where one of them is missing, and at the grid's edge.
    """
    right, low = np.full(x.shape, np.nan), np.full(x.shape, np.nan)
    right[:, 1:-1], low[1:-1] = x[:, 2:] - x[:, :-2], x[2:] - x[:-2]
    normal = np.cross(low, right)
    length = np.linalg.norm(normal, axis=-1, keepdims=True)
    normal = normal / np.where(length > 0, length, np.nan)
    return np.asarray(-normal * np.sign(np.sum(normal * x, axis=-1, keepdims=True)))


class Scene:
    """Masks, depth and cameras of one clip of T frames and N objects, on common times.

    Attributes
    ----------
    times : (T,) float [s]
    K : (3, 3) float
        Camera matrix of the masks' grid.
    Tcw : (T, 4, 4) float
        Poses, camera to world.
    cell_rays : (h, w, 3) float
        The rays of the depth's grid.
    """

    def __init__(self, masks: Masks, depth: Depth, cameras: Cameras) -> None:
        self.masks, self.names = masks, masks.names
        self.times = np.asarray(masks.times, dtype=float)
        self._z, self._frame = depth.z, _nearest(depth.times, self.times)
        self.K = on_grid(np.asarray(cameras.K, dtype=float), cameras.hw, masks.grid)
        self.Tcw = np.asarray(cameras.Tcw, dtype=float)[_nearest(cameras.times, self.times)]
        h, w = self._z.shape[1:]
        self.cells = (h, w)
        self.cell_rays = rays(np.asarray(depth.K, dtype=float), _grid(h, w))
        self._covered: dict[tuple[int, int], NDArray[np.uint8]] = {}

    def depth(self, t: int) -> Floats:
        """Return the depth (h, w) of frame `t`, NaN where it is missing."""
        z = np.asarray(self._z[self._frame[t]], dtype=float)
        return np.where(np.isfinite(z) & (z > 0), z, np.nan)

    def covered(self, t: int, n: int) -> Floats:
        """Return the share (h, w) of each cell that the mask of object `n` covers."""
        if (t, n) not in self._covered:
            h, w = self.cells
            area = cv2.resize(self.masks.dense(t, n).astype(np.float32), (w, h), interpolation=cv2.INTER_AREA)
            # Bytes, since all frames are kept; what is covered at all is never 0.
            self._covered[t, n] = np.ceil(np.asarray(area) * 255.0 - 1e-3).astype(np.uint8)
        return np.asarray(self._covered[t, n] / 255.0)

    def inside(self, t: int, n: int) -> Bools:
        """Return the cells (h, w) of object `n`: those it covers, or those it covers by half where it is that small."""
        share = self.covered(t, n)
        full = share > 0.995
        return full if full.sum() >= 6 else share >= 0.5

    def free(self, t: int) -> Bools:
        """Return the background's cells (h, w) of frame `t`."""
        taken = np.zeros(self.cells, dtype=bool)
        for n in range(len(self.names)):
            taken |= self.covered(t, n) > 0
        return ~np.asarray(binary_dilation(taken, _RING)) & np.isfinite(self.depth(t))

    def surface(self, t: int, n: int) -> Floats:
        """Return the visible surface points (k, 3) of object `n` in the camera's frame."""
        cells, z = self.inside(t, n), self.depth(t)
        chosen = cells & np.isfinite(z)
        return np.asarray(z[chosen][:, None] * self.cell_rays[chosen])

    def rim(self, t: int, n: int) -> Floats:
        """Return points (k, 3) on the outline of object `n` in the camera's frame: the outermost pixels of its mask.

        Their depth is that of the nearest cell inside the object.
        """
        mask, inside, z = self.masks.dense(t, n), self.inside(t, n), self.depth(t)
        known = inside & np.isfinite(z)
        if not known.any():
            return np.zeros((0, 3))
        # The frame's edge cuts an object: beyond it is outside.
        inner = cv2.erode(np.pad(mask, 1).astype(np.uint8), np.ones((3, 3), dtype=np.uint8))[1:-1, 1:-1]
        edge = mask & (np.asarray(inner) == 0)
        rows, columns = np.nonzero(edge)
        sy, sx = self.cells[0] / mask.shape[0], self.cells[1] / mask.shape[1]
        i = np.minimum((rows + 0.5) * sy, self.cells[0] - 1).astype(int)
        j = np.minimum((columns + 0.5) * sx, self.cells[1] - 1).astype(int)
        a, b = _nearest_true(known, i, j)
        deep = z[a, b]
        return np.asarray(deep[:, None] * rays(self.K, np.stack([columns, rows], axis=-1).astype(float)))

    def ring(self, t: int, n: int) -> tuple[Bools, Floats, Floats]:
        """Return the cells (h, w) just outside object `n`, and how much farther they are than the object beside them.

        Both differences are shares of the object's depth, (h, w), NaN away from the ring: the first of the cell itself,
        the second of the outer surface carried on to the object.  A floor seen at a low angle is far nearer one cell
        before a body's foot than at it; inverse depth is linear over a plane, so that two cells tell it at the foot.
        """
        z, share, inside = self.depth(t), self.covered(t, n), self.inside(t, n)
        known = inside & np.isfinite(z)
        ring = np.asarray(binary_dilation(share > 0, _RING)) & (share == 0) & np.isfinite(z)
        own, carried = np.full(z.shape, np.nan), np.full(z.shape, np.nan)
        if not known.any() or not ring.any():
            return np.zeros_like(ring), own, carried
        i, j = np.nonzero(ring)
        a, b = _nearest_true(known, i, j)
        own[i, j] = z[i, j] / z[a, b] - 1.0
        h, w = self.cells
        beyond = z[np.clip(2 * i - a, 0, h - 1), np.clip(2 * j - b, 0, w - 1)]
        beyond = np.where(np.isfinite(beyond), beyond, z[i, j])
        inverse = np.maximum(2.0 / z[i, j] - 1.0 / beyond, 0.2 / z[i, j])
        carried[i, j] = 1.0 / inverse / z[a, b] - 1.0
        return ring, own, carried

    def world(self, t: int, x: Floats) -> Floats:
        """Return world points (..., 3) of points `x` in the camera's frame."""
        return np.asarray(x @ self.Tcw[t, :3, :3].T + self.Tcw[t, :3, 3])

    def pixels(self, t: int, x: Floats) -> tuple[Floats, Floats]:
        """Return the image points (..., 2) [px of the masks' grid] and depths (...) of world points."""
        local = (x - self.Tcw[t, :3, 3]) @ self.Tcw[t, :3, :3]
        z = np.where(local[..., 2] > 0, local[..., 2], np.nan)
        uv = local[..., :2] / z[..., None] * np.diag(self.K)[:2] + self.K[:2, 2]
        return np.asarray(uv), np.asarray(z)


def _grid(h: int, w: int) -> Floats:
    return np.stack(np.meshgrid(np.arange(w), np.arange(h)), axis=-1).astype(float)


def _nearest_true(x: Bools, i: NDArray[np.intp], j: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return for cells (i, j) the indices of the true cell of `x` (h, w) that is nearest to each."""
    rows, columns = np.nonzero(x)
    _, nearest = cKDTree(np.stack([rows, columns], axis=1)).query(np.stack([i, j], axis=1))
    return rows[nearest], columns[nearest]


def _nearest(known: Any, wanted: Floats) -> NDArray[np.intp]:
    """Return the index of the time in `known` (S,) that is nearest to each of `wanted` (T,)."""
    return np.asarray(np.abs(np.asarray(known)[None, :] - wanted[:, None]).argmin(axis=1))


@lru_cache(maxsize=1)
def scene(masks: Masks, depth: Depth, cameras: Cameras) -> Scene:
    """Return the scene of the clip seen last, or a new one: providers of one clip share it."""
    return Scene(masks, depth, cameras)
