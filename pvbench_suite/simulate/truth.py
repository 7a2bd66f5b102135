"""The records of a filmed world: exact perception, in the form that the suite's profiles return.

Conventions
-----------
Those of `pvbench_suite.perception.types`: the world of the records is the first camera's frame, in meters.  Values are
rounded to float32 (depth, normals and flow to float16) only when they are written.  What is not seen is NaN.  A fault
shows in a record because the world has it; the one exception is the violation `normals`, whose record of normals is
the field that the picture is shaded with.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pvbench_suite.perception.types import (
    Bodies,
    Cameras,
    Contacts,
    Depth,
    Masks,
    Normals,
    Ordering,
    Record,
)
from pvbench_suite.simulate import correspondence, points
from pvbench_suite.simulate.film import Film, grid_shape
from pvbench_suite.simulate.raycast import project
from pvbench_suite.simulate.scene import World
from pvbench_suite.simulate.shade import normals as surface_normals
from pvbench_suite.simulate.vectors import Floats, product, put, split, stacked, turn, unturn

#: The products that a film gives; the rest of perception (features, embeddings) has no truth.
PRODUCTS = (
    *("masks", "depth", "normals", "cameras", "bodies", "contacts", "ordering"),
    *("tracks", "shading", "flow", "interpolation"),
)

#: An object is present when at least this many of its pixels are seen, and this share of those in the frame.
_PIXELS, _SHARE = 8, 0.15


def names(world: World) -> tuple[str, ...]:
    """Return the names of the objects, in the order of the records."""
    return tuple(world.bodies[k].name for k in world.objects)


def intrinsics(world: World, rows: int, columns: int) -> Floats:
    """Return the camera matrix (3, 3) [px] for a grid of that shape that tiles the frame."""
    H, W = world.hw
    fx, fy = world.focal * columns / W, world.focal * rows / H
    return np.array([[fx, 0.0, (columns - 1) / 2.0], [0.0, fy, (rows - 1) / 2.0], [0.0, 0.0, 1.0]])


def samples(world: World, last: int) -> list[int]:
    """Return about 4 frames a second, at least 8, spread evenly over 0..last."""
    count = max(8, round(4.0 * len(world.times) * float(world.times[1] - world.times[0])))
    return [round(k * last / (count - 1)) for k in range(count)]


def records(world: World, film: Film) -> Mapping[str, Record]:
    """Return the records of a filmed world, by product: those of `PRODUCTS`."""
    made: list[Record] = [
        masks(world, film),
        depth(world, film),
        normals(world, film),
        cameras(world),
        bodies(world, film),
        contacts(world),
        Ordering(world.times, film.cue, film.depth.astype(np.float32), names(world)),
        points.tracks(world, film),
        points.shading_record(world, film),
        correspondence.flow(world, film, samples),
        correspondence.interpolation(world, film),
    ]
    return {record.product: record for record in made}


def masks(world: World, film: Film) -> Masks:
    """Return the masks of the objects at full resolution."""
    dense = np.stack([film.ids == k for k in world.objects], axis=1)
    return Masks.from_dense(world.times, dense, names(world), world.hw)


def depth(world: World, film: Film) -> Depth:
    """Return the depth on the truth grid in every frame."""
    rows, columns = grid_shape(world)
    z = np.stack([hits.t.astype(np.float16).reshape(rows, columns) for hits in film.grid])
    return Depth(world.times, z, intrinsics(world, rows, columns), world.hw, metric=True)


def normals(world: World, film: Film) -> Normals:
    """Return the normals on the truth grid: the true ones, or in a world with a twist those that it is shaded with."""
    rows, columns = grid_shape(world)
    frames = samples(world, len(world.times) - 1)
    out = np.empty((len(frames), rows, columns, 3), dtype=np.float16)
    for m, t in enumerate(frames):
        state, hits = world.state(t), film.grid[t]
        n = (np.zeros(hits.t.size), np.zeros(hits.t.size), np.zeros(hits.t.size))
        for k in np.unique(hits.id).tolist():
            index = np.flatnonzero(hits.id == k)
            place = (hits.q[0][index], hits.q[1][index], hits.q[2][index])
            put(n, index, surface_normals(world, state, k, place))
        seen = n if world.twist is None else turn(world.twist, n)
        out[m] = stacked(unturn(state.view, seen)).reshape(rows, columns, 3)
    return Normals(world.times[frames], out, world.hw)


def cameras(world: World) -> Cameras:
    """Return the camera matrix and poses."""
    Tcw = np.zeros((len(world.times), 4, 4))
    Tcw[:, 3, 3] = 1.0
    Tcw[:, :3, 3] = points.to_records(world, world.eye)
    for t in range(len(Tcw)):
        Tcw[t, :3, :3] = product(world.view[0].T, world.view[t])
    return Cameras(world.times, intrinsics(world, *world.hw), Tcw.astype(np.float64), world.hw)


def bodies(world: World, film: Film) -> Bodies:
    """Return where each object is, how large in the picture, and how turned."""
    chosen, T = list(world.objects), len(world.times)
    present = film.seen >= np.maximum(_PIXELS, _SHARE * film.cover)
    uv, z = np.empty((T, len(chosen), 2)), np.empty((T, len(chosen)))
    R = np.empty((T, len(chosen), 3, 3))
    for t in range(T):
        u, v, z[t] = project(world, world.state(t), split(world.centre[t, chosen]))
        uv[t] = np.stack([u, v], axis=-1)
        for n, k in enumerate(chosen):
            R[t, n] = product(world.view[0].T, world.R[t, k])
    h = world.half[:, chosen]
    radius = world.focal * ((h[..., 0] + h[..., 1] + h[..., 2]) / 3.0) / z
    first = np.array([world.bodies[k].half for k in chosen], dtype=np.float64).reshape(-1, 3)
    centre = points.to_records(world, world.centre[:, chosen])

    def seen(x: Floats) -> Floats:
        return np.where(present.reshape(present.shape + (1,) * (x.ndim - 2)), x, np.nan).astype(np.float32)

    return Bodies(
        world.times,
        centre=seen(centre),
        uv=seen(uv),
        radius=seen(radius),
        z=seen(z),
        present=present,
        diameter=2.0 * first.max(axis=1, initial=0.0),
        names=names(world),
        shape=tuple(world.bodies[k].shape for k in chosen),
        hw=world.hw,
        R=seen(R),
        half=first,
    )


def contacts(world: World) -> Contacts:
    """Return the exact contacts, who flies and who is driven, and the fixed surfaces."""
    chosen = list(world.objects)
    place = {k: n for n, k in enumerate(chosen)} | {-1: -1}
    kept = sorted((when, place[a], place[b]) for when, a, b in world.contacts)
    normal, offset = world.surfaces[:, :3], world.surfaces[:, 3]
    eye = world.eye[0]
    away = normal[:, 0] * eye[0] + normal[:, 1] * eye[1] + normal[:, 2] * eye[2] + offset
    planes = np.concatenate([stacked(unturn(world.view[0], split(normal))), away[:, None]], axis=1)
    return Contacts(
        world.times,
        when=np.array([when for when, _, _ in kept], dtype=np.float64),
        first=np.array([a for _, a, _ in kept], dtype=np.int64),
        second=np.array([b for _, _, b in kept], dtype=np.int64),
        airborne=world.airborne[:, chosen],
        driven=world.driven[:, chosen],
        names=names(world),
        down=stacked(unturn(world.view[0], (0.0, 1.0, 0.0))),
        planes=planes,
        pivot=points.to_records(world, world.pivot[chosen]),
        down_source="truth",
    )
