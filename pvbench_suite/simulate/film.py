"""Films a world: its pictures, and per frame what the picture shows.

Conventions
-----------
`N` counts the objects (bodies with a record), in the order of the world's bodies.  The truth grid has half as many rows
and columns as the frame and tiles it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pvbench_suite.simulate.raycast import Hits, View
from pvbench_suite.simulate.scene import World
from pvbench_suite.simulate.shade import Painter, render
from pvbench_suite.simulate.vectors import Floats

#: Fewest pixels that both bodies would cover, for their order to be seen.
_SHARED = 4
#: Nearest depths, as a share of the distance, whose order is asked for.
_GAP = 0.05


@dataclass(frozen=True, eq=False)
class Film:
    """What a film of T frames shows.

    `frames` (T, H, W, 3) uint8; `ids` (T, H, W) int16 as in `Hits`; `grid` the hits of the truth grid per frame;
    `seen` (T, N) pixels that show an object, `cover` (T, N) pixels it would show if nothing stood before it; `depth`
    (T, N) the median depth of the former; `cue` (T, N, N) who is drawn over whom.
    """

    frames: NDArray[np.uint8]
    ids: NDArray[np.int16]
    grid: list[Hits]
    seen: NDArray[np.int64]
    cover: NDArray[np.int64]
    depth: Floats
    cue: NDArray[np.int8]

    def luma(self, t: int) -> NDArray[np.int64]:
        """Return the luma (H, W) of frame `t`, 0..255, as `pvbench_suite.video.types.Clip.luma` has it."""
        r, g, b = (self.frames[t, ..., k].astype(np.int64) for k in range(3))
        return (77 * r + 150 * g + 29 * b) >> 8


def grid_shape(world: World) -> tuple[int, int]:
    """Return the rows and columns of the truth grid."""
    return world.hw[0] // 2, world.hw[1] // 2


def shoot(world: World) -> Film:
    """Return the film of a world."""
    (H, W), T, objects = world.hw, len(world.times), world.objects
    full, grid = View.regular(world, H, W), View.regular(world, *grid_shape(world))
    painter = Painter(world, full)
    frames, ids = np.empty((T, H, W, 3), dtype=np.uint8), np.empty((T, H, W), dtype=np.int16)
    seen = np.zeros((T, len(objects)), dtype=np.int64)
    cover, depth = seen.copy(), np.full(seen.shape, np.nan)
    cue = np.zeros((T, len(objects), len(objects)), dtype=np.int8)
    hits: list[Hits] = []
    for t in range(T):
        state = world.state(t)
        frames[t], surface = render(world, state, painter)
        ids[t] = surface.hits.id.reshape(H, W)
        hits.append(grid.hits(state))
        for n, k in enumerate(objects):
            mine = np.flatnonzero(surface.hits.id == k)
            seen[t, n] = mine.size
            cover[t, n] = len(surface.hits.cover.get(k, ())) if state.shown[k] else 0
            if mine.size:
                depth[t, n] = np.median(surface.hits.t[mine])
        cue[t] = _order(world, t, surface.hits)
    return Film(frames, ids, hits, seen, cover, depth, cue)


def _order(world: World, t: int, hits: Hits) -> NDArray[np.int8]:
    """Return the order of drawing (N, N) of the objects that overlap in the picture.

    There is no order to see between bodies that are as far away as each other: their true depths must differ by 5 %.
    """
    objects, eye = world.objects, world.eye[t]
    cue = np.zeros((len(objects), len(objects)), dtype=np.int8)
    away = [world.centre[t, k] - eye for k in objects]
    ahead = world.view[t, :, 2]
    z = [float(a[0] * ahead[0] + a[1] * ahead[1] + a[2] * ahead[2]) for a in away]
    for i, j in combinations(range(len(objects)), 2):
        a, b = objects[i], objects[j]
        empty: Any = np.zeros(0, dtype=np.intp)
        both = np.intersect1d(hits.cover.get(a, empty), hits.cover.get(b, empty), assume_unique=True)
        first, second = int((hits.id[both] == a).sum()), int((hits.id[both] == b).sum())
        if max(first, second) < _SHARED or abs(z[i] - z[j]) < _GAP * 0.5 * (z[i] + z[j]):
            continue
        cue[i, j] = 1 if first >= second else -1
        cue[j, i] = -cue[i, j]
    return cue


def first_frame(world: World) -> NDArray[np.uint8]:
    """Return the first picture (H, W, 3) of a world."""
    return render(world, world.state(0), Painter(world, View.regular(world, *world.hw)))[0]
