"""Cameras, stabilisation and depth against the truth, for profiles that have them.

Conventions
-----------
Both worlds start at the first camera.  A scale that the profile cannot know is removed first: one factor for the
whole clip.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from pvbench_suite.calibrate.perceived.objects import going
from pvbench_suite.calibrate.perceived.stage import Staged
from pvbench_suite.calibrate.perceived.tally import Tally
from pvbench_suite.perception.types import Cameras, Depth, Masks
from pvbench_suite.simulate.points import Points, in_lab, sighted
from pvbench_suite.simulate.raycast import View
from pvbench_suite.simulate.truth import cameras as true_cameras
from pvbench_suite.simulate.vectors import take

#: Frames of a clip whose depth is compared; points of the ground that stabilisation should hold still.
_FRAMES, _POINTS = 8, 80


def measure_cameras(tally: Tally, staged: Staged, cameras: Cameras) -> None:
    """Count the errors of the poses: angle [deg] in each frame, and place as a share of the whole way."""
    frames = staged.frames(cameras.times)
    given, true = np.asarray(cameras.Tcw, dtype=float), true_cameras(staged.world).Tcw[frames]
    given, true = np.linalg.inv(given[0]) @ given, np.linalg.inv(true[0]) @ true
    turned = Rotation.from_matrix(np.swapaxes(true[:, :3, :3], 1, 2) @ given[:, :3, :3])
    tally.sample("cameras.angle_deg", np.degrees(turned.magnitude()))
    place, way = given[:, :3, 3], true[:, :3, 3]
    reach = float(np.linalg.norm(way, axis=1).max())
    if reach > 1e-3:
        scale = float((place * way).sum()) / max(float((place * place).sum()), 1e-12)
        tally.sample("cameras.place", np.linalg.norm(scale * place - way, axis=1) / reach)


def measure_stabilisation(tally: Tally, staged: Staged, masks: Masks) -> None:
    """Count how far points of the still ground wander after the record's stabilisation [px of its reference frame].

    A point's place is the median of where it is put; points are drawn in the middle frame, and count where they are
    visible.  Ground at different depths cannot all be held still where the camera changes its place.
    """
    if masks.stabilisation is None:
        return
    frames, world = staged.frames(masks.times), staged.world
    hits = View.regular(world, *world.hw).hits(world.state(int(frames[len(frames) // 2])))
    still = np.flatnonzero((hits.id < 0) | ~going(world)[hits.id])
    some = np.random.default_rng(31).choice(still, min(_POINTS, len(still)), replace=False)
    ground = Points(hits.id[some].astype(np.int64), take(hits.q, some))
    put = np.full((len(frames), len(some), 2), np.nan)
    for k, frame in enumerate(frames):
        state = world.state(int(frame))
        (u, v, _), visible = sighted(world, state, ground, in_lab(world, state, ground))
        there = np.stack([u, v, np.ones_like(u)], axis=-1) @ np.asarray(masks.stabilisation[k], dtype=float).T
        put[k, visible] = there[visible, :2] / there[visible, 2:]
    tally.sample("masks.steady_px", np.linalg.norm(put - np.nanmedian(put, axis=0), axis=-1))


def measure_depth(tally: Tally, staged: Staged, depth: Depth) -> None:
    """Count the relative error of depth, after the clip's own median scale unless it claims to be metric."""
    frames, shape = staged.frames(depth.times), depth.z.shape[1:]
    view = View.regular(staged.world, int(shape[0]), int(shape[1]))
    chosen = np.unique(np.linspace(0, len(frames) - 1, min(_FRAMES, len(frames))).astype(int))
    ratio = []
    for k in chosen:
        hits = view.hits(staged.world.state(int(frames[k])))
        z = np.asarray(depth.z[k], dtype=float).ravel()
        known = np.isfinite(z) & (z > 0.0)
        tally.share("depth.missing", ~known)
        ratio.append(z[known] / hits.t[known])
    every = np.concatenate(ratio)
    if every.size:
        scale = 1.0 if depth.metric else float(np.median(every))
        tally.sample("depth.relative", np.abs(every / scale - 1.0))
