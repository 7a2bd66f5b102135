"""Casts rays at planes and convex bodies: what each ray hits, how far, and where on it.

Conventions
-----------
Rays start at the camera; a ray through pixel (u, v) has direction ((u - cx)/f, (v - cy)/f, 1) in the camera, so that
its parameter is the depth along the optical axis.  `Hits.id` is the index of a body, or -1 - k for plane k.
The simulator's records come from here and from the poses alone, by the arithmetic of `vectors`: the same input gives
the same bytes on every machine with IEEE float64.  What could still differ: a sine that lies within its last bits of
the middle between two multiples of 2^-20 (about once in 10^9 poses), and the compressed video, which is the
encoder's work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pvbench_suite.simulate.scene import State, World
from pvbench_suite.simulate.vectors import Bools, Floats, Indices, Vec, dot, put, split, take, turn, unturn

_TINY = 1e-30
_FAR = np.inf


@dataclass(frozen=True, eq=False)
class Hits:
    """What each ray hits: depth `t` [m], `id`, and the place `q` on it; `cover` has each body's rays, hidden or not."""

    t: Floats
    id: np.ndarray[Any, np.dtype[np.int16]]
    q: Vec
    cover: dict[int, Indices]

    def copy(self) -> Hits:
        """Return a copy that may be drawn on."""
        q = (self.q[0].copy(), self.q[1].copy(), self.q[2].copy())
        return Hits(self.t.copy(), self.id.copy(), q, dict(self.cover))


def interval(kind: str, o: Vec, d: Vec) -> tuple[Floats, Floats]:
    """Return where lines o + t d enter and leave the unit body of that kind; enter > leave where they miss it."""
    if kind == "box":
        return _slabs(o, d, (0, 1, 2))
    if kind == "ellipsoid":
        return _round(o, d, (0, 1, 2))
    near, far = _round(o, d, (0, 2))
    low, high = _slabs(o, d, (1,))
    return np.maximum(near, low), np.minimum(far, high)


def _slabs(o: Vec, d: Vec, axes: tuple[int, ...]) -> tuple[Floats, Floats]:
    enter, leave = np.asarray(-_FAR), np.asarray(_FAR)
    for k in axes:
        speed = np.where(d[k] == 0.0, _TINY, d[k])
        first, second = (-1.0 - o[k]) / speed, (1.0 - o[k]) / speed
        enter = np.maximum(enter, np.minimum(first, second))
        leave = np.minimum(leave, np.maximum(first, second))
    return enter, leave


def _round(o: Vec, d: Vec, axes: tuple[int, ...]) -> tuple[Floats, Floats]:
    a, b, c = _TINY, 0.0, -1.0
    for k in axes:
        a, b, c = a + d[k] * d[k], b + o[k] * d[k], c + o[k] * o[k]
    inside = b * b - a * c
    root = np.sqrt(np.maximum(inside, 0.0))
    return np.where(inside > 0.0, (-b - root) / a, _FAR), np.where(inside > 0.0, (-b + root) / a, -_FAR)


def local(state: State, k: int, origin: Vec, direction: Vec) -> tuple[Vec, Vec]:
    """Return a ray in the coordinates of body `k`, divided by its half extents."""
    h = state.half[k]
    away = tuple(origin[i] - state.centre[k, i] for i in range(3))
    o, d = unturn(state.R[k], (away[0], away[1], away[2])), unturn(state.R[k], direction)
    return (o[0] / h[0], o[1] / h[1], o[2] / h[2]), (d[0] / h[0], d[1] / h[1], d[2] / h[2])


def carry(world: World, state: State, k: int, q: Vec) -> Vec:
    """Return the lab points of the places `q` on body `k`, or on plane -1 - k, at that instant."""
    if k >= 0:
        h = state.half[k]
        x = turn(state.R[k], (q[0] * h[0], q[1] * h[1], q[2] * h[2]))
        return (x[0] + state.centre[k, 0], x[1] + state.centre[k, 1], x[2] + state.centre[k, 2])
    plane, (da, db) = world.planes[-1 - k], state.shift[-1 - k]
    u, v = q[0] + da, q[1] + db
    x = tuple(u * plane.a[i] + v * plane.b[i] - plane.offset * plane.normal[i] for i in range(3))
    return (x[0], x[1], x[2])


def project(world: World, state: State, x: Vec) -> Vec:
    """Return the image point and depth (u [px], v [px], z [m]) of lab points."""
    c = unturn(state.view, (x[0] - state.eye[0], x[1] - state.eye[1], x[2] - state.eye[2]))
    cx, cy = world.center_px
    z = np.where(np.abs(c[2]) < _TINY, _TINY, c[2])
    return (world.focal * c[0] / z + cx, world.focal * c[1] / z + cy, c[2])


class View:
    """A set of rays through image points (u, v) [px], which keeps what never moves from frame to frame.

    Parameters
    ----------
    world : World
        What is looked at.
    u, v : (n,) float
        Image points of the full frame.
    grid : (rows, columns), optional
        The shape when the points are a regular grid in row order, which makes bounding boxes cheap.
    """

    def __init__(self, world: World, u: Floats, v: Floats, grid: tuple[int, int] | None = None) -> None:
        self.world, self.u, self.v, self.grid = world, u, v, grid
        cx, cy = world.center_px
        self._rays: Vec = ((u - cx) / world.focal, (v - cy) / world.focal, np.ones_like(u))
        self._key: bytes = b""
        self._dirs: Vec = self._rays
        self._base = Hits(u, np.zeros(0, dtype=np.int16), self._rays, {})

    @classmethod
    def regular(cls, world: World, rows: int, columns: int) -> View:
        """Return the view of a grid whose cells tile the frame: cell j is centred on u = (j + 0.5) W/columns - 0.5."""
        H, W = world.hw
        u = (np.arange(columns) + 0.5) * (W / columns) - 0.5
        v = (np.arange(rows) + 0.5) * (H / rows) - 0.5
        return cls(world, np.tile(u, rows), np.repeat(v, columns), (rows, columns))

    def directions(self, state: State) -> Vec:
        """Return the rays' directions in the lab."""
        self.base(state)
        return self._dirs

    def key(self, state: State) -> bytes:
        """Return bytes that change when the still part of the picture does."""
        return state.eye.tobytes() + state.view.tobytes() + state.shift.tobytes()

    def base(self, state: State) -> Hits:
        """Return the hits of everything that never moves; not to be written to."""
        key = self.key(state)
        if key != self._key:
            self._key, self._dirs = key, turn(state.view, self._rays)
            self._base = self._room(state)
            for k in range(len(self.world.bodies)):
                if self.world.still[k]:
                    self._draw(state, k, self._base)
        return self._base

    def hits(self, state: State) -> Hits:
        """Return what the rays hit at that instant."""
        hits = self.base(state).copy()
        for k in self._order():
            if state.shown[k] and not self.world.still[k]:
                self._draw(state, k, hits)
        return hits

    def _order(self) -> list[int]:
        """Return the bodies in the order of drawing: those that are drawn over others come last."""
        late = {a for a, _ in self.world.over}
        return sorted(range(len(self.world.bodies)), key=lambda k: k in late)

    def _room(self, state: State) -> Hits:
        """Return the hits of the planes; q is (a, b, 0) in meters."""
        n = len(self.u)
        d, eye = self._dirs, split(state.eye)
        t, ids = np.full(n, _FAR), np.full(n, -1, dtype=np.int16)
        for k, plane in enumerate(self.world.planes):
            speed = dot(plane.normal, d)
            height = dot(plane.normal, eye) + plane.offset
            reach = np.where(speed < -1e-9, height / np.where(speed < -1e-9, -speed, 1.0), _FAR)
            nearer = reach < t
            t = np.where(nearer, reach, t)
            ids[nearer] = -1 - k
        q: Vec = (np.zeros(n), np.zeros(n), np.zeros(n))
        for k, plane in enumerate(self.world.planes):
            index = np.flatnonzero(ids == -1 - k)
            far = t[index]
            x = (eye[0] + far * d[0][index], eye[1] + far * d[1][index], eye[2] + far * d[2][index])
            q[0][index] = dot(plane.a, x) - state.shift[k, 0]
            q[1][index] = dot(plane.b, x) - state.shift[k, 1]
        return Hits(t, ids, q, {})

    def _draw(self, state: State, k: int, hits: Hits) -> None:
        """Draw body `k` on `hits`, in place."""
        index = self._box(state, k)
        if index.size == 0:
            return
        o, d = local(state, k, split(state.eye), take(self._dirs, index))
        enter, leave = interval(self.world.bodies[k].kind, o, d)
        met = (enter < leave) & (enter > 0.0)
        index, t = index[met], enter[met]
        wins = t < hits.t[index]
        for a, b in self.world.over:
            if state.swapped and a == k:
                wins |= hits.id[index] == b
        hits.cover[k] = index
        index, t, d = index[wins], t[wins], take(take(d, np.flatnonzero(met)), np.flatnonzero(wins))
        hits.t[index], hits.id[index] = t, k
        put(hits.q, index, (o[0] + t * d[0], o[1] + t * d[1], o[2] + t * d[2]))

    def _box(self, state: State, k: int) -> Indices:
        """Return the rays inside the bounding box of body `k` in the image; all of them if it reaches the camera."""
        signs = np.array([(i, j, m) for i in (-1.0, 1.0) for j in (-1.0, 1.0) for m in (-1.0, 1.0)])
        u, v, z = project(self.world, state, carry(self.world, state, k, split(signs)))
        if z.min() < 0.05:
            return np.arange(len(self.u))
        (u0, u1), (v0, v1) = (u.min(), u.max()), (v.min(), v.max())
        if self.grid is None:
            return np.flatnonzero((self.u >= u0) & (self.u <= u1) & (self.v >= v0) & (self.v <= v1))
        columns = self.grid[1]
        i = np.flatnonzero((self.v[::columns] >= v0) & (self.v[::columns] <= v1))
        j = np.flatnonzero((self.u[:columns] >= u0) & (self.u[:columns] <= u1))
        return np.asarray((i[:, None] * columns + j[None, :]).ravel())


def in_shadow(world: World, state: State, points: Vec, casters: list[int]) -> Bools:
    """Return for each lab point whether one of the bodies `casters` stands between it and the light."""
    light = split(state.shadow_light)
    dark = np.zeros(np.shape(points[0]), dtype=np.bool_)
    for k in casters:
        if not state.shown[k]:
            continue
        h = state.half[k]
        away = tuple(state.centre[k, i] - points[i] for i in range(3))
        along = dot((away[0], away[1], away[2]), light)
        reach = h[0] * h[0] + h[1] * h[1] + h[2] * h[2]
        aside = dot((away[0], away[1], away[2]), (away[0], away[1], away[2])) - along * along
        index = np.flatnonzero((aside < reach) & (along > -np.sqrt(reach)))
        o, d = local(state, k, take(points, index), light)
        enter, leave = interval(world.bodies[k].kind, o, d)
        dark[index] |= (enter < leave) & (leave > 1e-6)
    return dark
