"""Staged scenes: stacked blocks that fall (R16, R24), and a box that closes over a ball (R15).

Conventions
-----------
World y points down; the floor is level, `_FLOOR` below the camera's axis.  Lengths in metres [m], pixels at 720 rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pvbench_suite.calibrate.noise import Seen
from pvbench_suite.calibrate.views import HW, still
from pvbench_suite.calibrate.worlds.base import Case, Draw, Floats, Held, Row, clock
from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.collision import gap_penetration
from pvbench_suite.physics.permanence import object_permanence
from pvbench_suite.physics.robust import regularise_depth
from pvbench_suite.physics.series import motion, sd3
from pvbench_suite.physics.trajectory import trajectory_continuity
from pvbench_suite.physics.worst import worst

#: Gravity [m/s^2], half an edge of a block, the floor under the camera's axis, and the error of a landing in frames.
_G, _HALF, _FLOOR, _TIMING = 9.81, 0.12, 0.9, 0.4
#: Time [s] in which a block sinks that the floor does not hold.
_SINKS = 0.2


def falling_stack(t: Floats, draw: Draw) -> tuple[Floats, float]:
    """Return the centres (T, 2, 3) of two stacked blocks, the lower first, and when the lower one lands [s].

    What carries them is pulled away; they fall together and come to rest on the floor, into which the lower block
    then sinks by the dose [half edges], with the upper one on it.
    """
    rng = draw.rng
    height, released = rng.uniform(0.5, 0.8), rng.uniform(0.5, 0.9)
    fallen = np.minimum(0.5 * _G * np.square(np.maximum(t - released, 0.0)), height)
    lands = released + float(np.sqrt(2.0 * height / _G))
    sunk = draw.dose * _HALF * np.clip((t - lands) / _SINKS, 0.0, 1.0)
    low = _FLOOR - _HALF - height + fallen + sunk
    place = np.array([rng.uniform(-0.6, 0.6), rng.uniform(3.0, 5.0)])
    across, away = np.full_like(t, place[0]), np.full_like(t, place[1])
    blocks = [np.stack([across, y, away], axis=-1) for y in (low, low - 2.0 * _HALF)]
    return np.asarray(np.stack(blocks, axis=1), dtype=float), lands


def _gaps(
    gaps: Sequence[Floats], sizes: Sequence[tuple[float, float]], depth_sd: Sequence[float], dt: float
) -> Measurement:
    """Return R24 of the worst of several pairs, by their gaps."""
    return worst(lambda k: gap_penetration(gaps[k], *sizes[k], dt=dt, depth_sd=depth_sd[k]), len(gaps))


def stacked(draw: Draw) -> Case:
    """Return R24 of two stacked blocks that fall onto the floor: block and floor, and block and block."""
    t = clock(3.0)
    x, lands = falling_stack(t, draw)
    sensor = draw.sensor(t[1])
    seen: Seen = sensor.centres(x, still(len(t)))
    hits = np.array([lands + draw.rng.normal(0.0, _TIMING * t[1])])
    low, high = (regularise_depth(t, seen.X[:, n], hits)[:, 1] for n in (0, 1))
    # A wrong depth moves a block along its ray, which rises or falls by y/z.
    slope = [float(np.nanmedian(np.abs(seen.X[:, n, 1]) / seen.z[:, n])) for n in (0, 1)]
    deep = [slope[n] * float(sd3(seen.z[:, n])) for n in (0, 1)]
    arguments = {
        "gaps": [_FLOOR - _HALF - low, low - high - 2.0 * _HALF],
        "sizes": [(_HALF, 0.0), (_HALF, _HALF)],
        "depth_sd": [deep[0], math.hypot(*deep)],
        "dt": t[1],
    }
    return Case(_gaps, arguments)


def stacked_path(draw: Draw) -> Case:
    """Return R16 of the lower of two stacked blocks that fall onto the floor, its landing known."""
    t = clock(3.0)
    x, lands = falling_stack(t, draw)
    sensor = draw.sensor(t[1])
    seen = sensor.centres(x, still(len(t)))
    marks = np.array([lands + draw.rng.normal(0.0, _TIMING * t[1])])
    arguments = {"t": t, "path": seen.X[:, 0], "diameter": 2.0 * _HALF, "rays": seen.rays[:, 0], "contacts": marks}
    return Case(trajectory_continuity, arguments)


def covered(draw: Draw) -> Case:
    """Return R15 of a ball over which a box closes for a while; for the dose [share of the clip] it is gone afterwards.

    The ball rolls into its place and rests there.  The box comes down in front of it and goes up again.
    """
    t = clock()
    rng, sensor = draw.rng, draw.sensor(1 / 24)
    rests, z = rng.uniform(0.8, 1.2), 4.0
    closes, opens = rng.uniform(1.6, 1.9), rng.uniform(2.4, 2.8)
    u = 640.0 - 300.0 * np.maximum(0.0, 1.0 - t / rests)
    uv = np.stack([u, np.full_like(t, 460.0)], axis=-1)[:, None]
    lid = np.where((t >= closes) & (t <= opens), 560.0, 200.0)
    hidden = lid > 500.0
    rows, columns = (np.arange(36) + 0.5) * 20.0, (np.arange(64) + 0.5) * 20.0
    box = (np.abs(columns - 640.0) < 110.0)[None, None] & (rows[None, :, None] < lid[:, None, None])
    depth = np.where(box, 2.5, 8.0) * np.exp(sensor.level.depth * sensor.wander(len(t)))[:, None, None]
    first = int(np.flatnonzero(t > opens)[0])
    gone = np.zeros_like(hidden)
    gone[first : first + round(draw.dose * len(t))] = True
    shown = (~hidden & ~gone)[:, None] & sensor.present(len(t), 1)
    seen = np.where(shown[..., None], sensor.pixels(uv, 0.5), np.nan)
    arguments = {
        "present": shown,
        "uv": seen,
        "z": np.where(shown, sensor.depths(np.full((len(t), 1), z), strays=False), np.nan),
        "radius": 32.5 * np.exp(sensor.white(0.5 * sensor.level.area, len(t), 1)),
        "depth": depth,
        "hw": HW,
        "motion": motion([seen[:, 0]], HW, 1 / 24),
    }
    return Case(object_permanence, arguments)


ROWS = (
    Row("R15_lid", "R15", "share of the clip for which a ball is gone once the box over it has opened",
        (0.0, 0.05, 0.1, 0.2, 0.3, 0.4), covered),
    Row("R24_floor", "R24", "sinking of a fallen block into the floor [half edges]",
        (0.0, 0.05, 0.1, 0.2, 0.4, 0.8), stacked),
)  # fmt: skip
HELD = (
    Held("lid", "R15", covered),
    Held("stack", "R16", stacked_path),
    Held("stack", "R24", stacked),
)
