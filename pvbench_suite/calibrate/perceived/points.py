"""Tracks and flow against the truth: where the material that a point started on goes.

Conventions
-----------
A ray through a point's first place meets a surface; that place on the surface is carried along with its body and
projected in every other frame.  Errors are in pixels of the full frame [px].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pvbench_suite.calibrate.perceived.objects import Who, going
from pvbench_suite.calibrate.perceived.stage import Indices, Staged
from pvbench_suite.calibrate.perceived.tally import Tally
from pvbench_suite.perception.types import Flow, Tracks
from pvbench_suite.simulate.points import Points, in_lab, sighted
from pvbench_suite.simulate.raycast import View
from pvbench_suite.simulate.vectors import Floats, put

Bools = NDArray[np.bool_]

#: Times since a point's start at which its error is kept for the curve [s], and half the width of each.
LATER, _NEAR = (0.25, 0.5, 1.0, 1.5, 2.0), 0.03
#: True flow from which on a pixel moves [px of the frame].
MOVES = 0.5


def measure_tracks(tally: Tally, staged: Staged, tracks: Tracks, who: Who | None) -> None:
    """Count how far points stray from their material, how many are lost, and whether their owner is right."""
    visible = np.asarray(tracks.visible, dtype=bool)
    used = np.flatnonzero(visible.any(axis=0))
    visible, uv = visible[:, used], np.asarray(tracks.uv, dtype=float)[:, used]
    start = visible.argmax(axis=0)
    frames, times = staged.frames(tracks.times), np.asarray(tracks.times, dtype=float)
    points = _lifted(staged, frames, uv, start)
    moving = np.isin(points.carrier, np.flatnonzero(going(staged.world)))
    error, true = np.full(visible.shape, np.nan), np.zeros(visible.shape, dtype=bool)
    for k, frame in enumerate(frames):
        state = staged.world.state(int(frame))
        (u, v, _), true[k] = sighted(staged.world, state, points, in_lab(staged.world, state, points))
        error[k] = np.hypot(uv[k, :, 0] - u, uv[k, :, 1] - v)
    since = times[:, None] - times[start][None, :]
    for name, mine in (("moving", moving), ("still", ~moving)):
        after = (since > 0.0) & mine
        shown = after & visible & true
        tally.sample(f"tracks.{name}_px", error[shown])
        for late in LATER:
            tally.sample(f"tracks.{name}_px@{late:g}", error[shown & (np.abs(since - late) <= _NEAR)])
        tally.share(f"tracks.{name}_lost", ~visible[after & true])
        tally.share(f"tracks.{name}_hidden", ~true[after & visible])
    if who is not None:
        _owners(tally, staged, tracks, points, used, who)


def _lifted(staged: Staged, frames: Indices, uv: Floats, start: NDArray[np.intp]) -> Points:
    """Return what each point (P,) lies on in the frame in which it starts."""
    P = len(start)
    carrier, q = np.zeros(P, dtype=np.int64), (np.zeros(P), np.zeros(P), np.zeros(P))
    for first in np.unique(start):
        index = np.flatnonzero(start == first)
        view = View(staged.world, uv[first, index, 0], uv[first, index, 1])
        hits = view.hits(staged.world.state(int(frames[first])))
        carrier[index] = hits.id
        put(q, index, hits.q)
    return Points(carrier, q)


def _owners(tally: Tally, staged: Staged, tracks: Tracks, points: Points, used: Indices, who: Who) -> None:
    """Count the points on moving objects and on still ground whose owner is what they lie on."""
    objects, moving = staged.world.objects, going(staged.world)
    names = [objects[n] if n >= 0 else -1 for n in who.indices(tracks.names)]
    for p, owner in enumerate(np.asarray(tracks.owner)[used].tolist()):
        carrier = int(points.carrier[p])
        if carrier >= 0 and carrier in objects and moving[carrier]:
            tally.add("tracks.moving_owner", owner >= 0 and names[owner] == carrier, 1)
        elif carrier < 0 or not moving[carrier]:
            tally.add("tracks.still_owner", owner < 0 or names[owner] == carrier, 1)


def measure_flow(tally: Tally, staged: Staged, flow: Flow) -> None:
    """Count the end-point error of the forward flow where the counterpart is visible, and where flow is not given."""
    h, w = flow.luma0.shape[1:]
    scale = np.array([staged.world.hw[1] / w, staged.world.hw[0] / h])
    for m in range(len(flow.times)):
        first, second = (int(staged.source[k[m]]) for k in (flow.frame0, flow.frame1))
        true, shown = true_flow(staged, first, second, (h, w))
        given = np.asarray(flow.forward[m], dtype=float) * scale
        error = np.hypot(*np.moveaxis(given - true, -1, 0))
        has, moves = np.isfinite(error), np.hypot(true[..., 0], true[..., 1]) > MOVES
        for name, mine in (("moving", moves & shown), ("still", ~moves & shown)):
            tally.sample(f"flow.{name}_px", error[mine & has])
            tally.share(f"flow.{name}_missing", ~has[mine])
        tally.share("flow.hidden_marked", ~has[~shown])


def true_flow(staged: Staged, first: int, second: int, shape: tuple[int, int]) -> tuple[Floats, Bools]:
    """Return the true flow (h, w, 2) between world frames [px of the frame], and where its end is visible (h, w)."""
    world = staged.world
    view = View.regular(world, *shape)
    hits, later = view.hits(world.state(first)), world.state(second)
    points = Points(hits.id.astype(np.int64), hits.q)
    (u, v, _), shown = sighted(world, later, points, in_lab(world, later, points))
    flow = np.stack([u - view.u, v - view.v], axis=-1)
    return flow.reshape(*shape, 2), shown.reshape(shape)
