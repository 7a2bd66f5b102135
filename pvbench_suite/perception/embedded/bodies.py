"""Product `bodies`: where each moving object is, how large, and whether it is seen, in the picture plane.

Conventions
-----------
World = image plane of the (reference) frame in pixels of the full frame, z = 0; depth is unknown (NaN).  An object that
is partly hidden or cut by the frame is *present*, but its centre is missing: the centroid of a part is not the
centroid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pvbench_suite.perception.embedded.frames import Floats, to_full
from pvbench_suite.perception.embedded.objects import GATE
from pvbench_suite.perception.embedded.sightings import covered_up
from pvbench_suite.perception.protocol import Parameter
from pvbench_suite.perception.stretches import USUAL, usual
from pvbench_suite.perception.types import Bodies, Masks
from pvbench_suite.video.types import Clip

#: A mask with less than this share of the object's usual area shows a part of it.
WHOLE = 0.8


@dataclass(frozen=True)
class _Moments:
    """What the masks of all objects say, frame by frame.

    `centre` (T, N, 2) [px of the full frame], `area` (T, N) [px of the grid], `spread` (T, N, 2, 2) the covariance of
    the pixels [px of the grid, squared], `edge` (T, N) whether a mask meets the border.
    """

    centre: Floats
    area: Floats
    spread: Floats
    edge: NDArray[np.bool_]


def moments(masks: Masks) -> _Moments:
    """Return the moments of all masks; NaN, with area 0, where an object is not seen."""
    T, N = masks.confidence.shape
    found = _Moments(
        np.full((T, N, 2), np.nan), np.zeros((T, N)), np.full((T, N, 2, 2), np.nan), np.zeros((T, N), dtype=bool)
    )
    for t, n in np.ndindex(T, N):
        mask = masks.dense(t, n)
        rows, columns = np.nonzero(mask)
        if len(rows) == 0:
            continue
        places = np.stack([columns, rows]).astype(float)
        found.area[t, n] = len(rows)
        found.centre[t, n] = to_full(places.mean(axis=1), masks.grid, masks.hw)
        # a pixel is a square: its own spread is 1/12
        found.spread[t, n] = np.cov(places, bias=True) + np.eye(2) / 12.0
        found.edge[t, n] = mask[[0, -1]].any() or mask[:, [0, -1]].any()
    return found


def across(times: Floats, path: Floats, spread: Floats) -> Floats:
    """Return the half width (T,) of an object across its motion: of a disc its radius, whether its motion blurs or not.

    `path` (T, 2) are its centres, NaN where unknown, and `spread` (T, 2, 2) the covariances of its masks.
    """
    out = np.full(len(times), np.nan)
    known = np.flatnonzero(np.isfinite(path).all(axis=-1))
    if len(known) < 3:
        return out
    v = np.gradient(path[known], times[known], axis=0)
    speed = np.linalg.norm(v, axis=-1)
    side = np.stack([-v[:, 1], v[:, 0]], axis=-1) / np.where(speed > 0, speed, np.nan)[:, None]
    out[known] = 2.0 * np.sqrt(np.einsum("ti,tij,tj->t", side, spread[known], side))
    return out


def grounded(uv: Floats, stabilisation: Floats | None) -> tuple[Floats, Floats]:
    """Return image places (T, N, 2) in the plane of the reference frame, and how much larger things are there (T, N).

    `stabilisation` (T, 3, 3) are the homographies to the reference frame; None where the camera stands still.
    """
    if stabilisation is None:
        return uv, np.ones(uv.shape[:2])
    H = np.asarray(stabilisation, dtype=float)
    at = np.concatenate([uv, np.ones((*uv.shape[:2], 1))], axis=-1)
    moved = np.einsum("tij,tnj->tni", H, at)
    # the area of a pixel grows by det H / w^3 under a homography
    growth = np.linalg.det(H)[:, None] / moved[..., 2] ** 3
    return np.asarray(moved[..., :2] / moved[..., 2:]), np.sqrt(np.abs(growth))


@dataclass(frozen=True)
class PlanarBodies:
    """Centres and widths by mask moments; sizes by the disc of the same area."""

    name: str = "embedded-bodies@3"
    product: str = "bodies"
    needs: tuple[str, ...] = ("masks",)
    parameters: ClassVar[Mapping[str, Parameter]] = {"whole": WHOLE, "usual": USUAL}

    def __call__(self, clip: Clip, records: Mapping[str, Any]) -> Bodies:
        """Return the objects of the masks; those below the object gate are never present."""
        masks: Masks = records["masks"]
        times = np.asarray(masks.times, dtype=float)
        found = moments(masks)
        T, N = found.area.shape
        scale = float(np.sqrt(masks.hw[0] * masks.hw[1] / (masks.grid[0] * masks.grid[1])))
        present = (found.area > 0) & (np.asarray(masks.confidence) >= GATE)
        place, larger = grounded(found.centre, masks.stabilisation)
        radius, width, diameter = np.full((T, N), np.nan), np.full((T, N), np.nan), np.full(N, np.nan)
        for n in range(N):
            free = np.where(found.edge[:, n], 0.0, found.area[:, n])
            covered = covered_up(times, free)
            # what is covered can only lower the median
            whole = np.where(free > 0, free, np.nan)
            common = np.fmax(usual(whole, times), usual(np.where(covered, np.nan, whole), times))
            part = found.edge[:, n] | covered | ~(found.area[:, n] >= WHOLE * common)
            found.centre[part | ~present[:, n], n] = np.nan
            place[part | ~present[:, n], n] = np.nan
            radius[:, n] = scale * np.sqrt(np.where(present[:, n], np.fmax(found.area[:, n], common), np.nan) / np.pi)
            width[:, n] = scale * larger[:, n] * across(times, place[:, n], found.spread[:, n])
            whole = (larger * radius)[present[:, n] & ~part, n]
            if len(whole):
                diameter[n] = 2.0 * float(np.median(whole))
        world = np.concatenate([place, np.zeros((T, N, 1))], axis=-1)
        world[np.isnan(place).any(axis=-1)] = np.nan
        return Bodies(
            times, world, found.centre, radius, np.full((T, N), np.nan), present, diameter, masks.names,
            ("other",) * N, masks.hw, planar=True, across=width,
        )  # fmt: skip
