"""Signed distances between bodies, and between a body and a fixed surface (R24)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.feeds.bodies import regular, rotations
from pvbench_suite.feeds.distance import SHAPES, Solid, between, slope, to_plane
from pvbench_suite.measurement import Measurement
from pvbench_suite.perception.types import Bodies, Cameras, Contacts
from pvbench_suite.physics.collision import gap_penetration, sphere_penetration
from pvbench_suite.physics.series import median_dt, present_median, sd3
from pvbench_suite.prompts.brief import Brief

Floats = NDArray[np.float64]


def penetrations(
    bodies: Bodies, contacts: Contacts, cameras: Cameras | None, brief: Brief
) -> list[Callable[[], Measurement]]:
    """Return one measurement to make per pair of rigid bodies, and per rigid body and fixed plane.

    Balls, boxes and cylinders take part; of any other shape the surface is not known.  Two fixed bodies are no pair,
    and a fixed body none with a plane.  Depth is regularised here; its error before that is handed on, since smoothed
    depth no longer shows it.

    Raises
    ------
    Unmeasurable
        ``no_object`` when there is no such pair.
    """
    solids = {n: s for n in brief.rigid(bodies.names) if (s := _solid(bodies, contacts, cameras, n)) is not None}
    movable = set(brief.movable(bodies.names))
    pairs = [(i, j) for i, j in combinations(solids, 2) if i in movable or j in movable]
    planes = [np.asarray(p, dtype=float) for p in (contacts.planes if contacts.planes is not None else ())]
    out = [_between(bodies, cameras, solids, i, j) for i, j in pairs]
    out += [_against(bodies, cameras, solids[n], n, plane) for n in solids if n in movable for plane in planes]
    if not out:
        raise Unmeasurable("no_object", "no two solid bodies, or body and fixed plane, have a surface that is known")
    return out


def _solid(bodies: Bodies, contacts: Contacts, cameras: Cameras | None, n: int) -> Solid | None:
    """Return the solid of object `n`, its depth regularised; None where its surface is not known."""
    shape, where = bodies.shape[n], regular(bodies, contacts, cameras, n)
    if shape == "sphere":
        half = np.full(3, float(bodies.diameter[n]) / 2.0)
        return Solid(shape, where, half, np.broadcast_to(np.eye(3), (len(where), 3, 3)))
    if shape not in SHAPES or bodies.half is None or bodies.R is None:
        return None
    half = np.asarray(bodies.half[n], dtype=float)
    oval = shape == "cylinder" and not np.isclose(half[0], half[2], rtol=0.02)
    return None if oval or not (half > 0).all() else Solid(shape, where, half, rotations(bodies, n))


def _axes(bodies: Bodies, cameras: Cameras | None) -> Floats:
    """Return the direction of depth (T, 3) in the world."""
    if cameras is None:
        return np.broadcast_to(np.array([0.0, 0.0, 1.0]), (len(bodies.times), 3))
    return np.asarray(cameras.Tcw[:, :3, 2], dtype=float)


def _between(
    bodies: Bodies, cameras: Cameras | None, solids: dict[int, Solid], i: int, j: int
) -> Callable[[], Measurement]:
    """Return the measurement of two bodies."""
    a, b, axes, dt = solids[i], solids[j], _axes(bodies, cameras), median_dt(bodies.times)
    raw = None if bodies.planar else float(sd3(_depth(bodies, i) - _depth(bodies, j)))
    if a.shape == b.shape == "sphere":
        apart = np.linalg.norm(a.centre - b.centre, axis=1)
        # One direction for the clip: where they come nearest, which is where it counts.
        axis = axes[int(np.nanargmin(apart))] if np.isfinite(apart).any() else axes[0]
        return lambda: sphere_penetration(a.centre, b.centre, a.size, b.size, dt=dt, depth_sd=raw, axis=axis)
    return lambda: gap_penetration(
        between(a, b), a.size, b.size, dt=dt, depth_sd=raw, cosine=None if raw is None else slope(a, b, axes)
    )


def _against(bodies: Bodies, cameras: Cameras | None, solid: Solid, n: int, plane: Floats) -> Callable[[], Measurement]:
    """Return the measurement of a body and a plane."""
    raw = None
    if not bodies.planar:
        # A wrong depth moves the body along its ray, not along the optical axis.
        place = np.zeros((1, 3)) if cameras is None else cameras.centres
        along = (solid.centre - place) @ (plane[:3] / np.linalg.norm(plane[:3])) / _depth(bodies, n)
        lean = float(present_median(np.abs(along)))
        raw = lean * float(sd3(_depth(bodies, n))) if np.isfinite(lean) else None
    return lambda: gap_penetration(to_plane(solid, plane), solid.size, dt=median_dt(bodies.times), depth_sd=raw)


def _depth(bodies: Bodies, n: int) -> Floats:
    """Return the depth (T,) of object `n`, NaN where it is not seen."""
    return np.where(np.asarray(bodies.present[:, n], dtype=bool), np.asarray(bodies.z[:, n], dtype=float), np.nan)
