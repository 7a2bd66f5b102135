"""Signed distances between bodies, and between a body and a fixed surface (R24)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from pvbench_suite.feeds.bodies import path, poses
from pvbench_suite.measurement import Measurement
from pvbench_suite.perception.types import Bodies, Cameras, Contacts
from pvbench_suite.physics.collision import gap_penetration, plane_penetration, sphere_penetration
from pvbench_suite.physics.robust import regularise_depth
from pvbench_suite.physics.series import median_dt, sd3
from pvbench_suite.prompts.brief import Brief

Floats = NDArray[np.float64]


def penetrations(
    bodies: Bodies, contacts: Contacts, cameras: Cameras | None, brief: Brief
) -> list[Callable[[], Measurement]]:
    """Return one measurement to make per pair of rigid spheres, and per rigid body and fixed plane.

    Depth is regularised here; its error before that is handed on, since smoothed depth no longer shows it.
    """
    rigid = brief.rigid(bodies.names)
    paths = {n: _regular(bodies, contacts, cameras, n) for n in rigid}
    spheres = [n for n in rigid if bodies.shape[n] == "sphere"]
    out: list[Callable[[], Measurement]] = []
    for i, j in combinations(spheres, 2):
        out.append(_between(bodies, paths, i, j, _axis(cameras)))
    for n in rigid:
        for plane in contacts.planes if contacts.planes is not None else ():
            out.append(_against(bodies, paths[n], n, np.asarray(plane, dtype=float), _axis(cameras)))
    return out


def _axis(cameras: Cameras | None) -> Floats:
    return np.array([0.0, 0.0, 1.0]) if cameras is None else np.asarray(cameras.Tcw[0, :3, 2], dtype=float)


def _regular(bodies: Bodies, contacts: Contacts, cameras: Cameras | None, n: int) -> Floats:
    where = path(bodies, n)
    return where if bodies.planar else regularise_depth(bodies.times, where, contacts.of(n), poses(cameras))


def _between(bodies: Bodies, paths: dict[int, Floats], i: int, j: int, axis: Floats) -> Callable[[], Measurement]:
    radii = float(bodies.diameter[i]) / 2.0, float(bodies.diameter[j]) / 2.0
    dt = median_dt(bodies.times)
    raw = None if bodies.planar else float(sd3(np.asarray(bodies.z[:, i] - bodies.z[:, j], dtype=float)))
    return lambda: sphere_penetration(paths[i], paths[j], *radii, dt=dt, depth_sd=raw, axis=axis)


def _against(bodies: Bodies, where: Floats, n: int, plane: Floats, axis: Floats) -> Callable[[], Measurement]:
    normal, offset = plane[:3], float(plane[3])
    dt = median_dt(bodies.times)
    lean = float(abs(normal @ axis))
    raw = None if bodies.planar else lean * float(sd3(np.asarray(bodies.z[:, n], dtype=float)))
    height = where @ normal + offset
    if bodies.half is None or bodies.R is None or bodies.shape[n] == "sphere":
        return lambda: plane_penetration(height, float(bodies.diameter[n]) / 2.0, dt=dt, depth_sd=raw)
    half = np.asarray(bodies.half[n], dtype=float)
    corners = np.array(list(product((-1.0, 1.0), repeat=3))) * half
    reach = np.einsum("tij,cj,i->tc", np.asarray(bodies.R[:, n], dtype=float), corners, normal)
    gap = height + reach.min(axis=1)
    return lambda: gap_penetration(gap, float(half.min()), dt=dt, depth_sd=raw)
