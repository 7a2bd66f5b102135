"""Worlds of light, soft bodies and presence (R08, R11, R15).

Conventions
-----------
World axes x right, y down, z away; up is (0, -1, 0).  Angles in degrees where a dose says so.  R08 runs at 12 fps.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.spatial.transform import Rotation

from pvbench_suite.calibrate.noise import Sensor
from pvbench_suite.calibrate.views import FOCAL, HW
from pvbench_suite.calibrate.worlds.base import Bools, Case, Draw, Floats, Held, Row, burst, clock
from pvbench_suite.physics.deform import volume_change
from pvbench_suite.physics.light import light_consistency
from pvbench_suite.physics.permanence import object_permanence
from pvbench_suite.physics.series import motion


def _normals(kind: str, rng: np.random.Generator, n: int = 240) -> Floats:
    """Return unit normals (n, 3) of what is seen from above: a dome and the ground, or a few boxes (``facets``)."""
    if kind == "facets":
        turns = Rotation.random(int(rng.integers(2, 4)), random_state=rng).as_matrix()
        faces = np.concatenate([turns.transpose(0, 2, 1).reshape(-1, 3), [[0.0, -1.0, 0.0]]])
        faces = np.where((faces[:, 1] < 0)[:, None], faces, -faces)
        return np.asarray(faces[rng.integers(0, len(faces), n)])
    v = rng.standard_normal((n, 3))
    v[:, 1] = -np.abs(v[:, 1])
    v[: n // 4] = [0.0, -1.0, 0.0]
    return np.asarray(v / np.linalg.norm(v, axis=-1, keepdims=True))


def _light(azimuth: Floats, elevation: float) -> Floats:
    """Return light directions (T, 3) at `azimuth` (T,) [rad] round the vertical and `elevation` [rad]."""
    flat = np.cos(elevation)
    up = np.full_like(azimuth, -np.sin(elevation))
    return np.stack([flat * np.sin(azimuth), up, -flat * np.cos(azimuth)], axis=-1)


def lit(draw: Draw, fault: str = "jump", kind: str = "round", moves: bool = True) -> Case:
    """Return R08 of a lit scene whose light jumps by the dose [deg], turns by it [deg/s], or whose shadow is off by it.

    Kinds: ``round`` (a ball on the ground), ``facets`` (a few boxes), ``two`` (a second lamp, half as bright, from the
    other side).
    """
    t = clock(5.0, 12.0)
    rng, sensor = draw.rng, draw.sensor(1 / 12)
    azimuth = np.full_like(t, rng.uniform(-0.8, 0.8))
    elevation = rng.uniform(0.5, 0.9)
    if fault == "jump":
        azimuth = azimuth + np.radians(draw.dose) * (t >= rng.uniform(0.35, 0.65) * t[-1])
    if fault == "rate":
        azimuth = azimuth + np.radians(draw.dose) * t
    light = _light(azimuth, elevation)
    n = np.broadcast_to(_normals(kind, rng), (len(t), 240, 3))
    shade = np.maximum(0.0, np.einsum("tpi,ti->tp", n, light))
    if kind == "two":
        shade = shade + 0.5 * np.maximum(0.0, n[0] @ _light(azimuth[:1] + 2.0, 0.6)[0])
    gain = np.exp(0.1 * sensor.wander(len(t)))[:, None]
    noise = sensor.level.track * 0.05
    shading = gain * (0.2 + shade + sensor.white(noise, *shade.shape) + 0.5 * noise * sensor.wander(len(t), 240))
    seen = _read_normals(n, sensor)
    hidden = ~sensor.present(*shade.shape)
    shadow = None
    if fault == "shadow":
        ground = -light * [1.0, 0.0, 1.0] / np.linalg.norm(light * [1.0, 0.0, 1.0], axis=-1, keepdims=True)
        shadow = Rotation.from_rotvec([0.0, np.radians(draw.dose), 0.0]).apply(ground)
        shadow = shadow + sensor.white(sensor.level.pose, *shadow.shape)
        shadow[~sensor.present(len(t))] = np.nan
    moved = 10.0 if moves else 0.0
    arguments = {"normals": np.where(hidden[..., None], np.nan, seen), "shading": shading, "shadow": shadow}
    return Case(light_consistency, {**arguments, "dt": 1 / 12, "motion": moved})


def _read_normals(n: Floats, sensor: Sensor) -> Floats:
    """Return normals (T, P, 3) as a network reads them.

    Each has a white and a slow error of an orientation's size; all of a frame share a slow turn of twice that, which is
    what moves a fitted light.
    """
    frames, points = n.shape[:2]
    sd = sensor.level.pose / np.sqrt(3.0)
    shared = Rotation.from_rotvec(2.0 * sd * sensor.wander(frames, 3)).as_matrix()
    read = np.einsum("tij,tpj->tpi", shared, n)
    read = read + sensor.white(sd, *n.shape) + sd * sensor.wander(frames, points, 3)
    return np.asarray(read / np.linalg.norm(read, axis=-1, keepdims=True))


def soft(draw: Draw, seconds: float = 5.0, brief: bool = False, kind: str = "squash") -> Case:
    """Return R11 of a soft ball that is squashed and springs back, and whose log volume grows by the dose.

    Kinds: ``squash`` (damped waves), ``jelly`` (a lasting wobble at 2 Hz), ``static``.
    """
    t = clock(seconds)
    rng, sensor = draw.rng, draw.sensor(1 / 24)
    size = {"squash": 0.35 * np.exp(-t / 4.0), "jelly": np.full_like(t, 0.2), "static": 0.0 * t}[kind]
    q = size * np.abs(np.sin(np.pi * rng.uniform(0.8, 1.2) * t + rng.uniform(0.0, 3.0)))
    if kind == "jelly":
        q = size * np.sin(2 * np.pi * 2.0 * t)
    grow = draw.dose * (burst(t, rng.uniform(0.2, 0.7) * t[-1], 0.9) if brief else t / t[-1]) / 3.0
    z = 3.0 + 0.3 * np.sin(0.5 * t + rng.uniform(0.0, 6.0)) * (kind != "static")
    across, along = np.exp(grow + 0.5 * q), np.exp(grow - q)
    # A disc of radius r has second moments r^2 / 4.
    sides = 0.25 * np.square(0.25 * FOCAL / z[:, None] * np.stack([across, along], axis=-1))
    sides = sides * np.exp(sensor.white(sensor.level.area, len(t), 1))
    moments = sides[:, :, None] * np.eye(2)
    moments[~sensor.present(len(t))] = np.nan
    depth = sensor.depths(z[:, None], strays=False)[:, 0]
    arguments = {"moments": moments, "depth": depth, "focal": FOCAL, "axis": (0.0, 1.0), "dt": 1 / 24}
    return Case(volume_change, arguments)


def _gone(draw: Draw, t: Floats, open_: Bools, blink: bool) -> Bools:
    """Return the frames (T,) in which an object is unlawfully absent: a stretch in the open, or frames at random."""
    if blink:
        return np.asarray(draw.rng.random(len(t)) < draw.dose)
    length = round(draw.dose * len(t))
    covered = np.convolve(open_.astype(int), np.ones(max(1, length), dtype=int), mode="valid")
    best = np.flatnonzero(covered == covered.max())
    start = int(draw.rng.choice(best))
    gone = np.zeros(len(t), dtype=np.bool_)
    gone[start : start + length] = True
    return gone


def present(draw: Draw, objects: int = 2, blink: bool = False, moves: bool = True, late: bool = False) -> Case:
    """Return R15 of objects of which one is absent, in the open, for a share of the clip.

    They cross the frame before a wall; a post nearer to the camera hides each for a while.  With `late` the absence is
    the end of the clip, where nobody knows what path the object would have taken.
    """
    t = clock()
    rng, sensor = draw.rng, draw.sensor(1 / 24)
    u = t / t[-1] if moves else np.full_like(t, 0.3)
    lanes = np.linspace(140.0, 580.0, objects)
    start = rng.uniform(60.0, 160.0, objects)
    uv = np.stack([start + 980.0 * u[:, None] * np.linspace(1.0, 0.8, objects), np.tile(lanes, (len(t), 1))], axis=-1)
    z = np.broadcast_to(np.linspace(3.5, 4.5, objects), uv.shape[:2])
    radius = 130.0 / z
    post = (rng.uniform(560.0, 620.0), rng.uniform(690.0, 740.0))
    hidden = (uv[..., 0] > post[0]) & (uv[..., 0] < post[1])
    depth = np.full((len(t), 36, 64), 8.0)
    column = (np.arange(64) + 0.5) * 20.0
    depth[:, :, (column > post[0]) & (column < post[1])] = 2.0
    gone = np.zeros_like(hidden)
    if draw.dose > 0.0:
        who = int(rng.integers(objects))
        gone[:, who] = _gone(draw, t, ~hidden[:, who], blink)
        if late:
            gone[:, who] = u >= 1.0 - draw.dose
    shown = ~hidden & ~gone & sensor.present(*hidden.shape)
    seen = sensor.pixels(uv, 0.5)
    depth = depth * np.exp(sensor.level.depth * sensor.wander(len(t)))[:, None, None]
    read = np.where(shown, sensor.depths(np.asarray(z), strays=False), np.nan)
    size = radius * np.exp(sensor.white(0.5 * sensor.level.area, *radius.shape))
    tracks = [np.where(shown[:, n, None], seen[:, n], np.nan) for n in range(objects)]
    arguments = {"present": shown, "uv": np.where(shown[..., None], seen, np.nan), "z": read, "radius": size}
    return Case(object_permanence, {**arguments, "depth": depth, "hw": HW, "motion": motion(tracks, HW, 1 / 24)})


ROWS = (
    Row("R08", "R08", "light azimuth jump [deg]", (0.0, 5.0, 10.0, 20.0, 45.0, 90.0), lit),
    Row("R08_rate", "R08", "light turning [deg/s]", (0.0, 15.0, 30.0, 45.0, 60.0, 90.0), partial(lit, fault="rate")),
    Row("R08_shadow", "R08", "shadow off the light [deg]", (0.0, 5.0, 10.0, 20.0, 45.0, 90.0),
        partial(lit, fault="shadow")),
    Row("R11", "R11", "log volume ramp over the clip", (0.0, 0.05, 0.1, 0.2, 0.4, 0.8), soft),
    Row("R11_brief", "R11", "log volume for 0.9 s of 10 s", (0.0, 0.05, 0.1, 0.2, 0.4, 0.8),
        partial(soft, seconds=10.0, brief=True)),
    Row("R15", "R15", "share of the clip that one of two objects is missing in the open",
        (0.0, 0.05, 0.1, 0.2, 0.4, 0.6), present),
    Row("R15_blink", "R15", "share of frames that one of two objects blinks off", (0.0, 0.1, 0.2, 0.3, 0.5, 0.7),
        partial(present, blink=True)),
    Row("R15_end", "R15", "share of the clip at its end for which one of two objects is missing",
        (0.0, 0.05, 0.1, 0.2, 0.4, 0.6), partial(present, late=True)),
)  # fmt: skip
HELD = (
    Held("facets", "R08", partial(lit, kind="facets")),
    Held("two_lamps", "R08", partial(lit, kind="two")),
    Held("static", "R08", partial(lit, moves=False), "static", note="motion is given as 0: the gate is the caller's"),
    Held("jelly", "R11", partial(soft, kind="jelly")),
    Held("static", "R11", partial(soft, kind="static"), "static"),
    Held("four", "R15", partial(present, objects=4)),
    Held("distractors", "R15", partial(present, objects=8)),
    Held("static", "R15", partial(present, moves=False), "static"),
)
