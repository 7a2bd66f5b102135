"""Paints what the rays hit: texture, Lambert shading, cast shadows, smooth edges.

Conventions
-----------
Colors are linear RGB in [0, 1] until the picture is made; the display curve is a square root, so that no power
function is needed.  Shading is ambient + (1 - ambient) max(0, n . l), without the second term in shadow.  Textures are
value noise on two lattices, fixed to the body (its own coordinates at its first size, so that paint stretches with the
body) or to the plane.  Blotches are soft-edged and several pixels wide, so that pictures have no moire.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pvbench_suite.simulate.raycast import Hits, View, in_shadow
from pvbench_suite.simulate.scene import Paint, State, World
from pvbench_suite.simulate.vectors import Bools, Floats, Indices, Vec, dot, put, split, stacked, take, turn, unit

_TABLE = 32
_EDGE = 0.35


@dataclass(frozen=True, eq=False)
class Surface:
    """What each ray sees: `hits`, lab `normal` and `point`, `albedo`, and whether a cast shadow lies there."""

    hits: Hits
    normal: Vec
    point: Vec
    albedo: Vec
    shadow: Bools


@lru_cache(maxsize=256)
def _table(seed: int) -> Floats:
    """Return the lattice values of a paint, (32^3,) in [0, 1]."""
    return np.random.default_rng([seed, 17]).random(_TABLE**3)


def _noise(seed: int, p: Vec) -> Floats:
    """Return value noise in [0, 1] at the points `p`, in units of the lattice."""
    table = _table(seed)
    cells, weights = [], []
    for x in p:
        low = np.floor(x)
        f = x - low
        i = low.astype(np.int64)
        cells.append((i & (_TABLE - 1), (i + 1) & (_TABLE - 1)))
        weights.append(f * f * (3.0 - 2.0 * f))
    (x0, x1), (y0, y1), (z0, z1) = cells
    wx, wy, wz = weights

    def layer(z: Any) -> Floats:
        base = z * (_TABLE * _TABLE)
        row0, row1 = base + y0 * _TABLE, base + y1 * _TABLE
        a, b, c, d = (table.take(i) for i in (row0 + x0, row0 + x1, row1 + x0, row1 + x1))
        low, high = a + wx * (b - a), c + wx * (d - c)
        return np.asarray(low + wy * (high - low))

    if not np.any(wz):
        return layer(z0)
    near = layer(z0)
    return np.asarray(near + wz * (layer(z1) - near))


def texture(paint: Paint, p: Vec, fine: Any = 1.0) -> Vec:
    """Return the color of a paint at material points `p` [m]; `fine` in [0, 1] fades the small blotches."""
    a, b = 1.0 / paint.cell, 2.3 / paint.cell
    coarse = _noise(paint.seed, (p[0] * a, p[1] * a, p[2] * a))
    small = _noise(paint.seed + 1, (p[0] * b, p[1] * b, p[2] * b))
    mix = 0.5 + 1.7 * (coarse - 0.5) + 1.1 * fine * (small - 0.5)
    mix = np.minimum(np.maximum(mix, 0.0), 1.0)
    mix = mix * mix * (3.0 - 2.0 * mix)
    low, high = paint.first, paint.second
    color = [low[i] + mix * (high[i] - low[i]) for i in range(3)]
    return (color[0], color[1], color[2])


def normals(world: World, state: State, k: int, q: Vec) -> Vec:
    """Return the lab normals at the places `q` of body `k`, or of plane -1 - k."""
    n = np.shape(q[0])
    if k < 0:
        plane = world.planes[-1 - k]
        return (np.full(n, plane.normal[0]), np.full(n, plane.normal[1]), np.full(n, plane.normal[2]))
    kind, h = world.bodies[k].kind, state.half[k]
    size = [np.abs(x) for x in q]
    zero = np.zeros(n)
    if kind == "box":
        first = (size[0] >= size[1]) & (size[0] >= size[2])
        second = ~first & (size[1] >= size[2])
        g: Vec = (np.where(first, q[0], zero), np.where(second, q[1], zero), np.where(first | second, zero, q[2]))
    elif kind == "cylinder":
        cap = size[1] * size[1] >= q[0] * q[0] + q[2] * q[2]
        g = (np.where(cap, zero, q[0] / h[0]), np.where(cap, q[1], zero), np.where(cap, zero, q[2] / h[2]))
    else:
        g = (q[0] / h[0], q[1] / h[1], q[2] / h[2])
    return unit(turn(state.R[k], g))


def _copied(v: Vec) -> Vec:
    return (v[0].copy(), v[1].copy(), v[2].copy())


class Painter:
    """Paints a view of a world, and keeps the picture of what never moves."""

    def __init__(self, world: World, view: View) -> None:
        self.world, self.view = world, view
        self._key = b""
        self._base: Surface | None = None
        self._moving = [k for k in range(len(world.bodies)) if not world.still[k]]

    def surface(self, state: State) -> Surface:
        """Return what every ray of the view sees at that instant."""
        base = self._still(state)
        hits = self.view.hits(state)
        normal, point, albedo = (_copied(v) for v in (base.normal, base.point, base.albedo))
        out = Surface(hits, normal, point, albedo, base.shadow.copy())
        fresh = hits.id != base.hits.id
        for k in self._moving:
            fresh[hits.cover.get(k, ())] = True
        new = np.flatnonzero(fresh)
        for k in np.unique(hits.id[new]).tolist():
            self._fill(state, out, k, new[hits.id[new] == k])
        if state.shadow:
            old = np.flatnonzero(~fresh)
            out.shadow[old] |= in_shadow(self.world, state, take(out.point, old), self._moving)
        else:
            out.shadow[:] = False
        return out

    def _still(self, state: State) -> Surface:
        """Return the surface of what never moves, in the shadow of what never moves."""
        key = self.view.key(state) + state.shadow_light.tobytes()
        if self._base is None or key != self._key:
            hits, n = self.view.base(state), len(self.view.u)
            normal, point, albedo = (_copied((np.zeros(n),) * 3) for _ in range(3))
            self._key, self._base = key, Surface(hits, normal, point, albedo, np.zeros(n, dtype=np.bool_))
            for k in np.unique(hits.id).tolist():
                self._fill(state, self._base, k, np.flatnonzero(hits.id == k), still=True)
        return self._base

    def _fill(self, state: State, out: Surface, k: int, index: Indices, still: bool = False) -> None:
        """Write normal, point, albedo and shadow of the rays `index`, which all hit body or plane `k`."""
        q, t = take(out.hits.q, index), out.hits.t[index]
        d, eye = take(self.view.directions(state), index), split(state.eye)
        normal = normals(self.world, state, k, q)
        point = (eye[0] + t * d[0], eye[1] + t * d[1], eye[2] + t * d[2])
        if k < 0:
            plane, cell = self.world.planes[-1 - k], self.world.planes[-1 - k].paint.cell
            # A pixel's footprint grows with distance and slant; blotches below it would flicker.
            footprint = t * np.sqrt(dot(d, d)) / (self.world.focal * np.maximum(-dot(plane.normal, unit(d)), 0.05))
            fade = np.minimum(np.maximum(1.6 - 4.0 * footprint / cell, 0.0), 1.0)
            albedo = texture(plane.paint, q, fade)
        else:
            body = self.world.bodies[k]
            albedo = texture(body.paint, (q[0] * body.half[0] + 7.3, q[1] * body.half[1] + 5.1, q[2] * body.half[2]))
        put(out.normal, index, normal)
        put(out.point, index, point)
        put(out.albedo, index, albedo)
        casters = [b for b in range(len(self.world.bodies)) if b != k and (self.world.still[b] or not still)]
        out.shadow[index] = in_shadow(self.world, state, point, casters)


def shading(world: World, state: State, normal: Vec, shadow: Bools) -> Floats:
    """Return the shading in [0, 1] of surfaces with lab normals `normal`, `shadow` true where a cast shadow lies."""
    seen = normal if world.twist is None else turn(world.twist, normal)
    lit = np.where(shadow, 0.0, np.maximum(dot(seen, split(state.light)), 0.0))
    return np.asarray(world.ambient + (1.0 - world.ambient) * lit)


def _linear(world: World, state: State, surface: Surface) -> Floats:
    bright = shading(world, state, surface.normal, surface.shadow)
    red, green, blue = surface.albedo
    return stacked((red * bright, green * bright, blue * bright))


def render(world: World, state: State, painter: Painter) -> tuple[NDArray[np.uint8], Surface]:
    """Return the picture (H, W, 3) of a full view, with smooth edges, and what its pixels' centres see."""
    H, W = world.hw
    surface = painter.surface(state)
    color = _linear(world, state, surface)
    edges = _edges(surface, H, W)
    if edges.size:
        u = np.concatenate([painter.view.u[edges] + du for du in (-0.25, 0.25, -0.25, 0.25)])
        v = np.concatenate([painter.view.v[edges] + dv for dv in (-0.25, -0.25, 0.25, 0.25)])
        close = Painter(world, View(world, u, v)).surface(state)
        a, b, c, d = np.split(_linear(world, state, close), 4)
        color[edges] = 0.25 * ((a + b) + (c + d))
    shown = np.sqrt(color) * (255.0 * state.gain)
    return np.clip(np.rint(shown), 0, 255).astype(np.uint8).reshape(H, W, 3), surface


def _edges(surface: Surface, H: int, W: int) -> Indices:
    """Return the pixels beside an edge of a body, a face or a shadow."""
    edge = np.zeros((H, W), dtype=np.bool_)
    for x, least in ((surface.hits.id, 0.5), (surface.shadow, 0.5), *((n, _EDGE) for n in surface.normal)):
        image = np.asarray(x, dtype=np.float32).reshape(H, W)
        across, down = np.abs(np.diff(image, axis=1)) > least, np.abs(np.diff(image, axis=0)) > least
        edge[:, 1:] |= across
        edge[:, :-1] |= across
        edge[1:] |= down
        edge[:-1] |= down
    return np.flatnonzero(edge)
