"""Objects over time for the kernels of kinematics and mechanics."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pvbench_suite.errors import NotPerceived
from pvbench_suite.perception.types import Bodies, Cameras, Contacts, Depth, Masks, Tracks
from pvbench_suite.physics import series
from pvbench_suite.physics.gravity import Flight
from pvbench_suite.physics.permanence import object_states
from pvbench_suite.physics.robust import regularise_depth
from pvbench_suite.physics.series import median_dt
from pvbench_suite.prompts.brief import Brief

Floats = NDArray[np.float64]

#: Least horizontal part of a camera's axis for it to be turned level (70 deg of pitch).
_LEVEL = 0.34
#: Longest time [s] out of sight over which a flight is held to go on.
_UNSEEN = 0.5


def path(bodies: Bodies, n: int) -> Floats:
    """Return the world path (T, 3) of object `n`, NaN where it is not seen."""
    seen = np.asarray(bodies.present[:, n], dtype=bool)
    return np.where(seen[:, None], np.asarray(bodies.centre[:, n], dtype=float), np.nan)


def extent(bodies: Bodies, n: int) -> float:
    """Return the longest extent of object `n` [world units]."""
    if bodies.half is not None and np.isfinite(bodies.half[n]).all():
        return 2.0 * float(np.max(bodies.half[n]))
    return float(bodies.diameter[n])


def rays(bodies: Bodies, cameras: Cameras | None, n: int) -> Floats | None:
    """Return the rays (T, 3) from the camera to object `n`; None in a planar world."""
    found = bodies.rays(cameras)
    return None if found is None else found[:, n]


def regular(bodies: Bodies, contacts: Contacts, cameras: Cameras | None, n: int) -> Floats:
    """Return the world path (T, 3) of object `n` with its depth regularised between contacts; planar: as it is."""
    where = path(bodies, n)
    if bodies.planar:
        return where
    return regularise_depth(bodies.times, where, contacts.of(n), level_poses(bodies, contacts, cameras))


def level_poses(bodies: Bodies, contacts: Contacts, cameras: Cameras | None) -> Floats | None:
    """Return the poses (T, 4, 4) by which depth is regularised: the cameras', turned level.

    A regular depth is a straight line in time.  What falls or bounces moves so along the ground, but not along the axis
    of a camera that looks down on it: from 20 deg above, the line would bend a lossless bounce into a gain of 0.07.
    None in a planar world; the poses as they are where gravity is unknown or a camera looks nearly along it.
    """
    if bodies.planar:
        return None
    identity = np.broadcast_to(np.eye(4), (len(bodies.times), 4, 4))
    Tcw = np.array(identity if cameras is None else cameras.Tcw, dtype=float)
    if contacts.down is None:
        return Tcw
    down = np.asarray(contacts.down, dtype=float) / np.linalg.norm(contacts.down)
    ahead = Tcw[:, :3, 2] - (Tcw[:, :3, 2] @ down)[:, None] * down
    length = np.linalg.norm(ahead, axis=1)
    if not (length > _LEVEL).all():
        return Tcw
    ahead /= length[:, None]
    Tcw[:, :3, :3] = np.stack([np.cross(down, ahead), np.broadcast_to(down, ahead.shape), ahead], axis=-1)
    return Tcw


def motion(bodies: Bodies, tracks: Tracks | None = None) -> float:
    """Return the largest image motion, of the objects and of the static background, in percent of the frame diagonal.

    The background moves by the median over its tracked points; without `tracks` it is not asked.
    """
    dt = median_dt(bodies.times)
    still = [series.motion([points], bodies.hw, dt) for points in _background(tracks)]
    return max(series.motion(_image_paths(bodies), bodies.hw, dt), float(np.median(still)) if still else 0.0)


def motion_error(bodies: Bodies, tracks: Tracks | None = None) -> float:
    """Return the largest standard error of what `motion` reads, in percent of the frame diagonal."""
    still = [series.motion_error([points], bodies.hw) for points in _background(tracks)]
    return max(series.motion_error(_image_paths(bodies), bodies.hw), float(np.median(still)) if still else 0.0)


def _image_paths(bodies: Bodies) -> list[Floats]:
    """Return the image path (T, 2) of each object [px], NaN where it is not seen."""
    uv = np.where(np.asarray(bodies.present, dtype=bool)[..., None], np.asarray(bodies.uv, dtype=float), np.nan)
    return [uv[:, n] for n in range(len(bodies.names))]


def _background(tracks: Tracks | None) -> list[Floats]:
    """Return up to 40 image paths (T, 2) of background points that are seen in at least half of the frames [px]."""
    if tracks is None:
        return []
    mine = tracks.of(-1)
    seen = np.asarray(tracks.visible[:, mine], dtype=bool)
    mine = mine[2 * seen.sum(axis=0) >= len(seen)]
    chosen = mine[np.linspace(0, len(mine) - 1, min(40, len(mine))).astype(int)]
    uv = np.asarray(tracks.uv[:, chosen], dtype=float)
    return list(np.moveaxis(np.where(np.asarray(tracks.visible[:, chosen])[..., None], uv, np.nan), 1, 0))


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
    where, line = path(bodies, n), rays(bodies, cameras, n)
    runs = _bridged(bodies, contacts, n).flights(n)
    return [Flight(bodies.times[run], where[run], None if line is None else line[run]) for run in runs]


def _bridged(bodies: Bodies, contacts: Contacts, n: int) -> Contacts:
    """Return `contacts` with object `n` airborne in the frames that do not see it, between two in which it flies."""
    airborne = np.array(contacts.airborne, dtype=bool)
    flying = np.flatnonzero(airborne[:, n])
    for a, b in pairwise(flying):
        known = bodies.times[b] - bodies.times[a] <= _UNSEEN
        if known and b - a > 1 and not np.asarray(bodies.present[a + 1 : b, n], dtype=bool).any():
            airborne[a + 1 : b, n] = True
    return replace(contacts, airborne=airborne)


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
