"""R15: the timeline of each object for a judge: seen, hidden by what, out of the frame, unexplained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pvbench_suite.dimensions import Dimension
from pvbench_suite.feeds.bodies import states
from pvbench_suite.judge.drawing import Color, Sketch, strip
from pvbench_suite.judge.evidence import MOST_OBJECTS, Evidence, Get, plain
from pvbench_suite.perception.types import Bodies, Masks
from pvbench_suite.physics.permanence import (
    HIDDEN,
    NEVER_FOUND,
    OUT,
    SEEN,
    UNEXPLAINED,
    predicted_path,
    unbridged,
    unexplained_absence,
)
from pvbench_suite.physics.series import median_dt
from pvbench_suite.prompts.brief import Brief

#: Stretches of one object that are told one by one.
_MOST_STRETCHES = 10
#: Least share of the place of a hidden object that another's mask covers, to be named as what hides it.
_COVERS = 0.3

_WORDS = {SEEN: "seen", HIDDEN: "hidden", OUT: "out of the frame", UNEXPLAINED: "unexplained"}
_COLORS: dict[int, Color] = {
    SEEN: (120, 180, 120),
    HIDDEN: (120, 150, 210),
    OUT: (190, 190, 190),
    UNEXPLAINED: (213, 60, 0),
}


@dataclass(frozen=True)
class Stretch:
    """A run of frames [start, stop) of one state, by what is hidden or empty."""

    state: int
    start: int
    stop: int
    by: str = ""


def permanence(get: Get, brief: Brief, dimension: Dimension) -> Evidence | None:
    """Return each lasting object's timeline and its unexplained share, with a strip; None without the records."""
    bodies, masks, depth = get("bodies"), get("masks"), get("depth")
    if bodies is None or masks is None:
        return None
    lasting = brief.lasting(bodies.names)
    dt = median_dt(bodies.times)
    found = states(bodies, masks, depth)[:, lasting]
    measured = unexplained_absence(found, dt)
    kept = unbridged(found, dt)
    # A drop-out that the kernel bridges is told as seen, so that lines, strip and share agree.
    told = np.where((found == UNEXPLAINED) & ~kept, SEEN, found)
    lines, rows = [], {}
    for k, n in enumerate(lasting[:MOST_OBJECTS]):
        name = plain(bodies.names[n])
        share = measured.evidence["shares"][k]
        if share is None:
            lines.append(f"{name}: never found by the measurement")
            continue
        parts = stretches(told[:, k], bodies, masks, n)
        lines.append(f"{name}: unexplained for {share:.3f} of the clip; " + _spoken(parts, bodies.times, dt))
        rows[name] = [(float(bodies.times[s.start]), _end(bodies.times, s.stop, dt), _COLORS[s.state]) for s in parts]
    if len(lasting) > MOST_OBJECTS:
        lines.append(f"{len(lasting) - MOST_OBJECTS} more objects were not reported")
    head = f"worst object: unexplained for {measured.value:.3f} of the clip (share from 0 to 1)"
    picture = Sketch(strip, (rows, {_WORDS[s]: c for s, c in _COLORS.items()}, _end(bodies.times, len(told), dt)))
    return Evidence((head, *lines), picture, "Timeline of the measured objects")


def stretches(state: NDArray[np.int8], bodies: Bodies, masks: Masks, n: int) -> list[Stretch]:
    """Return the runs of one object's states (T,), each hidden one with what hides it."""
    edges = [0, *(np.flatnonzero(np.diff(state)) + 1).tolist(), len(state)]
    runs = [Stretch(int(state[a]), a, b) for a, b in pairwise(edges)]
    runs = [run for run in runs if run.state != NEVER_FOUND]
    if not any(run.state == HIDDEN for run in runs):
        return runs
    path = _path(bodies, n)
    out = []
    for run in runs:
        by = "" if run.state != HIDDEN or path is None else _hider(path, bodies, masks, n, (run.start + run.stop) // 2)
        out.append(Stretch(run.state, run.start, run.stop, by))
    return out


def _path(bodies: Bodies, n: int) -> NDArray[np.float64] | None:
    """Return where object `n` should be (T, 4), as R15 predicts it; None where it was never placed."""
    uv, radius = np.asarray(bodies.uv[:, n], dtype=float), np.asarray(bodies.radius[:, n], dtype=float)
    z = np.ones_like(radius) if bodies.planar else np.asarray(bodies.z[:, n], dtype=float)
    sighted = np.asarray(bodies.present[:, n], dtype=bool) & np.isfinite(uv).all(axis=-1) & (radius > 0) & (z > 0)
    return predicted_path(uv, z, radius, sighted, median_dt(bodies.times)) if sighted.any() else None


def _hider(path: NDArray[np.float64], bodies: Bodies, masks: Masks, n: int, t: int) -> str:
    """Return the name of the object whose mask covers most of the place of object `n`, or "the surroundings"."""
    x, y, _, radius = path[t]
    frame = int(np.abs(masks.times - bodies.times[t]).argmin())
    rows = (np.arange(masks.grid[0]) + 0.5) * masks.hw[0] / masks.grid[0]
    columns = (np.arange(masks.grid[1]) + 0.5) * masks.hw[1] / masks.grid[1]
    disc = np.square(rows - y)[:, None] + np.square(columns - x)[None] <= max(radius, 1.0) ** 2
    if not disc.any():
        return "the surroundings"
    cover = [
        0.0 if name == bodies.names[n] else float(masks.dense(frame, j)[disc].mean())
        for j, name in enumerate(masks.names)
    ]
    best = int(np.argmax(cover)) if cover else -1
    return plain(masks.names[best]) if best >= 0 and cover[best] >= _COVERS else "the surroundings"


def _end(times: NDArray[np.float64], stop: int, dt: float) -> float:
    """Return the time [s] at which frame `stop` begins, or the clip ends."""
    return float(times[stop]) if stop < len(times) else float(times[-1] + dt)


def _spoken(parts: Sequence[Stretch], times: NDArray[np.float64], dt: float) -> str:
    said = [
        f"{_WORDS[s.state]}{f' by {s.by}' if s.by else ''} {times[s.start]:.2f}-{_end(times, s.stop, dt):.2f} s"
        for s in parts[:_MOST_STRETCHES]
    ]
    if len(parts) > _MOST_STRETCHES:
        said.append(f"and {len(parts) - _MOST_STRETCHES} more stretches")
    return ", ".join(said)
