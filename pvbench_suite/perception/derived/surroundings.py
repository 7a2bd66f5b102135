"""The fixed surroundings: static points of the background, the planes among them, and which way is down.

Conventions
-----------
World axes.  A plane is (n, d) with n.x + d the signed distance, positive on the side of the cameras; its `patch` are
the background points that lie on it, so that a table is known to end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from pvbench_suite.perception.derived.scene import Bools, Floats, Scene, facing

#: Most frames and points of the background that are kept, planes that are sought, and hypotheses for each.
FRAMES, CLOUD, PLANES, TRIALS = 12, 6000, 6, 300
#: A point lies on a plane within this share of its distance from the camera, and cos(20 deg) of its normal.
THICK, ALONG = 0.015, 0.94
#: Least share of the cloud that is a plane.
SHARE = 0.015
#: The ground's normal is within 45 deg of the picture's upright.
UPRIGHT = 0.7


@dataclass(frozen=True, eq=False)
class Plane:
    """A fixed surface: `equation` (4,), the points on it (k, 3), and how far apart these lie (median)."""

    equation: Floats
    patch: Floats
    spacing: float

    def above(self, x: Floats) -> Floats:
        """Return the signed distance (...) of points (..., 3)."""
        return np.asarray(x @ self.equation[:3] + self.equation[3])

    def holds(self, x: Floats, radius: float = 0.0) -> Bools:
        """Return for points (k, 3) whether the surface is seen to reach within `radius` of their feet."""
        foot = x - self.above(x)[:, None] * self.equation[:3]
        known = np.isfinite(foot).all(axis=1)
        out = np.zeros(len(x), dtype=bool)
        if known.any():
            away, _ = cKDTree(self.patch).query(foot[known], k=min(3, len(self.patch)))
            out[known] = np.asarray(away).reshape(known.sum(), -1)[:, -1] <= 4.0 * self.spacing + radius
        return out


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Static points (k, 3) with normals, the planes among them, the direction of gravity (3,) and its source."""

    points: Floats
    planes: tuple[Plane, ...]
    down: Floats
    source: str


def surroundings(seen: Scene) -> Surroundings:
    """Return the fixed surroundings of a scene."""
    points, normals, away = _cloud(seen)
    planes = tuple(_planes(points, normals, away))
    upright = -seen.Tcw[0, :3, 1]
    level = [p for p in planes if p.equation[:3] @ upright >= UPRIGHT]
    if level:
        # Surfaces that carry things are parallel; the one that shows most is known best.
        ground = max(level, key=lambda p: len(p.patch))
        planes = tuple(_level(p, ground) for p in planes)
        return Surroundings(points, planes, -ground.equation[:3], "ground plane")
    return Surroundings(points, planes, -upright, "image axis")


def _cloud(seen: Scene) -> tuple[Floats, Floats, Floats]:
    """Return static points (k, 3), their normals (k, 3) toward the camera, and their distances (k,) from it."""
    T, rng = len(seen.times), np.random.default_rng(19)
    frames = np.unique(np.linspace(0, T - 1, min(FRAMES, T)).astype(int))
    points, normals, away = [], [], []
    for t in frames:
        x = np.where(seen.free(int(t)), seen.depth(int(t)), np.nan)[..., None] * seen.cell_rays
        normal = facing(x)
        chosen = np.flatnonzero(np.isfinite(normal).all(axis=-1).ravel())
        chosen = np.sort(rng.choice(chosen, min(CLOUD // len(frames), len(chosen)), replace=False))
        local = x.reshape(-1, 3)[chosen]
        points.append(seen.world(int(t), local))
        normals.append(normal.reshape(-1, 3)[chosen] @ seen.Tcw[t, :3, :3].T)
        away.append(np.linalg.norm(local, axis=1))
    return np.concatenate(points), np.concatenate(normals), np.concatenate(away)


def _planes(points: Floats, normals: Floats, away: Floats) -> list[Plane]:
    """Return the planes of the cloud, that of most points first: RANSAC over single points with their normals."""
    rng = np.random.default_rng(17)
    left = np.arange(len(points))
    found: list[Plane] = []
    for _ in range(PLANES):
        if len(left) < max(30, SHARE * len(points)):
            break
        some = left[rng.choice(len(left), min(800, len(left)), replace=False)]
        trials = rng.choice(left, min(TRIALS, len(left)), replace=False)
        d = -np.sum(normals[trials] * points[trials], axis=1)
        off = np.abs(points[some] @ normals[trials].T + d) < THICK * away[some][:, None]
        votes = (off & (normals[some] @ normals[trials].T > ALONG)).sum(axis=0)
        best = trials[int(votes.argmax())]
        n, d0, thick = normals[best], -float(normals[best] @ points[best]), THICK
        for _ in range(6):
            mine = left[_on(points[left], normals[left], away[left], n, d0, thick)]
            if len(mine) < 10:
                break
            n, d0 = _fit(points[mine], away[mine], n)
            # Edges of things, whose cells mix two depths, are left out as the plane becomes known.
            spread = 1.4826 * float(np.median(np.abs(points[mine] @ n + d0) / away[mine]))
            thick = float(np.clip(3.0 * spread, 5e-4, thick))
        mine = left[_on(points[left], normals[left], away[left], n, d0, max(thick, 2e-3))]
        if len(mine) < SHARE * len(points):
            break
        found.append(Plane(np.append(n, d0), points[mine], _spacing(points[mine])))
        # Points at its rim, whose normals are mixed, belong to it as well.
        near = np.abs(points[left] @ n + d0) < THICK * away[left]
        left = left[~near]
    return found


def _level(plane: Plane, ground: Plane) -> Plane:
    """Return a plane nearly parallel to the ground made parallel, where its points do not lie worse on it for that.

    A table seen at a low angle shows few rows of cells, which do not tell its tilt.
    """
    n = ground.equation[:3]
    if plane is ground or plane.equation[:3] @ n < 0.98:
        return plane
    height = plane.patch @ n
    d = -float(np.median(height))
    free = float(np.median(np.abs(plane.above(plane.patch))))
    if float(np.median(np.abs(height + d))) > 2.0 * free + 0.1 * plane.spacing:
        return plane
    return replace(plane, equation=np.append(n, d))


def _on(x: Floats, normals: Floats, away: Floats, n: Floats, d: float, thick: float) -> Bools:
    return np.asarray((np.abs(x @ n + d) < thick * away) & (normals @ n > ALONG))


def _fit(x: Floats, away: Floats, before: Floats) -> tuple[Floats, float]:
    """Return the plane nearest to points (k, 3), each weighted by the inverse of its distance's square."""
    w = 1.0 / away**2
    middle = (w[:, None] * x).sum(axis=0) / w.sum()
    _, _, vt = np.linalg.svd((x - middle) * np.sqrt(w)[:, None], full_matrices=False)
    n = vt[2] * (1.0 if vt[2] @ before > 0 else -1.0)
    return n, -float(n @ middle)


def _spacing(patch: Floats) -> float:
    """Return how far apart the points of a patch lie: the 75th percentile of the distance to the third nearest."""
    some = patch[np.linspace(0, len(patch) - 1, min(400, len(patch))).astype(int)]
    far, _ = cKDTree(patch).query(some, k=min(4, len(patch)))
    return float(np.percentile(np.asarray(far)[:, -1], 75))
