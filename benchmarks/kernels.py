"""CPU time of every numeric kernel on a 10 s, 24 fps clip with 1000 tracks and 5 objects, and how it grows.

Run from the repository: ``python benchmarks/kernels.py [--quick]``.  Times are process CPU seconds on one thread, the
best of three; "all objects" is one call per object (R22, R23, R24: per pair or chain), as a dimension test makes them.
The dense kernels (R02, R17, PTQ-03) see at most four frames or pairs a second on a grid of 180 x 320.
"""

# ruff: noqa: E402 - threads are chosen before numpy is imported
from __future__ import annotations

import argparse
import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import combinations

import numpy as np
from scipy.spatial.transform import Rotation

from pvbench_suite.calibrate.noise import LEVELS, Sensor
from pvbench_suite.calibrate.views import HW, K, sliding
from pvbench_suite.errors import Unmeasurable
from pvbench_suite.perceptual.flicker import flicker
from pvbench_suite.perceptual.smoothness import motion_smoothness
from pvbench_suite.physics.collision import sphere_penetration
from pvbench_suite.physics.deform import volume_change
from pvbench_suite.physics.depth_order import depth_order
from pvbench_suite.physics.energy import bounce_levels, energy_gain
from pvbench_suite.physics.flow import flow_inconsistency, occlusion
from pvbench_suite.physics.gravity import Flight, gravity_error
from pvbench_suite.physics.light import light_consistency
from pvbench_suite.physics.momentum import Collision, momentum_error, velocity_change
from pvbench_suite.physics.motion import motion_disagreement
from pvbench_suite.physics.multi_view import reprojection_error
from pvbench_suite.physics.permanence import object_permanence
from pvbench_suite.physics.pose import pose_jump
from pvbench_suite.physics.rigid import rigidity
from pvbench_suite.physics.robust import regularise_depth
from pvbench_suite.physics.rotation_continuity import rotation_continuity
from pvbench_suite.physics.scale import scale_drift
from pvbench_suite.physics.shape import shape_change
from pvbench_suite.physics.surface import normal_error
from pvbench_suite.physics.trajectory import trajectory_continuity

FPS = 24
DENSE = ("R02", "R17", "PTQ-03")


class Clip:
    """Records of one clip: `points` tracks, half of them on `objects` bodies that move and turn, mid noise."""

    def __init__(self, seconds: float = 10.0, points: int = 1000, objects: int = 5) -> None:
        rng = np.random.default_rng(0)
        self.t = np.arange(round(seconds * FPS)) / FPS
        frames, each = len(self.t), points // 2 // objects
        sensor = Sensor(LEVELS["mid"], rng, 1 / FPS)
        u = self.t / self.t[-1]
        start = np.stack([np.linspace(-2, 2, objects), np.linspace(-1, 1, objects), np.linspace(4, 6, objects)], -1)
        wave = 0.4 * np.sin(2 * np.pi * 0.3 * self.t)[:, None, None]
        self.centres = start + wave * [0.0, 1.0, 0.0] + u[:, None, None] * [1.0, 0.0, 0.3]
        self.R = Rotation.from_rotvec(u[:, None] * [0.3, 3.0, 0.5]).as_matrix()
        shape = rng.uniform(-0.25, 0.25, (objects, each, 3))
        turned = np.einsum("tij,npj->tnpi", self.R, shape)
        body = (self.centres[:, :, None] + turned).reshape(frames, objects * each, 3)
        still = rng.uniform([-3, -1.5, 4], [3, 1.5, 9], (points - objects * each, 3))
        X = np.concatenate([body, np.broadcast_to(still, (frames, *still.shape))], axis=1)
        self.owner = np.concatenate([np.repeat(np.arange(1, objects + 1), each), np.zeros(len(still), dtype=int)])
        self.view = sliding(self.t, (1.0, 0.0, 0.2))
        self.points, self.others = (sensor.points(X, self.view, self.owner) for _ in range(2))
        self.bodies = sensor.centres(self.centres, self.view)
        self.turns = sensor.turned(self.R)
        self.sensor, self.objects = sensor, objects
        self.hits = np.arange(0.8, seconds, 0.9)
        self._dense(rng, seconds)

    def _dense(self, rng: np.random.Generator, seconds: float) -> None:
        pairs, (h, w) = round(4 * seconds), (180, 320)
        self.depth = 5.0 + 0.02 * rng.standard_normal((pairs, h, w))
        self.normals = np.array([0.0, 0.0, -1.0]) + 0.1 * rng.standard_normal((pairs, h, w, 3))
        self.K = np.array([[250.0, 0, 159.5], [0, 250.0, 89.5], [0, 0, 1.0]])
        y, x = np.mgrid[:h, :w]
        self.regions = np.stack([((x // 60 + k) % (self.objects + 1)) * (y > 40) for k in range(pairs)])
        self.forth = np.array([3.0, 0.0]) + 0.2 * rng.standard_normal((pairs, h, w, 2))
        self.back = np.array([-3.0, 0.0]) + 0.2 * rng.standard_normal((pairs, h, w, 2))
        self.luma = rng.uniform(0, 255, (pairs, h, w))

    def of(self, n: int) -> np.ndarray:
        """Return the indices of the points of object `n` (0: the static background)."""
        return np.flatnonzero(self.owner == n)


def kernels(c: Clip) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield each dimension with the calls that its test makes."""
    t, dt, every = c.t, 1 / FPS, range(c.objects)
    X, cam = c.points.X, c.view.eye
    mine = [c.of(n + 1) for n in every]
    paths, rays = [c.bodies.X[:, n] for n in every], [c.bodies.rays[:, n] for n in every]
    T = len(t)
    cue = np.sign(c.bodies.z[:, None, :] - c.bodies.z[:, :, None])
    yield "R01", lambda: depth_order(c.bodies.z, cue)
    yield "R02", lambda: normal_error(c.depth, c.normals, c.K)
    yield "R03", lambda: [shape_change(X[:, m], None, cam, dt) for m in mine]
    bg = c.of(0)
    yield "R05", lambda: reprojection_error(c.points.uv[:, bg], c.points.z[:, bg], None, K, c.view.poses, HW, None, dt)
    size = np.exp(0.01 * c.sensor.wander(T))
    yield "R06c", lambda: [scale_drift(t, size) for _ in every]
    yield "R07c", lambda: [pose_jump(t, paths[n], c.turns, 0.5, rays[n]) for n in every]
    n = np.random.default_rng(1).standard_normal((T, 300, 3))
    n /= np.linalg.norm(n, axis=-1, keepdims=True)
    yield "R08", lambda: light_consistency(n, np.maximum(0.0, n[..., 1]) + 0.1, dt=dt)
    grow = np.exp(0.2 * np.sin(3 * t))
    moments = 900.0 * np.stack([grow, 1 / grow], -1)[..., None] * np.eye(2)
    yield "R11", lambda: [volume_change(moments, 4.0 * size, 1000.0, (0.0, 1.0), dt) for _ in every]
    seen, scene = c.bodies.present & (np.arange(T) % 40 < 32)[:, None], np.full((T, 90, 160), 9.0)
    radius = np.full(seen.shape, 40.0)
    yield "R15", lambda: object_permanence(seen, c.bodies.uv, c.bodies.z, radius, scene, HW, dt)
    yield "R16", lambda: [trajectory_continuity(t, paths[n], 0.5, rays[n]) for n in every]
    yield "R17", lambda: flow_inconsistency(c.forth, c.back, occlusion(c.back), c.regions, dt=0.25)
    yield "R18", lambda: [rigidity(X[:, m], None, None, cam, dt) for m in mine]
    yield "R19", lambda: motion_disagreement(X, c.others.X, c.owner == 0, cam, dt)
    yield "R20", lambda: [rotation_continuity(t, c.turns) for _ in every]
    fall = np.stack([0.5 * t, -3.0 * (t % 0.9) + 4.9 * (t % 0.9) ** 2, 4.0 + 0 * t], -1)
    cuts = np.flatnonzero(np.diff(t % 0.9) < 0) + 1
    runs = [r for r in np.split(np.arange(T), cuts) if len(r) > 8]
    flights = [Flight(t[r], fall[r] + 0.002 * n[r, 0], fall[r]) for r in runs]
    yield "R21", lambda: [gravity_error(flights, (0.0, 1.0, 0.0)) for _ in every]
    pairs = list(combinations(every, 2))
    yield "R22", lambda: [_momentum(c, i, j) for i, j in pairs]
    noisy = fall + 0.002 * n[:, 0]
    yield "R23", lambda: [_energy(t, noisy, c.hits) for _ in every]
    beside = paths[0] + np.stack([0.45 + 0.3 * np.cos(t), 0 * t, 0 * t], -1)
    yield "R24", lambda: [sphere_penetration(paths[0], beside, 0.25, 0.25, dt, depth_sd=0.001) for _ in pairs]
    yield "PTQ-03", lambda: flicker(c.luma, c.luma + 1.0, 0.1 * c.forth, c.regions > 3, None, dt=0.25)
    error = np.random.default_rng(2).random(T - 2)
    yield "PTQ-04", lambda: motion_smoothness(error, error + 5.0, dt)


def _momentum(c: Clip, i: int, j: int) -> object:
    """Return R22 of one pair that meets once a second."""
    hits = np.arange(1.0, c.t[-1] - 0.6, 1.0)
    events, push = [], np.array([0.5, 0.0, 0.0])
    for when in hits:
        (a, ca), (b, cb) = (
            velocity_change(c.t, c.bodies.X[:, n], when, 0.5, c.bodies.rays[:, n], hits, c.view.poses) for n in (i, j)
        )
        events.append(Collision(a + push, b - push, 1.0, ca, cb, (i, j)))
    return momentum_error(events)


def _energy(t: np.ndarray, x: np.ndarray, hits: np.ndarray) -> object:
    levels, errors = bounce_levels(t, regularise_depth(t, x, hits), hits, (0.0, 1.0, 0.0))
    return energy_gain([levels], [errors])


def seconds(call: Callable[[], object], repeats: int) -> float:
    """Return the least CPU time of a call [s]; a refusal costs what it costs."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        with suppress(Unmeasurable):
            call()
        best = min(best, time.process_time() - start)
    return best


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one repeat, no growth")
    quick = parser.parse_args().quick
    repeats = 1 if quick else 3
    base = {name: seconds(call, repeats) for name, call in kernels(Clip())}
    shapes = (
        {} if quick else {"2 x frames": (20.0, 1000, 5), "2 x points": (10.0, 2000, 5), "2 x objects": (10.0, 2000, 10)}
    )
    grown = {what: {name: seconds(call, 1) for name, call in kernels(Clip(*s))} for what, s in shapes.items()}
    print(f"{'kernel':8}{'all objects [s]':>17}" + "".join(f"{what:>14}" for what in grown))
    for name, spent in base.items():
        print(f"{name:8}{spent:17.3f}" + "".join(f"{g[name] / spent:13.1f}x" for g in grown.values()))
    print(f"\ntrack kernels together {sum(v for k, v in base.items() if k not in DENSE):.2f} s (bar: 3 s)")
    print(f"dense kernels together {sum(base[k] for k in DENSE):.2f} s (bar: 5 s)")
    print("2 x objects doubles the points too, so that each object keeps its 100 points.")


if __name__ == "__main__":
    main()
