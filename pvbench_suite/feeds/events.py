"""What happens between bodies: collisions (R22), and chains of energy levels (R23)."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.feeds.bodies import level_poses, path, rays, regular
from pvbench_suite.perception.types import Bodies, Cameras, Contacts
from pvbench_suite.physics.energy import bounce_levels, pendulum_levels
from pvbench_suite.physics.momentum import Collision, velocity_change
from pvbench_suite.physics.series import median_dt, sd3
from pvbench_suite.prompts.brief import Brief

Floats = NDArray[np.float64]

#: How far to either side of a contact a body's state is read [s].
_NEAR = 0.5
#: Least cosine between the ray to a pendulum and the normal of its plane of swing, for it to be seen from aside.
_ASIDE = 0.5


def collisions(bodies: Bodies, contacts: Contacts, cameras: Cameras | None, brief: Brief) -> list[list[Collision]]:
    """Return the collisions of each pair of free bodies, one list per pair (i < j) in order of their indices.

    Only contacts between two bodies count, and of them those in which neither is driven and no third contact falls into
    the same frame.  What a support takes up is left out: unless both bodies fly, velocities are the horizontal ones.
    Velocity changes that the clip is too short to know are left out.

    Raises
    ------
    Unmeasurable
        Where bodies collide, but no collision can be used: ``too_few_frames`` when frames are missing round it,
        ``no_collision`` when each is driven or has a third contact.  It is no event that stayed away.
    """
    free, movable = set(brief.free(bodies.names)), set(brief.movable(bodies.names))
    found: dict[tuple[int, int], list[Collision]] = {}
    unused: list[Unmeasurable] = []
    for when, i, j in _meetings(contacts):
        if i not in movable or j not in movable:
            continue
        try:
            if not {i, j} <= free or any(_driven(contacts, n, when) for n in (i, j)):
                raise Unmeasurable("no_collision", "a body that collides is driven", detectable=False)
            if _joined(contacts, i, j, when):
                raise Unmeasurable("no_collision", "a third contact falls into the same frame", detectable=False)
            event = _collision(bodies, contacts, cameras, (i, j), when)
        except Unmeasurable as error:
            unused.append(error)
        else:
            found.setdefault((i, j), []).append(event)
    if unused and not found:
        raise min(unused, key=lambda error: error.reason != "too_few_frames")
    return [found[pair] for pair in sorted(found)]


def _meetings(contacts: Contacts) -> list[tuple[float, int, int]]:
    """Return (when, i, j) with i < j of the contacts between two bodies, in order; one of a pair in a frame."""
    dt = median_dt(contacts.times)
    last: dict[tuple[int, int], float] = {}
    out: list[tuple[float, int, int]] = []
    for k in np.argsort(contacts.when, kind="stable"):
        when, i, j = float(contacts.when[k]), *sorted((int(contacts.first[k]), int(contacts.second[k])))
        if i < 0 or i == j or when - last.get((i, j), -math.inf) < dt:
            continue
        last[i, j] = when
        out.append((when, i, j))
    return out


def _driven(contacts: Contacts, n: int, when: float) -> bool:
    """Return whether object `n` is driven in most frames before a contact, or after it.

    The frames of the contact itself say nothing: whoever is touched by another may count as driven there.
    """
    s, dt = contacts.times - when, median_dt(contacts.times)
    driven = np.asarray(contacts.driven[:, n], dtype=bool)
    near = (np.abs(s) <= _NEAR) & (np.abs(s) > 1.5 * dt)
    sides = (near & (s < 0), near & (s > 0))
    return any(2 * int(driven[side].sum()) > int(side.sum()) for side in sides)


def _joined(contacts: Contacts, i: int, j: int, when: float) -> bool:
    """Return whether a contact of `i` or `j` with something else falls within a frame of theirs."""
    close = np.abs(contacts.when - when) <= median_dt(contacts.times)
    ends = np.sort(np.stack([contacts.first, contacts.second], axis=1), axis=1)
    theirs = (ends == [i, j]).all(axis=1)
    return bool((close & ~theirs & np.isin(ends, [i, j]).any(axis=1)).any())


def _collision(
    bodies: Bodies, contacts: Contacts, cameras: Cameras | None, pair: tuple[int, int], when: float
) -> Collision:
    """Return one collision of the bodies `pair`."""
    changes = [
        velocity_change(
            bodies.times,
            path(bodies, n),
            when,
            float(bodies.diameter[n]),
            rays(bodies, cameras, n),
            contacts.of(n),
            level_poses(bodies, contacts, cameras),
        )
        for n in pair
    ]
    kept = np.eye(3)
    if contacts.down is not None and not bodies.planar and not all(_flies(contacts, n, when) for n in pair):
        down = np.asarray(contacts.down, dtype=float) / np.linalg.norm(contacts.down)
        kept = np.eye(3) - np.outer(down, down)
    (dvi, ci), (dvj, cj) = ((kept @ dv, kept @ c @ kept) for dv, c in changes)
    speed = float(np.linalg.norm(kept @ _approach(bodies, contacts, cameras, pair, when)))
    return Collision(dvi, dvj, speed, ci, cj, pair)


def _flies(contacts: Contacts, n: int, when: float) -> bool:
    """Return whether object `n` flies freely both before and after a contact, in some of the four frames next to it."""
    s, reach = contacts.times - when, 4.5 * median_dt(contacts.times)
    airborne = np.asarray(contacts.airborne[:, n], dtype=bool)
    return bool(airborne[(s < 0) & (s > -reach)].any() and airborne[(s > 0) & (s < reach)].any())


def _approach(
    bodies: Bodies, contacts: Contacts, cameras: Cameras | None, pair: tuple[int, int], when: float
) -> Floats:
    """Return the relative velocity (3,) of two bodies over the quarter second before a contact, NaN if unknown.

    It begins after the contact before: what a body did before it last bounced is not how it came.
    """
    first, second = (regular(bodies, contacts, cameras, n) for n in pair)
    gap, dt = first - second, median_dt(bodies.times)
    earlier = np.concatenate([contacts.of(n) for n in pair])
    since = max([when - max(0.25, 3.5 * dt), *(earlier[earlier < when - dt] + 0.5 * dt)])
    chosen = (bodies.times < when - 0.5 * dt) & (bodies.times > since) & np.isfinite(gap).all(axis=1)
    if chosen.sum() < 2:
        return np.full(3, np.nan)
    t = bodies.times[chosen] - bodies.times[chosen].mean()
    return np.asarray((t[:, None] * gap[chosen]).sum(axis=0) / np.square(t).sum())


def energy_chains(
    bodies: Bodies, contacts: Contacts, cameras: Cameras | None, brief: Brief
) -> tuple[list[list[float]], list[list[float]], list[list[bool]]]:
    """Return the energy levels, their errors and the driven steps, one chain per free body that is seen.

    The levels are bounces off the fixed surroundings, or swings about the body's pivot.  A chain is cut (its step is
    driven) where the body is driven, and where it meets another that can move, which may give it energy.

    Raises
    ------
    Unmeasurable
        ``no_cue`` when the direction of gravity is unknown; ``no_transition`` when no chain has two levels to compare.
    """
    if contacts.down is None:
        raise Unmeasurable("no_cue", "the direction of gravity is unknown")
    chains, quiet = [], True
    for n in brief.free(bodies.names):
        swings = contacts.pivot is not None and bool(np.isfinite(contacts.pivot[n]).all())
        where = path(bodies, n) if swings else regular(bodies, contacts, cameras, n)
        if np.isfinite(where).all(axis=1).any():
            angle = _angles(bodies, contacts, cameras, n) if swings else None
            chains.append(_parts(contacts, n, where, angle, set(brief.movable(bodies.names))))
            quiet &= _rests(bodies, contacts, n, where)
    if chains and not any(len(h) >= 2 for parts in chains for h, _ in parts):
        raise Unmeasurable("no_transition", "no passive body bounces or swings twice", detectable=quiet)
    levels = [[x for h, _ in parts for x in h] for parts in chains]
    errors = [[x for _, se in parts for x in se] for parts in chains]
    driven = [[k == 0 for h, _ in parts for k in range(len(h))][1:] for parts in chains]
    return levels, errors, driven


def _parts(
    contacts: Contacts, n: int, where: Floats, angle: Floats | None, movable: set[int]
) -> list[tuple[list[float], list[float]]]:
    """Return the levels and errors of each passive stretch of object `n` that has any."""
    mine = (contacts.first == n) | (contacts.second == n)
    other = np.where(contacts.first == n, contacts.second, contacts.first)
    meets = mine & np.isin(other, sorted(movable))
    hits = np.sort(np.asarray(contacts.when[mine & ~meets], dtype=float))
    times, down = np.asarray(contacts.times, dtype=float), np.asarray(contacts.down, dtype=float)
    parts = []
    for run in _passive(contacts, n, np.asarray(contacts.when[meets], dtype=float)):
        t = times[run]
        if angle is not None:
            part = pendulum_levels(t, angle[run])
        else:
            part = bounce_levels(t, where[run], hits[(hits > t[0]) & (hits < t[-1])], down)
        if part[0]:
            parts.append(part)
    return parts


def _passive(contacts: Contacts, n: int, meets: Floats) -> list[slice]:
    """Return the runs of frames (at least 2) in which nothing drives object `n` and it meets no other body."""
    driven = np.asarray(contacts.driven[:, n], dtype=bool)
    cut = np.union1d(np.searchsorted(contacts.times, meets), np.flatnonzero(np.diff(driven)) + 1)
    edges = [0, *cut[(cut > 0) & (cut < len(driven))].tolist(), len(driven)]
    return [slice(a, b) for a, b in pairwise(edges) if b - a >= 2 and not driven[a]]


def _rests(bodies: Bodies, contacts: Contacts, n: int, where: Floats) -> bool:
    """Return whether object `n` is seen to do nothing: no contact, no flight, its height known to its own size."""
    height = where @ np.asarray(contacts.down, dtype=float)
    still = contacts.of(n).size == 0 and not np.asarray(contacts.airborne[:, n], dtype=bool).any()
    # Levels are sought when the height moves by 16 times its noise.
    return bool(still and 16.0 * float(sd3(height)) < float(bodies.diameter[n]))


def _angles(bodies: Bodies, contacts: Contacts, cameras: Cameras | None, n: int) -> Floats:
    """Return the angle (T,) [rad] of a pendulum about its pivot.

    Its depth is not made a line in time, which a swing toward the camera is not: seen from aside the bob is where its
    ray meets the plane of swing, seen edge-on it is where it was measured.
    """
    assert contacts.pivot is not None
    down = np.asarray(contacts.down, dtype=float) / np.linalg.norm(np.asarray(contacts.down, dtype=float))
    arm = path(bodies, n) - contacts.pivot[n]
    axis = swing_axis(arm, down)
    if not bodies.planar:
        normal = np.cross(down, axis)
        eye = np.zeros((1, 3)) if cameras is None else cameras.centres
        line = path(bodies, n) - eye
        toward = (line / np.linalg.norm(line, axis=1, keepdims=True)) @ normal
        if np.nanmedian(np.abs(toward)) > _ASIDE:
            # The arm's part across the plane is taken out along the ray.
            arm = arm - line * ((arm @ normal) / (line @ normal))[:, None]
    return np.asarray(np.arctan2(arm @ axis, arm @ down))


def swing_axis(arm: Floats, down: Floats) -> Floats:
    """Return the horizontal unit direction (3,) in which a pendulum's arm (T, 3) swings, toward where it goes first.

    It is the direction of most of the sideways excursion; (1, 0, 0) for an arm that is never seen.
    """
    side = arm - (arm @ down)[:, None] * down
    seen = side[np.isfinite(side).all(axis=1)]
    if not len(seen):
        return np.array([1.0, 0.0, 0.0])
    length = np.linalg.norm(seen, axis=1, keepdims=True)
    # Weights 1/length: one wild depth must not choose the plane.
    axis = np.linalg.svd(seen / np.sqrt(np.maximum(length, 1e-12)), full_matrices=False)[2][0]
    way = seen @ axis
    first = way[np.flatnonzero(np.abs(way) >= 0.5 * np.abs(way).max())[0]]
    return np.asarray(-axis if first < 0 else axis)
