"""Object states of R15 from pixels alone: seen, hidden, out of the frame, unexplained.

An object that goes is *out* when it was last seen at the border of the frame, or when its motion carries it there.
It is *hidden* when its
mask shrank from one side before it went, away from the border, while what remained kept its place (an edge of the still
background or another object passed over it), or when another object stands where it is expected.  Otherwise its loss in
the open is unexplained.  Appearing is the same in reverse.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from pvbench_suite.perception.embedded.frames import Floats
from pvbench_suite.perception.embedded.objects import GATE
from pvbench_suite.perception.types import Bodies, Masks

SEEN, HIDDEN, OUT, UNEXPLAINED = 0, 1, 2, 3
#: What is looked at before a loss and after a return [s].
LOOK = 0.4
#: A mask that falls below this share of its usual area over at least two sightings was covered or left bit by bit.
COVERED = 0.7
#: An object is at the border when its disc comes this near to it, in radii.
NEAR = 1.3


def object_states(bodies: Bodies, masks: Masks) -> NDArray[np.int8]:
    """Return the states (T, N): 0 seen, 1 hidden, 2 out of the frame, 3 unexplained, -1 never found."""
    T, N = bodies.present.shape
    out = np.full((T, N), -1, dtype=np.int8)
    areas = masks.area()
    for n in range(N):
        seen = np.flatnonzero(bodies.present[:, n])
        if len(seen) == 0:
            continue
        state = np.full(T, SEEN, dtype=np.int8)
        for start, stop in _gaps(seen, T):
            state[start:stop] = _why(bodies, masks, areas, n, start, stop)
        out[:, n] = state
    return out


def _gaps(seen: NDArray[np.intp], frames: int) -> list[tuple[int, int]]:
    """Return the runs of frames [start, stop) in which an object is not seen."""
    edges = [-1, *seen.tolist(), frames]
    return [(a + 1, b) for a, b in itertools.pairwise(edges) if b > a + 1]


def _why(bodies: Bodies, masks: Masks, areas: Floats, n: int, start: int, stop: int) -> int:
    """Return the state of a gap: hidden or out where either end explains it, else unexplained."""
    ends = [e for e in (start - 1, stop) if 0 <= e < len(bodies.times)]
    found = [_end(bodies, masks, areas, n, e, forward=e < start) for e in ends]
    if HIDDEN in found and len(ends) == 2:
        return HIDDEN
    for state in (OUT, HIDDEN):
        if state in found:
            return state
    return UNEXPLAINED


def _end(bodies: Bodies, masks: Masks, areas: Floats, n: int, e: int, forward: bool) -> int:
    """Return how the object went (or came, looking backward in time) at its sighting `e`."""
    times = np.asarray(bodies.times, dtype=float)
    near = np.abs(times - times[e]) <= LOOK
    side = (np.arange(len(times)) <= e) if forward else (np.arange(len(times)) >= e)
    near &= side & np.asarray(bodies.present[:, n], dtype=bool)
    radius = float(np.nanmedian(bodies.radius[near, n]))
    if _touches(masks, e, n) or _leaves(bodies, n, e, near, radius, forward):
        return OUT
    usual = float(np.median(areas[np.asarray(bodies.present[:, n], dtype=bool), n]))
    last = areas[near, n][-3:] if forward else areas[near, n][:3][::-1]
    if len(last) >= 2 and last[-1] < COVERED * usual and last[-1] <= last[0]:
        return HIDDEN
    return HIDDEN if _behind_another(bodies, masks, n, e, forward) else UNEXPLAINED


def _touches(masks: Masks, t: int, n: int) -> bool:
    """Return whether the mask of an object meets the border of the frame."""
    mask = masks.dense(t, n)
    return bool(mask[[0, -1]].any() or mask[:, [0, -1]].any())


def _leaves(bodies: Bodies, n: int, e: int, near: NDArray[np.bool_], radius: float, forward: bool) -> bool:
    """Return whether the object's motion carries it over the border within two frames of its last sighting."""
    H, W = bodies.hw
    known = np.flatnonzero(near & np.isfinite(bodies.uv[:, n]).all(axis=-1))
    if len(known) < 2:
        return False
    t, uv = np.asarray(bodies.times, dtype=float)[known], np.asarray(bodies.uv[known, n], dtype=float)
    slope = np.array([np.polyfit(t, uv[:, k], 1)[0] for k in range(2)])
    step = float(np.median(np.diff(bodies.times)))
    ahead = (2.0 if forward else -2.0) * step
    place = uv[-1 if forward else 0] + slope * (bodies.times[e] - t[-1 if forward else 0] + ahead)
    reach = NEAR * radius
    return bool(place[0] < reach or place[0] > W - 1 - reach or place[1] < reach or place[1] > H - 1 - reach)


def _behind_another(bodies: Bodies, masks: Masks, n: int, e: int, forward: bool) -> bool:
    """Return whether another object's mask covers the place where this one was, just after it went."""
    after = e + (1 if forward else -1)
    if not 0 <= after < len(bodies.times):
        return False
    mine = masks.dense(e, n)
    others = np.zeros(masks.grid, dtype=bool)
    for m in range(len(masks.names)):
        if m != n:
            others |= masks.dense(after, m)
    return bool(mine.any() and (others & mine).sum() >= 0.5 * mine.sum())


def claimed(masks: Masks) -> NDArray[np.bool_]:
    """Return which objects (N,) pass the object gate anywhere."""
    return np.asarray((np.asarray(masks.confidence) >= GATE).any(axis=0))
