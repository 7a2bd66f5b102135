"""Objects over time for the kernels of kinematics and mechanics."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pvbench_suite.errors import NotPerceived, Unmeasurable
from pvbench_suite.perception.types import Bodies, Cameras, Contacts, Depth, Masks
from pvbench_suite.physics.energy import bounce_levels, pendulum_levels
from pvbench_suite.physics.gravity import Flight
from pvbench_suite.physics.momentum import Collision, velocity_change
from pvbench_suite.physics.permanence import object_states
from pvbench_suite.physics.robust import regularise_depth
from pvbench_suite.physics.series import median_dt
from pvbench_suite.physics.series import motion as image_motion
from pvbench_suite.prompts.brief import Brief

Floats = NDArray[np.float64]


def path(bodies: Bodies, n: int) -> Floats:
    """Return the world path (T, 3) of object `n`, NaN where it is not seen."""
    seen = np.asarray(bodies.present[:, n], dtype=bool)
    return np.where(seen[:, None], np.asarray(bodies.centre[:, n], dtype=float), np.nan)


def extent(bodies: Bodies, n: int) -> float:
    """Return the longest extent of object `n` [world units]."""
    if bodies.half is not None and np.isfinite(bodies.half[n]).all():
        return 2.0 * float(np.max(bodies.half[n]))
    return float(bodies.diameter[n])


#: Share of g by which perspective and lens bend a lawful fall in the picture plane: the real fall `mor_falling_ball`
#: (a laboratory recording) reads 0.29, its reversal 0.30.
PLANAR_BEND = 0.22


def bend(bodies: Bodies) -> float:
    """Return the share of g that the imaging may bend a lawful fall by: 0 with depth, `PLANAR_BEND` in the plane."""
    return PLANAR_BEND if bodies.planar else 0.0


def rays(bodies: Bodies, cameras: Cameras | None, n: int) -> Floats | None:
    """Return the rays (T, 3) from the camera to object `n`; None in a planar world."""
    found = bodies.rays(cameras)
    return None if found is None else found[:, n]


def poses(cameras: Cameras | None) -> Floats | None:
    """Return the camera-to-world poses (T, 4, 4), or None in a planar world."""
    return None if cameras is None else np.asarray(cameras.Tcw, dtype=float)


def motion(bodies: Bodies) -> float:
    """Return the largest image motion of the objects in percent of the frame diagonal."""
    uv = np.where(np.asarray(bodies.present, dtype=bool)[..., None], np.asarray(bodies.uv, dtype=float), np.nan)
    return image_motion([uv[:, n] for n in range(len(bodies.names))], bodies.hw, median_dt(bodies.times))


def states(bodies: Bodies, masks: Masks, depth: Depth | None) -> NDArray[np.int8]:
    """Return the object states (T, N) of R15: 0 seen, 1 hidden, 2 out of the frame, 3 unexplained, -1 never found.

    With depth by the definition of R15; without, from the pixels of a planar profile.
    """
    if depth is None:
        from pvbench_suite.perception.embedded.states import object_states as from_pixels

        return np.asarray(from_pixels(bodies, masks), dtype=np.int8)
    scene = depth.at(bodies.times)
    dt = median_dt(bodies.times)
    found = object_states(bodies.present, bodies.uv, bodies.z, bodies.radius, scene, bodies.hw, dt)
    return np.asarray(found, dtype=np.int8)


def flights(bodies: Bodies, contacts: Contacts, cameras: Cameras | None, n: int) -> list[Flight]:
    """Return the airborne intervals of object `n`; a frame in which it is not seen is missing, not a landing."""
    runs = contacts.flights(n)
    if bodies.planar and not runs:
        # In the plane only what is surely free counts as airborne: a fall that stayed away could be one unseen.
        raise Unmeasurable("no_airborne", "no interval is surely free flight in the picture plane", detectable=False)
    where, line = path(bodies, n), rays(bodies, cameras, n)
    return [Flight(bodies.times[run], where[run], None if line is None else line[run]) for run in runs]


def collisions(bodies: Bodies, contacts: Contacts, cameras: Cameras | None, brief: Brief) -> list[list[Collision]]:
    """Return the collisions of each pair of free bodies, one list per pair in order of their indices.

    Only contacts between two bodies count; velocity changes that the clip is too short to know are left out.
    """
    free = set(brief.free(bodies.names))
    found: dict[tuple[int, int], list[Collision]] = {}
    for when, i, j in zip(contacts.when, contacts.first, contacts.second, strict=True):
        i, j = int(i), int(j)
        if i not in free or j not in free:
            continue
        try:
            changes = [_change(bodies, contacts, cameras, n, float(when)) for n in (i, j)]
        except Unmeasurable:
            continue
        speed = _approach(bodies, i, j, float(when))
        (dvi, ci), (dvj, cj) = changes
        found.setdefault((i, j), []).append(Collision(dvi, dvj, speed, ci, cj, (i, j)))
    return [found[pair] for pair in sorted(found)]


def _change(bodies: Bodies, contacts: Contacts, cameras: Cameras | None, n: int, when: float) -> tuple[Floats, Floats]:
    line = rays(bodies, cameras, n)
    size = float(bodies.diameter[n])
    return velocity_change(bodies.times, path(bodies, n), when, size, line, contacts.of(n), poses(cameras))


def _approach(bodies: Bodies, i: int, j: int, when: float) -> float:
    """Return the relative speed of two bodies over the quarter second before a contact (at least two frames)."""
    gap = path(bodies, i) - path(bodies, j)
    dt = median_dt(bodies.times)
    chosen = (
        (bodies.times < when - 0.5 * dt) & (bodies.times > when - max(0.25, 3.5 * dt)) & np.isfinite(gap).all(axis=1)
    )
    if chosen.sum() < 2:
        return math.nan
    t = bodies.times[chosen] - bodies.times[chosen].mean()
    return float(np.linalg.norm((t[:, None] * gap[chosen]).sum(axis=0) / np.square(t).sum()))


def energy_chains(
    bodies: Bodies, contacts: Contacts, cameras: Cameras | None, brief: Brief
) -> tuple[list[list[float]], list[list[float]]]:
    """Return the energy levels and their errors, one chain per free body: bounces, or swings about its pivot."""
    levels: list[list[float]] = []
    errors: list[list[float]] = []
    for n in brief.free(bodies.names):
        if contacts.down is None or bool(np.asarray(contacts.driven[:, n], dtype=bool).all()):
            continue
        where = path(bodies, n)
        if not bodies.planar:
            where = regularise_depth(bodies.times, where, contacts.of(n), poses(cameras))
        if contacts.pivot is not None and np.isfinite(contacts.pivot[n]).all():
            h, se = pendulum_levels(bodies.times, _angle(where - contacts.pivot[n], contacts.down))
        else:
            surroundings = contacts.when[(contacts.first == n) & (contacts.second < 0)]
            h, se = bounce_levels(bodies.times, where, surroundings, contacts.down)
        if len(h):
            levels.append(list(h))
            errors.append(list(se))
    return levels, errors


def _angle(arm: Floats, down: Floats) -> Floats:
    """Return the signed angle (T,) [rad] of a pendulum's arm from the direction of gravity, in its plane of swing."""
    g = np.asarray(down, dtype=float) / np.linalg.norm(down)
    along = arm @ g
    side = arm - along[:, None] * g
    axis = side[np.nanargmax(np.linalg.norm(side, axis=1))] if np.isfinite(side).any() else np.array([1.0, 0.0, 0.0])
    axis = axis / max(float(np.linalg.norm(axis)), 1e-12)
    return np.asarray(np.arctan2(side @ axis, along))


def image_down(contacts: Contacts, cameras: Cameras | None) -> Floats:
    """Return the image direction (2,) of gravity, the axis along which soft bodies are squashed; +y where unknown."""
    if contacts.down is None or cameras is None:
        return np.array([0.0, 1.0])
    local = np.asarray(cameras.Tcw[0, :3, :3], dtype=float).T @ np.asarray(contacts.down, dtype=float)
    length = float(np.hypot(local[0], local[1]))
    return local[:2] / length if length > 0.1 else np.array([0.0, 1.0])


def with_pose(bodies: Bodies, brief: Brief) -> list[int]:
    """Return the indices of the rigid objects whose orientation can be followed."""
    if bodies.R is None:
        raise NotPerceived("the objects have no orientation", "choose a profile with 6D poses")
    return [n for n in brief.rigid(bodies.names) if brief.oriented(bodies.names[n])]


def rotations(bodies: Bodies, n: int) -> Floats:
    """Return the orientations (T, 3, 3) of object `n`, object to world, NaN where it is not seen."""
    assert bodies.R is not None
    seen = np.asarray(bodies.present[:, n], dtype=bool)
    return np.where(seen[:, None, None], np.asarray(bodies.R[:, n], dtype=float), np.nan)


def turn(bodies: Bodies, n: int) -> float | None:
    """Return the largest rotation [deg] of object `n` from its first valid orientation, or None without poses."""
    if bodies.R is None:
        return None
    R = np.asarray(bodies.R[:, n], dtype=float)
    R = R[np.isfinite(R).all(axis=(1, 2))]
    if len(R) == 0:
        return None
    cosine = (np.einsum("tij,ij->t", R, R[0]) - 1.0) / 2.0
    return float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)).max()))
