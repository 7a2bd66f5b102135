"""What a mask says of its object by itself: direction, size, roundness, and whether all of the object shows.

Conventions
-----------
Directions are unit vectors in the camera's frame, solid angles in steradians.  The solid angle of a ball and the mean
direction of its mask give its centre's direction and the angle it is seen under exactly, wherever it stands in the
picture, which centroid and area in pixels do not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pvbench_suite.perception.derived.scene import BEFORE, Bools, Floats, Scene, rays

#: Fewest pixels of a mask that counts, and least confidence (the object gate of spec ``physics.md``).
PIXELS, GATE = 8, 0.10
#: An object is hidden in part when this share of the cells round it stand before it.
COVERED = 0.08


@dataclass(frozen=True, eq=False)
class Outline:
    """The outlines of N objects over T frames; NaN where an object is not seen.

    `axis` (T, N, 3) mean direction, `omega` (T, N) solid angle [sr], `spot` (T, N) area [px of the masks' grid],
    `round` (T, N) share of the outline that a disc of its area and direction shares with it (intersection over union),
    `seen` (T, N) bool, `cut` (T, N) bool the frame cuts it, `hidden` (T, N) bool something stands before it.
    """

    axis: Floats
    omega: Floats
    spot: Floats
    round: Floats
    seen: Bools
    cut: Bools
    hidden: Bools


def outlines(scene: Scene) -> Outline:
    """Return the outlines of every object of `scene`."""
    T, N = np.shape(scene.masks.confidence)
    axis = np.full((T, N, 3), np.nan)
    omega, spot, rounded = (np.full((T, N), np.nan) for _ in range(3))
    seen, cut, hidden = (np.zeros((T, N), dtype=bool) for _ in range(3))
    h, w = scene.masks.grid
    every = rays(scene.K, np.stack(np.meshgrid(np.arange(w), np.arange(h)), axis=-1).astype(float))
    length = np.linalg.norm(every, axis=-1)
    # A pixel's solid angle falls with the cube of its ray's length.
    solid, unit = 1.0 / (scene.K[0, 0] * scene.K[1, 1] * length**3), every / length[..., None]
    for t in range(T):
        for n in range(N):
            mask = scene.masks.dense(t, n)
            count = int(mask.sum())
            if count < PIXELS or scene.masks.confidence[t, n] < GATE:
                continue
            seen[t, n], spot[t, n] = True, count
            cut[t, n] = bool(mask[[0, -1]].any() or mask[:, [0, -1]].any())
            omega[t, n] = solid[mask].sum()
            mean = (solid[mask][:, None] * unit[mask]).sum(axis=0)
            axis[t, n] = mean / np.linalg.norm(mean)
            rounded[t, n] = _round(mask, unit, axis[t, n], float(omega[t, n]))
            ring, own, carried = scene.ring(t, n)
            before = np.fmax(own[ring], carried[ring]) < -BEFORE
            hidden[t, n] = np.count_nonzero(before) > COVERED * max(len(before), 1)
    return Outline(axis, omega, spot, rounded, seen, cut, hidden)


def _round(mask: Bools, unit: Floats, axis: Floats, omega: float) -> float:
    """Return what share a mask (h, w) has in common with the disc of its solid angle about its axis."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    # A disc of its area reaches beyond its box by less than the longer side of that.
    reach = max(np.ptp(rows), np.ptp(columns)) + 1
    box = tuple(slice(max(0, int(x[0] - reach)), int(x[-1] + reach + 1)) for x in (rows, columns))
    disc, mine = unit[box] @ axis >= 1.0 - omega / (2.0 * np.pi), mask[box]
    return float(np.count_nonzero(disc & mine)) / int(np.count_nonzero(disc | mine))


def half_angle(omega: Floats) -> Floats:
    """Return the angle [rad] between the axis and the rim of a cone of solid angle `omega` [sr]."""
    return np.asarray(np.arccos(np.clip(1.0 - omega / (2.0 * np.pi), -1.0, 1.0)))
