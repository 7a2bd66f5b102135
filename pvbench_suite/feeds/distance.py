"""Signed distances between simple solids, frame by frame.

Conventions
-----------
A distance is positive between separate bodies, and minus the shortest way that parts them where they overlap.  Lengths
are in one world unit; a box and a cylinder are given by their half extents along their own axes, a cylinder's axis
being its own y.  Every formula is exact; frames without one (a missing pose, a cylinder that leans against the other
body's axes by more than 5 deg) are NaN.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: The cosine of the largest angle between axes that count as parallel (5 deg).
_PARALLEL = 0.9962
_SIGNS = np.array(list(product((-1.0, 1.0), repeat=3)))
#: The shapes that have a formula.
SHAPES = ("sphere", "box", "cylinder")


@dataclass(frozen=True, eq=False)
class Solid:
    """A body over T frames: `shape` of `SHAPES`, centre (T, 3), half extents (3,), and R (T, 3, 3), object to world."""

    shape: str
    centre: Floats
    half: Floats
    R: Floats

    @property
    def size(self) -> float:
        """Return the radius of a ball, the half-thickness of any other body."""
        return float(self.half.min())

    def reach(self, normal: Floats) -> Floats:
        """Return how far the body extends from its centre (T,) along a unit direction (3,)."""
        along = np.einsum("tij,i->tj", self.R, normal)
        if self.shape == "sphere":
            return np.full(len(along), self.size)
        if self.shape == "box":
            return np.asarray(np.abs(along) @ self.half)
        across = np.hypot(along[:, 0], along[:, 2])
        return np.asarray(self.half[0] * across + self.half[1] * np.abs(along[:, 1]))


def to_plane(body: Solid, plane: Floats) -> Floats:
    """Return the signed distance (T,) of a body to a plane (4,): n, d with n.x + d positive on the free side."""
    length = float(np.linalg.norm(plane[:3]))
    return np.asarray((body.centre @ plane[:3] + plane[3]) / length - body.reach(plane[:3] / length))


def between(a: Solid, b: Solid) -> Floats:
    """Return the signed distance (T,) of two bodies, NaN in frames without a formula."""
    if SHAPES.index(a.shape) > SHAPES.index(b.shape):
        a, b = b, a
    if a.shape == "sphere":
        q = np.einsum("tji,tj->ti", b.R, a.centre - b.centre)
        if b.shape == "cylinder":
            return _corner(np.hypot(q[:, 0], q[:, 2]) - b.half[0], np.abs(q[:, 1]) - b.half[1]) - a.size
        return _from_box(q, np.zeros(3) if b.shape == "sphere" else b.half) - (a.size + b.size * (b.shape == "sphere"))
    if b.shape == "box":
        return _boxes(a, b)
    return _box_cylinder(a, b) if a.shape == "box" else _cylinders(a, b)


def slope(a: Solid, b: Solid, axis: Floats) -> Floats:
    """Return by how much the distance (T,) grows as `a` moves along `axis` (T, 3): in [-1, 1], by differences."""
    step = 1e-4 * min(a.size, b.size)
    ahead, behind = (between(replace(a, centre=a.centre + s * axis), b) for s in (step, -step))
    return np.asarray((ahead - behind) / (2.0 * step))


def _corner(first: Floats, second: Floats) -> Floats:
    """Return the signed distance to a product of two sets, from the signed distances to each."""
    outside = np.hypot(np.maximum(first, 0.0), np.maximum(second, 0.0))
    return np.asarray(outside + np.minimum(np.maximum(first, second), 0.0))


def _from_box(q: Floats, half: Floats) -> Floats:
    """Return the signed distance of points `q` (..., d) in a box's own axes to the box."""
    beyond = np.abs(q) - half
    outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=-1)
    return np.asarray(outside + np.minimum(beyond.max(axis=-1), 0.0))


def _cylinders(a: Solid, b: Solid) -> Floats:
    """Return the distance of two cylinders whose axes are parallel."""
    axis, gap = a.R[:, :, 1], a.centre - b.centre
    along = np.sum(axis * gap, axis=1)
    across = np.linalg.norm(gap - along[:, None] * axis, axis=1)
    found = _corner(across - (a.half[0] + b.half[0]), np.abs(along) - (a.half[1] + b.half[1]))
    return np.where(np.abs(np.sum(axis * b.R[:, :, 1], axis=1)) >= _PARALLEL, found, np.nan)


def _box_cylinder(box: Solid, cylinder: Solid) -> Floats:
    """Return the distance of a box and a cylinder whose axis is parallel to one of the box's."""
    q = np.einsum("tji,tj->ti", box.R, cylinder.centre - box.centre)
    lean = np.abs(np.einsum("tji,tj->ti", box.R, cylinder.R[:, :, 1]))
    found = np.full(len(q), np.nan)
    for k in range(3):
        other = [m for m in range(3) if m != k]
        flat = _from_box(q[:, other], box.half[other]) - cylinder.half[0]
        stacked = _corner(flat, np.abs(q[:, k]) - (box.half[k] + cylinder.half[1]))
        found = np.where(lean[:, k] >= _PARALLEL, stacked, found)
    return found


def _boxes(a: Solid, b: Solid) -> Floats:
    """Return the distance of two boxes: by separating axes where they overlap, by nearest features elsewhere."""
    to_b = np.einsum("tji,tjk->tik", b.R, a.R)
    middle = np.einsum("tji,tj->ti", b.R, a.centre - b.centre)
    overlap = _separation(to_b, middle, a.half, b.half)
    corners_a = middle[:, None] + np.einsum("tij,cj->tci", to_b, _SIGNS * a.half)
    corners_b = np.einsum("tji,tcj->tci", to_b, _SIGNS * b.half - middle[:, None])
    vertex = np.minimum(_from_box(corners_a, b.half).min(axis=1), _from_box(corners_b, a.half).min(axis=1))
    apart = np.minimum(vertex, _edges(to_b, middle, a.half, b.half))
    return np.where(overlap > 0.0, np.maximum(apart, overlap), overlap)


def _separation(to_b: Floats, middle: Floats, half_a: Floats, half_b: Floats) -> Floats:
    """Return the largest gap (T,) between the shadows of two boxes on the 15 axes, in the axes of b."""
    own = np.broadcast_to(np.eye(3), to_b.shape)
    sides = np.swapaxes(to_b, 1, 2)
    crossed = np.cross(sides[:, :, None, :], own[:, None, :, :]).reshape(len(to_b), 9, 3)
    length = np.linalg.norm(crossed, axis=-1, keepdims=True)
    # Nearly parallel edges have no axis of their own: the faces' axes stand for them.
    crossed = np.where(length > 1e-6, crossed / np.where(length > 1e-6, length, 1.0), own[:, :1])
    axes = np.concatenate([own, sides, crossed], axis=1)
    reach = np.abs(axes) @ half_b + np.einsum("tnj,j->tn", np.abs(np.einsum("tni,tij->tnj", axes, to_b)), half_a)
    return np.asarray((np.abs(np.einsum("tni,ti->tn", axes, middle)) - reach).max(axis=1))


def _edges(to_b: Floats, middle: Floats, half_a: Floats, half_b: Floats) -> Floats:
    """Return the least distance (T,) of two edges whose common perpendicular meets both inside; infinite if none."""
    best = np.full(len(middle), np.inf)
    for i, j in product(range(3), repeat=2):
        u, v = to_b[:, :, i], np.eye(3)[j]
        cosine = u[:, j]
        sine2 = np.maximum(1.0 - cosine**2, 1e-12)
        # The four edges along an axis: the mid-points of edges have 0 in place of that axis's sign.
        of_a = np.unique(np.where(np.arange(3) == i, 0.0, _SIGNS), axis=0) * half_a
        of_b = np.unique(np.where(np.arange(3) == j, 0.0, _SIGNS), axis=0) * half_b
        gap = (middle[:, None] + np.einsum("tij,cj->tci", to_b, of_a))[:, :, None] - of_b
        along_u, along_v = np.einsum("tcdi,ti->tcd", gap, u), gap[..., j]
        s = (cosine[:, None, None] * along_v - along_u) / sine2[:, None, None]
        r = along_v + cosine[:, None, None] * s
        inside = (np.abs(s) <= half_a[i]) & (np.abs(r) <= half_b[j]) & (sine2 > 1e-9)[:, None, None]
        away = np.linalg.norm(gap + s[..., None] * u[:, None, None] - r[..., None] * v, axis=-1)
        best = np.minimum(best, np.where(inside, away, np.inf).min(axis=(1, 2)))
    return best
