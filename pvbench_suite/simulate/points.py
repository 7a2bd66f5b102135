"""Points that stay on their surface: the records of tracks and of shading.

Conventions
-----------
A point is a carrier (a body, or plane -1 - k) and a place `q` on it.  It is visible when the ray through its image
meets that carrier at its depth, so occlusion, odd orders of drawing and vanished bodies need no rule of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pvbench_suite.perception.types import Shading, Tracks
from pvbench_suite.simulate.film import Film
from pvbench_suite.simulate.raycast import View, carry, in_shadow, project
from pvbench_suite.simulate.scene import Body, State, World
from pvbench_suite.simulate.shade import normals, shading
from pvbench_suite.simulate.vectors import Floats, Vec, put, split, stacked, take, turn, unit, unturn

OBJECT_POINTS, PLANE_POINTS, SCENERY_POINTS = 40, 80, 40
_CANDIDATES = 120
#: Depth of a point against that of what its ray meets, relative.
_MATCH = 1e-4


@dataclass(frozen=True, eq=False)
class Points:
    """P places: `carrier` (P,) and `q`."""

    carrier: NDArray[np.int64]
    q: Vec

    def chosen(self, index: NDArray[np.intp]) -> Points:
        """Return some of them."""
        return Points(self.carrier[index], take(self.q, index))


def to_records(world: World, x: Floats) -> Floats:
    """Return lab points (..., 3) in the frame of the first camera."""
    e = world.eye[0]
    return stacked(unturn(world.view[0], (x[..., 0] - e[0], x[..., 1] - e[1], x[..., 2] - e[2])))


def in_lab(world: World, state: State, points: Points) -> Vec:
    """Return the lab points at that instant."""
    n = len(points.carrier)
    x: Vec = (np.zeros(n), np.zeros(n), np.zeros(n))
    for k in np.unique(points.carrier).tolist():
        index = np.flatnonzero(points.carrier == k)
        put(x, index, carry(world, state, k, take(points.q, index)))
    return x


def sighted(world: World, state: State, points: Points, x: Vec) -> tuple[Vec, NDArray[np.bool_]]:
    """Return image points and depths of the lab points `x`, and which are visible."""
    u, v, z = project(world, state, x)
    H, W = world.hw
    inside = (u > -0.5) & (u < W - 0.5) & (v > -0.5) & (v < H - 0.5) & (z > 0.0)
    index = np.flatnonzero(inside)
    hits = View(world, u[index], v[index]).hits(state)
    same = (hits.id == points.carrier[index]) & (np.abs(hits.t - z[index]) <= _MATCH * z[index])
    visible = np.zeros(len(u), dtype=np.bool_)
    visible[index[same]] = True
    return (u, v, z), visible


def on_body(body: Body, rng: np.random.Generator, n: int) -> Vec:
    """Return `n` random places on the surface of a body, without a transcendental function."""
    cube = split(2.0 * rng.random((n, 3)) - 1.0)
    if body.kind == "ellipsoid":
        return unit(cube)
    which = rng.random(n)
    sign = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    a, b, c = body.half
    if body.kind == "box":
        total = b * c + a * c + a * b
        first, second = which * total < b * c, which * total < b * c + a * c
        return (
            np.where(first, sign, cube[0]),
            np.where(second & ~first, sign, cube[1]),
            np.where(second, cube[2], sign),
        )
    round_ = np.sqrt(cube[0] * cube[0] + cube[2] * cube[2])
    side = which * (2.0 * b + a) < 2.0 * b
    shrink = np.where(side, 1.0, np.minimum(rng.random(n) + 0.1, 0.95)) / round_
    return (cube[0] * shrink, np.where(side, cube[1], sign), cube[2] * shrink)


def _of_objects(world: World) -> Points:
    carrier, q = [], []
    for k in world.objects:
        carrier.append(np.full(_CANDIDATES, k))
        q.append(stacked(on_body(world.bodies[k], np.random.default_rng([k, 7]), _CANDIDATES)))
    if not carrier:
        return Points(np.zeros(0, dtype=np.int64), split(np.zeros((0, 3))))
    return Points(np.concatenate(carrier), split(np.concatenate(q)))


def _of_background(world: World, film: Film) -> Points:
    """Return places on planes and scenery that are seen in the first, the middle or the last frame."""
    scenery = [k for k, body in enumerate(world.bodies) if body.role == "scenery"]
    rng = np.random.default_rng(11)
    carrier, q = [], []
    for share, t in enumerate((0, len(film.grid) // 2, len(film.grid) - 1)):
        hits = film.grid[t]
        for index, total in (
            (np.flatnonzero(hits.id < 0), PLANE_POINTS),
            (np.flatnonzero(np.isin(hits.id, scenery)), SCENERY_POINTS),
        ):
            count = min(len(index), total // 3 + (share < total % 3))
            some = index[np.sort(rng.choice(len(index), count, replace=False))]
            carrier.append(hits.id[some].astype(np.int64))
            q.append(stacked(take(hits.q, some)))
    return Points(np.concatenate(carrier), split(np.concatenate(q)))


def tracks(world: World, film: Film) -> Tracks:
    """Return tracks of the object points that are seen longest, and of points of the still surroundings."""
    mine, still = _of_objects(world), _of_background(world, film)
    both = Points(
        np.concatenate([mine.carrier, still.carrier]), split(np.concatenate([stacked(mine.q), stacked(still.q)]))
    )
    T, P = len(world.times), len(both.carrier)
    uv, z, xyz = np.empty((T, P, 2)), np.empty((T, P)), np.empty((T, P, 3))
    visible = np.zeros((T, P), dtype=np.bool_)
    for t in range(T):
        state = world.state(t)
        x = in_lab(world, state, both)
        (u, v, z[t]), visible[t] = sighted(world, state, both, x)
        uv[t], xyz[t] = np.stack([u, v], axis=-1), to_records(world, stacked(x))
    owner = np.full(P, -1, dtype=np.int64)
    for n, k in enumerate(world.objects):
        owner[: len(mine.carrier)][mine.carrier == k] = n
    kept = _longest(owner, visible, len(world.objects))
    seen = visible[:, kept]
    return Tracks(
        world.times,
        uv=np.where(seen[..., None], uv[:, kept], np.nan).astype(np.float32),
        visible=seen,
        owner=owner[kept],
        names=tuple(world.bodies[k].name for k in world.objects),
        hw=world.hw,
        z=np.where(seen, z[:, kept], np.nan).astype(np.float32),
        xyz=np.where(seen[..., None], xyz[:, kept], np.nan).astype(np.float32),
    )


def _longest(owner: NDArray[np.int64], visible: NDArray[np.bool_], objects: int) -> NDArray[np.intp]:
    """Return the points to keep: of each object those visible longest, and all of the background."""
    count = visible.sum(axis=0)
    kept = []
    for n in range(objects):
        index = np.flatnonzero(owner == n)
        kept.append(np.sort(index[np.argsort(-count[index], kind="stable")[:OBJECT_POINTS]]))
    return np.concatenate([*kept, np.flatnonzero(owner == -1)])


def shading_record(world: World, film: Film) -> Shading:
    """Return the shading of points of still bodies and of the room, and the main cast shadow."""
    points, T = _lit_points(world, film), len(world.times)
    n, P = np.empty((T, len(points.carrier), 3)), len(points.carrier)
    bright = np.full((T, P), np.nan)
    for t in range(T):
        state = world.state(t)
        x = in_lab(world, state, points)
        _, visible = sighted(world, state, points, x)
        for k in np.unique(points.carrier).tolist():
            index = np.flatnonzero(points.carrier == k)
            normal = normals(world, state, k, take(points.q, index))
            others = [b for b in range(len(world.bodies)) if b != k]
            dark = in_shadow(world, state, take(x, index), others) & state.shadow
            value = shading(world, state, normal, dark)
            bright[t, index] = np.where(visible[index] & ~dark, value, np.nan)
            seen = normal if world.twist is None else turn(world.twist, normal)
            n[t, index] = stacked(unturn(world.view[0], seen))
    up = stacked(unturn(world.view[0], (0.0, -1.0, 0.0)))
    shadow = _shadows(world).astype(np.float32)
    return Shading(world.times, n.astype(np.float32), bright.astype(np.float32), up, shadow)


def _lit_points(world: World, film: Film) -> Points:
    """Return places of many orientations that are seen in the first frame and never move: round bodies above all."""
    hits, rng = film.grid[0], np.random.default_rng(13)
    carrier, q = [], []
    for k in np.unique(hits.id).tolist():
        if k >= 0 and world.bodies[k].role != "scenery" and not world.still[k]:
            continue
        index = np.flatnonzero(hits.id == k)
        limit = 5 if k < 0 else 60 if world.bodies[k].kind == "ellipsoid" else 12
        some = index[np.sort(rng.choice(len(index), min(limit, len(index)), replace=False))]
        carrier.append(hits.id[some].astype(np.int64))
        q.append(stacked(take(hits.q, some)))
    return Points(np.concatenate(carrier), split(np.concatenate(q)))


def _shadows(world: World) -> Floats:
    """Return the main cast shadow (T, 3) on the floor, from below the body to the shadow of its top; NaN rows: none."""
    k = world.gnomon
    top = 2.0 * world.half[:, k, 1]
    light = world.shadow_light
    # A top at height h throws its shadow h / -l_y times the horizontal part of the light's way, away from it.
    lean = np.where(light[:, 1] < -0.05, -top / np.where(light[:, 1] < -0.05, -light[:, 1], 1.0), np.nan)
    lab = np.stack([light[:, 0] * lean, np.zeros_like(lean), light[:, 2] * lean], axis=-1)
    cast = stacked(unturn(world.view[0], split(lab)))
    return np.where((world.shadow & world.shown[:, k])[:, None], cast, np.nan)
