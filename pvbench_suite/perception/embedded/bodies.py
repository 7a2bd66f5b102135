"""Product `bodies`: where each moving object is, how large, and whether it is seen, in the picture plane.

Conventions
-----------
World = image plane in pixels of the full frame, z = 0; depth is unknown (NaN).  An object that is partly hidden or
cut by the
frame is *present*, but its centre is missing: the centroid of a part is not the centroid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pvbench_suite.perception.embedded.frames import Floats, to_full
from pvbench_suite.perception.embedded.objects import GATE
from pvbench_suite.perception.protocol import Parameter
from pvbench_suite.perception.types import Bodies, Masks
from pvbench_suite.video.types import Clip

#: A mask with less than this share of the object's usual area shows a part of it.
WHOLE = 0.8
#: The usual area is the median over this time [s]: an object that comes nearer grows.
USUAL = 1.0


def centroids(masks: Masks) -> tuple[Floats, Floats, Floats]:
    """Return centroids (T, N, 2) [px of the full frame], areas (T, N) [px of the grid], and meetings with the border.

    Centroids are NaN and areas 0 where an object is not seen.
    """
    T, N = masks.confidence.shape
    centre, area, edge = np.full((T, N, 2), np.nan), np.zeros((T, N)), np.zeros((T, N))
    for t in range(T):
        for n in range(N):
            mask = masks.dense(t, n)
            rows, columns = np.nonzero(mask)
            if len(rows) == 0:
                continue
            area[t, n] = len(rows)
            centre[t, n] = to_full([columns.mean(), rows.mean()], masks.grid, masks.hw)
            edge[t, n] = float(mask[[0, -1]].any() or mask[:, [0, -1]].any())
    return centre, area, edge


def usual(area: Floats, times: Floats) -> Floats:
    """Return the usual area (T,) of one object: the median of what was seen within a second, NaN where nothing was."""
    out = np.full(len(area), np.nan)
    for t in range(len(area)):
        near = area[(np.abs(times - times[t]) <= USUAL / 2) & (area > 0)]
        if len(near):
            out[t] = float(np.median(near))
    return out


@dataclass(frozen=True)
class PlanarBodies:
    """Centres by mask moments; sizes by the disc of the same area."""

    name: str = "embedded-bodies@1"
    product: str = "bodies"
    needs: tuple[str, ...] = ("masks",)
    parameters: ClassVar[Mapping[str, Parameter]] = {"whole": WHOLE, "usual": USUAL}

    def __call__(self, clip: Clip, records: Mapping[str, Any]) -> Bodies:
        """Return the objects of the masks; those below the object gate are never present."""
        masks: Masks = records["masks"]
        times = np.asarray(masks.times, dtype=float)
        centre, area, edge = centroids(masks)
        T, N = area.shape
        scale = float(np.sqrt(masks.hw[0] * masks.hw[1] / (masks.grid[0] * masks.grid[1])))
        present = (area > 0) & (np.asarray(masks.confidence) >= GATE)
        radius, diameter = np.full((T, N), np.nan), np.full(N, np.nan)
        for n in range(N):
            common = usual(np.where(edge[:, n] > 0, 0.0, area[:, n]), times)
            part = (edge[:, n] > 0) | ~(area[:, n] >= WHOLE * common)
            centre[part | ~present[:, n], n] = np.nan
            radius[:, n] = scale * np.sqrt(np.where(present[:, n], np.fmax(area[:, n], common), np.nan) / np.pi)
            whole = radius[present[:, n] & ~part, n]
            if len(whole):
                diameter[n] = 2.0 * float(np.median(whole))
        world = np.concatenate([centre, np.zeros((T, N, 1))], axis=-1)
        world[np.isnan(centre).any(axis=-1)] = np.nan
        unknown = np.full((T, N), np.nan)
        shapes = ("other",) * N
        return Bodies(
            times, world, centre, radius, unknown, present, diameter, masks.names, shapes, masks.hw, planar=True
        )
