"""Worlds of tracked surface points: shape, rigidity, motion in 3D (R03, R18, R19).

Conventions
-----------
Metres, seconds.  A body is a box of surface points 3 to 4 m from the camera; depth errors of its points are those of
the body, and a tenth as much of their own.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.spatial.transform import Rotation

from pvbench_suite.calibrate.noise import Sensor
from pvbench_suite.calibrate.views import View, handheld, sliding, still
from pvbench_suite.calibrate.worlds.base import Case, Draw, Floats, Held, Row, burst, clock, random_unit
from pvbench_suite.physics.motion import motion_disagreement
from pvbench_suite.physics.rigid import rigidity
from pvbench_suite.physics.shape import shape_change

#: Half extents of the body [m], and how many of its points are tracked.
_HALF, _POINTS = np.array([0.35, 0.2, 0.15]), 40


def surface(n: int, rng: np.random.Generator, half: Floats = _HALF) -> Floats:
    """Return `n` random points (n, 3) on the surface of a box with half extents `half` [m]."""
    p = rng.uniform(-1.0, 1.0, (n, 3))
    face = rng.integers(0, 3, n)
    p[np.arange(n), face] = rng.choice([-1.0, 1.0], n)
    return np.asarray(p * half)


def _carried(points: Floats, t: Floats, rng: np.random.Generator, turn: float, way: Floats) -> Floats:
    """Return body points (T, P, 3) carried along `way` [m] and turned by `turn` [rad] over the clip."""
    u = t / t[-1]
    R = Rotation.from_rotvec(turn * u[:, None] * random_unit(rng)).as_matrix()
    place = np.array([-0.5 * way[0], 0.0, 3.5]) + u[:, None] * way
    return np.asarray(np.einsum("tij,tpj->tpi", R, points) + place[:, None])


def _strained(draw: Draw, t: Floats, brief: bool) -> Floats:
    """Return body points (T, P, 3) whose first axis is strained by up to the dose [log]."""
    end = t[-1]
    if brief:
        strain = draw.dose * burst(t, draw.rng.uniform(0.2, 0.7) * end, 0.9)
    else:
        # It rises, holds and falls within less than half of the clip, so that the median stays at rest.
        wave = np.sin(np.pi * np.clip((t / end - 0.26) / 0.48, 0.0, 1.0)) ** 2
        strain = draw.dose * np.minimum(1.0, 2.0 * wave)
    points = np.broadcast_to(surface(_POINTS, draw.rng), (len(t), _POINTS, 3)).copy()
    points[..., 0] *= np.exp(strain)[:, None]
    return points


def solid(draw: Draw, kernel: str = "R18", seconds: float = 5.0, brief: bool = False, camera: str = "still") -> Case:
    """Return R03 or R18 of a body that moves, turns and is strained by the dose along one axis.

    Cameras: ``still``, ``drive`` (the body stands, the camera drives past it), ``handheld``; ``none`` is a still clip.
    """
    t = clock(seconds)
    moves = camera in ("still", "handheld")
    way = np.array([1.0, 0.1, 0.4]) if moves else np.zeros(3)
    turn = draw.rng.uniform(0.7, 1.4) if moves else 0.0
    X = _carried(_strained(draw, t, brief), t, draw.rng, turn, way)
    view = {"drive": sliding(t, (1.4, 0.0, 0.5)), "handheld": handheld(t, draw.rng)}.get(camera, still(len(t)))
    seen = draw.sensor(t[1]).points(X, view)
    arguments = {"X": seen.X, "vis": seen.present, "cam": view.eye, "dt": t[1]}
    return Case(rigidity if kernel == "R18" else shape_change, arguments)


def _twice(X: Floats, other: Floats, owner: Floats, view: View, sensor: Sensor) -> tuple[Floats, Floats]:
    """Return the points by two sources: their depths and tracks err apart."""
    return tuple(sensor.points(x, view, owner.astype(np.intp)).X for x in (X, other))  # type: ignore[return-value]


def two_sources(draw: Draw, bodies: int = 1, camera: str = "still", moves: bool = True) -> Case:
    """Return R19 of boxes that, by the second source, move further by the dose than by the first."""
    t = clock()
    rng = draw.rng
    far = rng.uniform([-2.0, -1.2, 4.0], [2.0, 1.2, 7.0], (30, 3))
    X = [np.broadcast_to(far, (len(t), 30, 3))]
    other, owner = list(X), [np.zeros(30)]
    for k in range(bodies):
        way = rng.uniform(2.0, 2.8) * np.array([1.0, 0.1, 0.35]) * (-1) ** k * moves
        points = np.broadcast_to(surface(16, rng), (len(t), 16, 3)) + np.array([0.0, 0.5 * k, 0.0])
        body = _carried(points, t, rng, 0.5 * moves, way)
        X.append(body)
        other.append(body[:1] + (1.0 + draw.dose) * (body - body[:1]))
        owner.append(np.full(16, k + 1.0))
    view = sliding(t, (0.8, 0.0, 0.3)) if camera == "moving" else still(len(t))
    who = np.concatenate(owner)
    a, b = _twice(np.concatenate(X, 1), np.concatenate(other, 1), who, view, draw.sensor(t[1]))
    return Case(motion_disagreement, {"Xa": a, "Xb": b, "static": who == 0, "cam": view.eye, "dt": t[1]})


_SAME = "both sources come from one truth: without noise the lawful value is 0 by construction, the noise carries it"
_STRAIN = "peak log strain along one axis"
ROWS = (
    Row("R03", "R03", _STRAIN, (0.0, 0.02, 0.05, 0.1, 0.2, 0.4), partial(solid, kernel="R03")),
    Row("R03_brief", "R03", "log strain for 0.9 s of 10 s", (0.0, 0.02, 0.05, 0.1, 0.2, 0.4),
        partial(solid, kernel="R03", seconds=10.0, brief=True)),
    Row("R18", "R18", _STRAIN, (0.0, 0.01, 0.02, 0.05, 0.1, 0.2), solid),
    Row("R18_brief", "R18", "log strain for 0.9 s of 10 s", (0.0, 0.02, 0.05, 0.1, 0.2, 0.4),
        partial(solid, seconds=10.0, brief=True)),
    Row("R19", "R19", "motion gain mismatch of the second source", (0.0, 0.05, 0.1, 0.2, 0.4, 0.8), two_sources,
        note=_SAME),
)  # fmt: skip
HELD = (
    Held("drive", "R03", partial(solid, kernel="R03", camera="drive")),
    Held("handheld", "R03", partial(solid, kernel="R03", camera="handheld")),
    Held("static", "R03", partial(solid, kernel="R03", camera="none"), "static"),
    Held("drive", "R18", partial(solid, camera="drive")),
    Held("handheld", "R18", partial(solid, camera="handheld")),
    Held("static", "R18", partial(solid, camera="none"), "static"),
    Held("two", "R19", partial(two_sources, bodies=2, camera="moving"), note=_SAME),
    Held("static", "R19", partial(two_sources, moves=False), "static"),
)
