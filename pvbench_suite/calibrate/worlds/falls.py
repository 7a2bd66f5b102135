"""Worlds of free flight (R21).

Conventions
-----------
Metres, seconds, y down, gravity 9.81 m/s^2 along +y; the camera is still at the origin unless a world says otherwise.
Contacts are found with an error of 0.4 frames.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.spatial.transform import Rotation

from pvbench_suite.calibrate.views import View, handheld, still
from pvbench_suite.calibrate.worlds.base import Case, Draw, Floats, Held, Row
from pvbench_suite.physics.gravity import Flight, gravity_error

_G = 9.81
_DOWN = np.array([0.0, 1.0, 0.0])
#: Diameter of a thrown ball [m], errors of the metric and of the direction of gravity [rad]; without a metric the
#: direction errs by half of that.
_DIAMETER, _METRIC, _DIRECTION = 0.25, 0.04, np.radians(1.5)


def _throw(
    span: float, a: Floats, ramp: float, fps: float, rng: np.random.Generator, far: float
) -> tuple[Floats, Floats]:
    """Return a flight that lasts `span` [s] with acceleration `a` (3,) and its relative change `ramp`: times, path."""
    t = np.arange(round(span * fps)) / fps
    u = t[:, None] - 0.5 * span
    start = np.array([rng.uniform(-0.6, 0.0), rng.uniform(-0.3, 0.3), far])
    v = np.array([rng.uniform(0.6, 1.2), rng.uniform(-0.1, 0.1), rng.uniform(-0.3, 0.3)])
    return t, start + v * u + 0.5 * a * u * u + ramp * a * u**3 * 5.0 / (6.0 * span)


def falling(
    draw: Draw,
    fault: str = "scale",
    fps: float = 24.0,
    camera: str = "still",
    span: tuple[float, float] = (0.7, 1.0),
    flights: int = 3,
    far: float = 4.0,
    g_scale: float = 1.0,
) -> Case:
    """Return R21 of a ball in some flights whose gravity is wrong by the dose.

    Faults: ``scale`` (all of gravity is 1 - dose of the metric's), ``one`` (in one flight, without a metric), ``seg``
    (1 + dose and 1 - dose by turns), ``tilt`` [deg], ``tv`` (the path has a cubic term: gravity runs from
    1 - 2.5 dose to 1 + 2.5 dose in each flight).
    """
    metric = fault == "scale"
    sensor = draw.sensor(1.0 / fps)
    found, odd = [], int(draw.rng.integers(flights))
    about = np.cross(_DOWN, [np.cos(phi := draw.rng.uniform(0, 6.28)), 0.0, np.sin(phi)])
    for k in range(flights):
        size = {"scale": 1.0 - draw.dose, "one": 1.0 - draw.dose * (k == odd), "seg": 1.0 + draw.dose * (-1) ** k}
        a = size.get(fault, 1.0) * g_scale * _G * _DOWN
        if fault == "tilt":
            a = Rotation.from_rotvec(np.radians(draw.dose) * about).apply(a)
        ramp = draw.dose if fault == "tv" else 0.0
        t, x = _throw(draw.rng.uniform(*span), a, ramp, fps, draw.rng, far)
        seen = sensor.centres(x[:, None], _looking(t, draw.rng, camera))
        found.append(Flight(t + 1.5 * k, seen.X[:, 0], seen.rays[:, 0]))
    g = _G * (1.0 + sensor.white(_METRIC, 1)[0]) if metric else None
    down = sensor.direction(_DOWN, _DIRECTION if metric else 0.5 * _DIRECTION)
    return Case(gravity_error, {"flights": found, "down": down, "g": g, "diameter": _DIAMETER})


def _looking(t: Floats, rng: np.random.Generator, camera: str) -> View:
    if camera == "handheld":
        return handheld(t, rng)
    return still(len(t), np.radians(25.0) if camera == "pitched" else 0.0)


_GRAVITY = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8)
ROWS = (
    Row("R21", "R21", "1 - g_scale, metric", _GRAVITY, falling),
    Row("R21_one", "R21", "1 - g_scale in one flight only", (0.0, 0.1, 0.2, 0.4, 0.7, 1.0),
        partial(falling, fault="one")),
    Row("R21_seg", "R21", "g differs by +- dose between flights", (0.0, 0.05, 0.1, 0.2, 0.4, 0.6),
        partial(falling, fault="seg", flights=4)),
    Row("R21_tilt", "R21", "gravity tilt [deg]", (0.0, 3.0, 6.0, 12.0, 25.0, 45.0), partial(falling, fault="tilt")),
    Row("R21_tv", "R21", "cubic term within the flight: g from 1 - 2.5 dose to 1 + 2.5 dose",
        (0.0, 0.1, 0.2, 0.4, 0.8, 1.6), partial(falling, fault="tv")),
)  # fmt: skip
HELD = (
    Held("fps12", "R21", partial(falling, fault="free", fps=12.0)),
    Held("fps60", "R21", partial(falling, fault="free", fps=60.0)),
    Held("handheld", "R21", partial(falling, fault="free", camera="handheld")),
    Held("long_flight", "R21", partial(falling, fault="free", span=(1.3, 1.6), flights=2, far=6.0)),
    Held("long_metric", "R21", partial(falling, span=(1.3, 1.6), flights=2, far=6.0)),
    Held("pitched_cam", "R21", partial(falling, fault="free", camera="pitched")),
    Held("slow_motion", "R21", partial(falling, fault="free", span=(2.0, 2.6), flights=2, g_scale=1 / 9.0)),
)
