"""Worlds of collisions, energy and touch (R22, R23, R24).

Conventions
-----------
Metres, seconds, y down, gravity 9.81 m/s^2 along +y.  Contacts are found with an error of 0.4 frames.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from pvbench_suite.calibrate.noise import Seen
from pvbench_suite.calibrate.views import View, handheld, still
from pvbench_suite.calibrate.worlds.base import Case, Draw, Floats, Held, Row, clock
from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.collision import sphere_penetration
from pvbench_suite.physics.energy import Levels, bounce_levels, energy_gain, pendulum_levels
from pvbench_suite.physics.momentum import Collision, momentum_error, velocity_change
from pvbench_suite.physics.robust import regularise_depth
from pvbench_suite.physics.series import sd3

_G = 9.81
_DOWN = np.array([0.0, 1.0, 0.0])
_DIAMETER = 0.25
#: Standard error of a contact's time [frames], and of a radius, relative.
_TIMING, _RADIUS = 0.4, 0.03


def _momentum(seen: Seen, t: Floats, hits: Floats, pairs: list[tuple[int, int]], mu: float | None, view: View) -> Any:
    """Return R22 of the collisions of `pairs` of bodies at the times `hits`."""
    events = []
    for when, (i, j) in zip(hits, pairs, strict=True):
        changes = []
        for n in (i, j):
            own = np.array([h for h, pair in zip(hits, pairs, strict=True) if n in pair])
            line = seen.rays[:, n]
            changes.append(velocity_change(t, seen.X[:, n], when, _DIAMETER, line, own, view.poses))
        gap = seen.X[:, i] - seen.X[:, j]
        near = (t < when - 0.5 * (t[1] - t[0])) & (t > when - 0.3) & np.isfinite(gap).all(axis=-1)
        s = t[near] - t[near].mean()
        speed = float(np.linalg.norm((s[:, None] * gap[near]).sum(axis=0) / np.square(s).sum()))
        (dvi, ci), (dvj, cj) = changes
        events.append(Collision(dvi, dvj, speed, ci, cj, (i, j)))
    return momentum_error(events, mu)


def colliding(
    draw: Draw,
    fault: str = "direction",
    fps: float = 24.0,
    camera: str = "still",
    ratio: float = 0.0,
    lean: float = 0.5,
    slow: float = 1.0,
) -> Case:
    """Return R22 of two balls of which the second leaves in a direction wrong by the dose [deg] (masses unknown).

    With the fault ``mass`` the masses are given and its velocity change is too large by the dose.  `ratio` is m_i/m_j
    (0: drawn), `lean` how far the plane of motion leans out of the image [rad], `slow` the share of real time's speed.
    """
    t = clock(3.0, fps)
    rng = draw.rng
    mu = ratio or rng.uniform(0.5, 2.0)
    hit = rng.uniform(1.2, 1.8)
    normal = Rotation.from_rotvec([0.0, 0.0, rng.uniform(-0.7, 0.7)]).apply([1.0, 0.0, 0.0])
    vi, vj = slow * np.array([rng.uniform(0.9, 1.4), rng.uniform(-0.2, 0.2), 0.0]), np.array([-0.2 * slow, 0.0, 0.0])
    # An impulse along the line of centres, with restitution.
    push = (1.0 + rng.uniform(0.6, 0.95)) * max(float((vi - vj) @ normal), 0.0) / (1.0 + mu)
    dvi, dvj = -push * normal, mu * push * normal
    if fault == "direction":
        dvj = Rotation.from_rotvec([0.0, 0.0, rng.choice([-1.0, 1.0]) * np.radians(draw.dose)]).apply(dvj)
    else:
        dvj = dvj * (1.0 + draw.dose)
    late = np.maximum(0.0, t - hit)[:, None]
    s = (t - hit)[:, None]
    x = np.stack([vi * s + late * dvi, _DIAMETER * normal + vj * s + late * dvj], axis=1)
    lay = Rotation.from_rotvec([rng.choice([-1.0, 1.0]) * lean, 0.0, 0.0])
    x = lay.apply(x.reshape(-1, 3)).reshape(x.shape) + np.array([0.0, 0.0, 4.0])
    view = handheld(t, rng) if camera == "handheld" else still(len(t))
    seen = draw.sensor(1.0 / fps).centres(x, view)
    hits = np.array([hit + rng.normal(0.0, _TIMING / fps)])
    arguments = {"seen": seen, "t": t, "hits": hits, "pairs": [(0, 1)], "view": view}
    return Case(_momentum, {**arguments, "mu": mu if fault == "mass" else None})


def cradle(draw: Draw) -> Case:
    """Return R22 of a chain: one ball strikes the next, that one the third, each once; masses unknown."""
    t = clock(3.0)
    rng = draw.rng
    speed, e = rng.uniform(1.0, 1.4), rng.uniform(0.7, 0.95)
    hits = np.array([0.9, 1.9]) + rng.uniform(-0.1, 0.1, 2)
    first, second = 0.5 * (1 - e) * speed, 0.5 * (1 + e) * speed
    v = np.array([[speed, first, first], [0.0, second, 0.5 * (1 - e) * second], [0.0, 0.0, 0.5 * (1 + e) * second]])
    edges = np.concatenate([[0.0], hits, [np.inf]])
    spent = np.clip(t[:, None] - edges[:-1], 0.0, np.diff(edges))
    way = spent @ v.T
    start = np.array([0.0, speed * hits[0] + _DIAMETER, 0.0])
    start[2] = start[1] + second * (hits[1] - hits[0]) + _DIAMETER
    x = np.zeros((len(t), 3, 3))
    x[..., 0] = start + way - 1.5
    x[..., 2] = 4.0 + 0.2 * x[..., 0]
    view = still(len(t))
    seen = draw.sensor(t[1]).centres(x, view)
    found = hits + rng.normal(0.0, _TIMING * t[1], 2)
    arguments = {"seen": seen, "t": t, "hits": found, "pairs": [(0, 1), (1, 2)], "mu": None, "view": view}
    return Case(_momentum, arguments)


def _energy(levels: Levels) -> Measurement:
    """Return R23 of one chain; one that has no levels counts as a chain without a transition."""
    return energy_gain([levels[0]], [levels[1]])


def bouncing(
    draw: Draw, seconds: float = 5.0, keep: tuple[float, float] = (0.7, 0.9), slow: float = 1.0, far: float = 4.0
) -> Case:
    """Return R23 of a ball whose every bounce is higher by the dose than the last; dose 0 keeps a share `keep`."""
    t = clock(seconds)
    rng = draw.rng
    gain = 1.0 + draw.dose if draw.dose > 0.0 else rng.uniform(*keep)
    g = slow * slow * _G
    height = rng.uniform(0.9, 1.2) if draw.dose < 0.3 else 0.4
    ends, heights = [np.sqrt(2.0 * height / g)], [height]
    while ends[-1] < seconds and heights[-1] > 0.02:
        heights.append(heights[-1] * gain)
        ends.append(ends[-1] + 2.0 * np.sqrt(2.0 * heights[-1] / g))
    contacts = np.array(ends)
    k = np.minimum(np.searchsorted(contacts, t, side="right"), len(contacts) - 1)
    apex = np.where(k == 0, 0.0, contacts[k] - np.sqrt(2.0 * np.array(heights)[k] / g))
    y = np.where(t < contacts[-1], np.array(heights)[k] - 0.5 * g * np.square(t - apex), 0.0)
    x = np.stack([-1.2 + 0.4 * t, 0.8 - y, np.full_like(t, far)], axis=-1)
    seen = draw.sensor(t[1]).centres(x[:, None], still(len(t)))
    hits = contacts[contacts < t[-1]] + rng.normal(0.0, _TIMING * t[1], int((contacts < t[-1]).sum()))
    level = regularise_depth(t, seen.X[:, 0], hits)
    return Case(_energy, {"levels": bounce_levels(t, level, hits, _DOWN)})


def swinging(draw: Draw, seconds: float = 5.0, loss: tuple[float, float] = (0.02, 0.1)) -> Case:
    """Return R23 of a pendulum whose height grows by the dose in each half swing; dose 0 loses a share `loss`."""
    t = clock(seconds)
    rng = draw.rng
    rate = np.sqrt(_G / rng.uniform(0.8, 1.2))
    gain = 1.0 + draw.dose if draw.dose > 0.0 else 1.0 - rng.uniform(*loss)
    # Height goes with the square of the angle, and a half swing takes pi / rate.
    angle = rng.uniform(0.25, 0.35) * gain ** (0.5 * rate * t / np.pi) * np.cos(rate * t + rng.uniform(0.0, 6.28))
    x = np.stack([np.sin(angle), np.cos(angle) - 0.5, np.zeros_like(t)], axis=-1) * 9.81 / rate**2
    x[:, 2] = 4.0
    pivot = np.array([0.0, -0.5 * 9.81 / rate**2, 4.0])
    seen = draw.sensor(t[1]).centres(x[:, None], still(len(t)))
    arm = regularise_depth(t, seen.X[:, 0]) - pivot
    return Case(_energy, {"levels": pendulum_levels(t, np.arctan2(arm[:, 0], arm[:, 1]))})


def still_energy(draw: Draw) -> Case:
    """Return R23 of a ball that lies still, with two contacts that are none."""
    t = clock()
    seen = draw.sensor(t[1]).centres(np.tile([0.2, 0.3, 4.0], (len(t), 1, 1)), still(len(t)))
    hits = np.array([1.5, 3.0])
    return Case(_energy, {"levels": bounce_levels(t, regularise_depth(t, seen.X[:, 0], hits), hits, _DOWN)})


def touching(draw: Draw, lean: float = 0.3, moves: bool = True, pass_by: bool = False, softness: float = 0.15) -> Case:
    """Return R24 of two balls that meet and part, overlapping by the dose [smaller radii] at the deepest.

    `lean` is the largest angle [rad] of the line of centres out of the image, `softness` the time [s] in which the
    approach slows to a stop.  With `pass_by` a third ball crosses in front of them at a distance and is measured
    against the first.
    """
    t = clock(3.0)
    rng = draw.rng
    ri, rj = rng.uniform(0.1, 0.2, 2)
    angle = rng.uniform(-lean, lean) if lean < 0.5 else lean * rng.choice([-1.0, 1.0])
    line = Rotation.from_rotvec([0.0, angle, rng.uniform(-0.5, 0.5)]).apply([1.0, 0.0, 0.0])
    hit, speed = rng.uniform(1.2, 1.8), rng.uniform(0.4, 0.8)
    # At 0.15 s it turns round within a third of a second, as a soft contact does; at 0.02 s within a frame.
    s = np.hypot(t - hit, softness) - softness
    gap = (speed * s if moves else np.zeros_like(t)) - draw.dose * min(ri, rj)
    apart = (ri + rj + gap)[:, None] * line
    if pass_by:
        apart = np.stack([speed * (t - hit), 0.1 * t, np.full_like(t, 0.9 * (ri + rj) + 0.25)], axis=-1)
    x = np.stack([-0.5 * apart, 0.5 * apart], axis=1) + np.array([0.0, 0.0, 4.0])
    view = still(len(t))
    sensor = draw.sensor(t[1])
    seen = sensor.centres(x, view)
    hits = np.array([hit + rng.normal(0.0, _TIMING * t[1])])
    raw = float(sd3(seen.z[:, 0] - seen.z[:, 1]))
    a, b = (regularise_depth(t, seen.X[:, n], hits) for n in (0, 1))
    radii = np.array([ri, rj]) * np.exp(sensor.white(_RADIUS, 2))
    arguments = {"ci": a, "cj": b, "ri": float(radii[0]), "rj": float(radii[1]), "dt": t[1], "depth_sd": raw}
    return Case(sphere_penetration, arguments)


#: Why a soft contact seen obliquely is a case apart.
_SOFT = "the depth of a contact that slows over 0.3 s is no line; regularised depth reads 0.08 radii too deep there"
ROWS = (
    Row("R22", "R22", "direction error of one velocity change [deg], masses unknown",
        (0.0, 5.0, 10.0, 20.0, 45.0, 90.0), colliding),
    Row("R22_mass", "R22", "magnitude error of one velocity change, masses given",
        (0.0, 0.1, 0.2, 0.4, 0.8, 1.6), partial(colliding, fault="mass")),
    Row("R23", "R23", "height gain per bounce", (0.0, 0.05, 0.1, 0.2, 0.4, 0.8), bouncing),
    Row("R23_pend", "R23", "height gain per half swing", (0.0, 0.02, 0.05, 0.1, 0.2, 0.3), swinging),
    Row("R23_slow", "R23", "small height gain per bounce, 8 s", (0.0, 0.01, 0.02, 0.04, 0.08, 0.12),
        partial(bouncing, seconds=8.0)),
    Row("R24", "R24", "penetration [smaller radii]", (0.0, 0.05, 0.1, 0.2, 0.4, 0.8), touching),
)  # fmt: skip
HELD = (
    Held("fps60", "R22", partial(colliding, fault="mass", fps=60.0)),
    Held("handheld", "R22", partial(colliding, fault="mass", camera="handheld")),
    Held("mu_12", "R22", partial(colliding, ratio=12.0), runs=90),
    Held("oblique", "R22", partial(colliding, lean=0.9)),
    Held("chain", "R22", cradle),
    Held("slow_motion", "R22", partial(colliding, fault="mass", slow=0.4)),
    Held("elastic", "R23", partial(bouncing, keep=(0.96, 0.995))),
    Held("swing", "R23", partial(swinging, seconds=10.0, loss=(0.0, 0.01))),
    Held("slow_motion", "R23", partial(bouncing, seconds=8.0, slow=0.5)),
    Held("static", "R23", still_energy, "static"),
    Held("oblique", "R24", partial(touching, lean=0.8), runs=120, note=_SOFT),
    Held("oblique_hard", "R24", partial(touching, lean=0.8, softness=0.02), runs=120),
    Held("pass_by", "R24", partial(touching, pass_by=True)),
    Held("static", "R24", partial(touching, moves=False), "static"),
)
