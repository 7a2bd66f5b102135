"""Boxes: an object whose visible surface is flat faces at right angles, its axes, extents and centre.

Conventions
-----------
Points and normals are in the object's own frame, gathered over frames by its poses.  A box is told only where faces of
two directions are seen: one face says nothing of how deep the body is.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from pvbench_suite.perception.derived.outline import Outline
from pvbench_suite.perception.derived.scene import Floats, Scene, facing

#: Share of the surface whose normals lie along the box's axes, and whose points lie on its faces.
FLAT = 0.75
#: Cosine of the largest angle between a normal and its axis (18 deg), and the faces' thickness, in shares of the
#: longest half extent.
_ALONG, _THICK = 0.95, 0.12
#: A direction is a face when this share of the surface looks along it.
_FACE = 0.06
#: Most frames that are gathered.
_FRAMES = 16


_CORNERS = np.array(list(product((0, 1), repeat=3)))
Indices = NDArray[np.intp]


class Box(NamedTuple):
    """Axes (3, 3), one a column, centre (3,) and half extents (3,), in the object's own frame."""

    axes: Floats
    centre: Floats
    half: Floats


def box(seen: Scene, outline: Outline, n: int, R: Floats, p: Floats) -> Box | None:
    """Return the box that object `n` with poses `R`, `p` shows, or None where it is none."""
    whole = outline.seen[:, n] & ~outline.cut[:, n] & ~outline.hidden[:, n] & np.isfinite(p[:, 0])
    frames = np.flatnonzero(whole)
    if len(frames) < 4:
        return None
    frames = frames[np.linspace(0, len(frames) - 1, min(_FRAMES, len(frames))).astype(int)]
    gathered = [_patch(seen, int(t), n) for t in frames]
    points = np.concatenate([(seen.world(t, x) - p[t]) @ R[t] for t, (x, _) in zip(frames, gathered, strict=True)])
    turned = [v @ seen.Tcw[t, :3, :3].T @ R[t] for t, (_, v) in zip(frames, gathered, strict=True)]
    normals = np.concatenate(turned)
    edge = np.concatenate(
        [(seen.world(t, seen.rim(int(t), n)) - p[t]) @ R[t] for t in frames[:: max(1, len(frames) // 6)]]
    )
    if len(points) < 60:
        return None
    axes = _axes(normals)
    fitted = None if axes is None else _fitted(axes, points, normals, edge)
    if fitted is None:
        return None
    some = frames[np.linspace(0, len(frames) - 1, min(5, len(frames))).astype(int)]
    return _outlined(seen, n, some, R, p, *fitted)


def _patch(seen: Scene, t: int, n: int) -> tuple[Floats, Floats]:
    """Return surface points (k, 3) and their normals (k, 3) toward the camera, in the camera's frame."""
    inside, z = seen.inside(t, n), seen.depth(t)
    x = z[..., None] * seen.cell_rays
    normal = facing(x)
    whole = inside.copy()
    whole[:, 1:-1] &= inside[:, 2:] & inside[:, :-2]
    whole[1:-1] &= inside[2:] & inside[:-2]
    whole &= np.isfinite(normal).all(axis=-1)
    return x[whole], normal[whole]


def _axes(normals: Floats) -> Floats | None:
    """Return three axes (3, 3), one a column, along which most `normals` lie, or None with fewer than two faces."""
    some = normals[np.linspace(0, len(normals) - 1, min(300, len(normals))).astype(int)]
    first = _common(some, np.abs(some @ some.T))
    if first is None:
        return None
    across = some[np.abs(some @ first) < 0.3]
    if len(across) < _FACE * len(some):
        return None
    across = across - (across @ first)[:, None] * first
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    second = _common(across, np.abs(across @ across.T))
    if second is None:
        return None
    second = second - (second @ first) * first
    second /= np.linalg.norm(second)
    return np.stack([first, second, np.cross(first, second)], axis=1)


def _common(normals: Floats, likeness: Floats) -> Floats | None:
    """Return the direction along which most of `normals` (k, 3) lie, either way; `likeness` (k, k) are |cosines|."""
    votes = (likeness > _ALONG).sum(axis=1)
    best = normals[int(votes.argmax())]
    mine = normals[np.abs(normals @ best) > _ALONG]
    mean = (mine * np.sign(mine @ best)[:, None]).mean(axis=0)
    length = float(np.linalg.norm(mean))
    return mean / length if length > 0 else None


def _fitted(axes: Floats, points: Floats, normals: Floats, edge: Floats) -> tuple[Floats, Floats, Floats] | None:
    """Return axes (3, 3), the box's ends (2, 3) along them, and which of them are faces that are seen (2, 3) bool.

    None where the surface does not lie on the box's faces.
    """
    q, v, e = points @ axes, normals @ axes, np.concatenate([points, edge]) @ axes
    which, along = np.abs(v).argmax(axis=1), np.abs(v).max(axis=1) > _ALONG
    ends = np.percentile(e, [0.5, 99.5], axis=0)
    known, on = np.zeros((2, 3), dtype=bool), np.zeros(len(q), dtype=bool)
    for k in range(3):
        for side, sign in enumerate((-1.0, 1.0)):
            face = along & (which == k) & (np.sign(v[:, k]) == sign)
            if face.sum() >= _FACE * len(q):
                # Faces are known better than the outermost pixels of an outline.
                ends[side, k], known[side, k] = float(np.median(q[face, k])), True
            on |= face & (np.abs(q[:, k] - ends[side, k]) < _THICK * float(np.ptp(ends, axis=0).max()) / 2.0)
    flat = along.mean() >= FLAT and on.mean() >= FLAT and bool((ends[1] > ends[0]).all())
    return (axes, ends, known) if flat and known.any(axis=0).sum() >= 2 else None


def _outlined(
    seen: Scene, n: int, frames: Indices, R: Floats, p: Floats, axes: Floats, ends: Floats, known: np.ndarray
) -> Box:
    """Return the box whose unseen ends are moved, in ever smaller steps, to where its outline fits the masks best."""
    masks = [seen.masks.dense(int(t), n) for t in frames]

    def fit(trial: Floats) -> float:
        corners = trial[_CORNERS, [0, 1, 2]] @ axes.T
        shares = []
        for mask, t in zip(masks, frames, strict=True):
            uv, _ = seen.pixels(int(t), corners @ R[t].T + p[t])
            shares.append(_overlap(mask, uv))
        return float(np.mean(shares))

    best, step = fit(ends), 0.08 * float(np.ptp(ends, axis=0).max())
    for _ in range(5):
        for side, k in np.argwhere(~known):
            for way in (step, -step):
                trial = ends.copy()
                trial[side, k] += way
                while trial[1, k] > trial[0, k] and (found := fit(trial)) > best:
                    ends, best = trial.copy(), found
                    trial[side, k] += way
        step /= 2.0
    return Box(axes, axes @ ends.mean(axis=0), np.ptp(ends, axis=0) / 2.0)


def _overlap(mask: np.ndarray, uv: Floats) -> float:
    """Return what share `mask` (h, w) and the hull of image points `uv` (8, 2) have in common."""
    if not np.isfinite(uv).all():
        return 0.0
    drawn = np.zeros(mask.shape, dtype=np.uint8)
    # Sixteenths of a pixel, so that small steps of an end are felt.
    hull = cv2.convexHull(np.rint(np.clip(uv, -1e4, 1e4) * 16.0).astype(np.int32))
    cv2.fillConvexPoly(drawn, hull, 1, lineType=cv2.LINE_8, shift=4)
    inside = drawn > 0
    return float(np.count_nonzero(inside & mask)) / max(int(np.count_nonzero(inside | mask)), 1)
