"""Worlds of the static scene and of sizes in it: depth order, multi-view geometry, scale (R01, R05, R06c)."""

from __future__ import annotations

from functools import partial

import numpy as np

from pvbench_suite.calibrate.noise import Sensor
from pvbench_suite.calibrate.views import HW, K, View, handheld, sliding
from pvbench_suite.calibrate.worlds.base import Case, Draw, Floats, Held, Row, burst, clock, random_unit
from pvbench_suite.physics.depth_order import depth_order
from pvbench_suite.physics.multi_view import reprojection_error
from pvbench_suite.physics.scale import scale_drift

#: Objects closer in depth than this share have no cue.
_CUED = 0.05
#: Points of the static scene.
_POINTS = 60


def ordered(draw: Draw, world: str = "apart", one: bool = False) -> Case:
    """Return R01 of four objects whose depths are swapped in a share (the dose) of the frames.

    All swap places, near for far, or with `one` only two neighbours.  Worlds: ``apart``, ``close`` (8 % between
    neighbours), ``crossing`` (two objects pass each other in depth), ``distractors`` (eight objects).
    """
    t = clock()
    n, step = (8 if world == "distractors" else 4), (1.08 if world == "close" else 1.2)
    z = 3.0 * step ** np.arange(n) * (1.0 + 0.01 * np.sin(2 * np.pi * 0.4 * t[:, None] + np.arange(n)))
    if world == "crossing":
        z[:, :2] = 4.0 + np.array([-1.0, 1.0]) * (t[:, None] / t[-1] * 2.0 - 1.0)
    cue = np.sign(z[:, None, :] - z[:, :, None]) * (np.abs(np.log(z[:, None, :] / z[:, :, None])) > np.log1p(_CUED))
    sensor = draw.sensor(1 / 24)
    seen = sensor.depths(z, strays=False)
    wrong = draw.rng.permutation(len(t)) < round(draw.dose * len(t))
    order = np.array([1, 0, *range(2, n)]) if one else np.arange(n)[::-1]
    seen[wrong] = seen[wrong][:, order]
    return Case(depth_order, {"depths": np.where(sensor.present(*z.shape), seen, np.nan), "cues": cue})


def _estimated(view: View, sensor: Sensor) -> View:
    """Return the camera as it is reconstructed: a slow error of half as many pixels as the tracks have."""
    frames = len(view.eye)
    turn = 0.5 * sensor.level.track / K[0, 0] * sensor.wander(frames, 3)
    shift = 0.1 * sensor.level.depth * sensor.wander(frames, 3) * np.linalg.norm(view.eye, axis=-1, keepdims=True)
    return view.shaken(turn, shift)


def watched(draw: Draw, way: tuple[float, float, float] = (1.8, 0.0, 0.0), share: float = 1.0, **look: float) -> Case:
    """Return R05 of a static scene in which a `share` of the points drifts, each its own way.

    Over the clip a point goes from the dose times its depth on one side of its place to as much on the other.  The
    camera moves by `way` [m]; `look` may say ``fps`` and ``sway`` (1: hand-held).
    """
    t = clock(5.0, look.get("fps", 24.0))
    x = draw.rng.uniform([-2.5, -1.4, 3.0], [2.5, 1.4, 7.0], (_POINTS, 3))
    x[:, :2] *= x[:, 2:] / 6.0
    x += 0.5 * np.asarray(way) * [1.0, 1.0, 0.0]
    drifts = np.arange(_POINTS) < round(share * _POINTS)
    direction = np.stack([random_unit(draw.rng) for _ in range(_POINTS)])
    size = draw.dose * drifts * x[:, 2]
    X = x + (2.0 * t[:, None, None] / t[-1] - 1.0) * size[:, None] * direction
    view = sliding(t, way)
    if look.get("sway"):
        view = handheld(t, draw.rng, view)
    sensor = draw.sensor(t[1] - t[0])
    seen = sensor.points(X, view)
    inside = ((seen.uv > -0.5) & (seen.uv < np.array(HW[::-1]) - 0.5)).all(axis=-1)
    arguments = {"tracks": seen.uv, "depths": seen.z, "visible": seen.present & inside, "intrinsics": K, "hw": HW}
    return Case(reprojection_error, {**arguments, "cameras": _estimated(view, sensor).poses, "dt": sensor.dt})


def _sizes(sensor: Sensor, frames: int) -> Floats:
    """Return the relative error (T,) of an object's size: its depth's, and a little of its tracks'."""
    error = sensor.depths(np.ones((frames, 1)), strays=False)[:, 0] * np.exp(
        sensor.white(0.002 * sensor.level.track, frames)
    )
    return np.where(sensor.present(frames), error, np.nan)


def sized(
    draw: Draw, seconds: float = 5.0, fps: float = 24.0, brief: bool = False, gauge: float = 0.0, by_area: bool = False
) -> Case:
    """Return R06c of an object whose log size ramps by the dose, or is larger by it for 0.75 s.

    `gauge` is a common drift of object and background in log units; `by_area` reads the size off the mask of a round
    body that comes nearer.
    """
    t = clock(seconds, fps)
    sensor = draw.sensor(1.0 / fps)
    fault = burst(t, t[-1] * draw.rng.uniform(0.2, 0.7), 0.75) if brief else t / t[-1]
    drift = gauge * np.sin(2 * np.pi * t / t[-1])
    size = 0.4 * np.exp(draw.dose * fault + drift) * _sizes(sensor, len(t))
    if by_area:
        # sqrt(area) z: half the error of the area comes on top of the depth's.
        size = size * np.exp(sensor.white(0.5 * sensor.level.area, len(t)))
    background = np.exp(drift + 0.3 * sensor.level.depth * sensor.wander(len(t))) if gauge else None
    return Case(scale_drift, {"t": t, "size": size, "background": background})


_FRACTIONS = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8)
_DRIFT = "to either side, in depths"
ROWS = (
    Row("R01", "R01", "share of frames with flipped order", _FRACTIONS, ordered),
    Row("R01_one", "R01", "share of frames in which one pair of four is swapped", _FRACTIONS,
        partial(ordered, one=True)),
    Row("R05", "R05", f"all static points drift {_DRIFT}", (0.0, 0.005, 0.01, 0.02, 0.05, 0.1), watched),
    Row("R05_low", "R05", f"drift at a camera path of 5 % of the diagonal, {_DRIFT}",
        (0.0, 0.005, 0.01, 0.02, 0.05, 0.1), partial(watched, way=(0.37, 0.0, 0.0))),
    Row("R05_part", "R05", f"30 % of the static points drift {_DRIFT}", (0.0, 0.01, 0.02, 0.05, 0.1, 0.2),
        partial(watched, share=0.3)),
    Row("R06c", "R06c", "log size ramp over the clip", (0.0, 0.02, 0.05, 0.1, 0.2, 0.4), sized),
    Row("R06c_burst", "R06c", "log size for 0.75 s of 10 s", (0.0, 0.05, 0.1, 0.2, 0.4, 0.7),
        partial(sized, seconds=10.0, brief=True)),
)  # fmt: skip
HELD = (
    Held("close_8pct", "R01", partial(ordered, world="close")),
    Held("crossing", "R01", partial(ordered, world="crossing")),
    Held("distractors", "R01", partial(ordered, world="distractors")),
    Held("dolly_2pct", "R05", partial(watched, way=(0.15, 0.0, 0.0))),
    Held("dolly_5pct", "R05", partial(watched, way=(0.37, 0.0, 0.0))),
    Held("forward", "R05", partial(watched, way=(0.0, 0.0, 1.2))),
    Held("fps12", "R05", partial(watched, fps=12.0)),
    Held("fps60", "R05", partial(watched, fps=60.0)),
    Held("handheld_dolly", "R05", partial(watched, way=(0.9, 0.0, 0.0), sway=1.0)),
    Held("static", "R05", partial(watched, way=(0.0, 0.0, 0.0)), "static"),
    Held("approach", "R06c", partial(sized, by_area=True)),
    Held("bg_gauge", "R06c", partial(sized, gauge=0.1)),
    Held("fps12", "R06c", partial(sized, fps=12.0)),
    Held("fps60", "R06c", partial(sized, fps=60.0)),
    Held("ten_s", "R06c", partial(sized, seconds=10.0)),
)
