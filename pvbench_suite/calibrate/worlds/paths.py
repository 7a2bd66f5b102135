"""Lawful paths and turns of single bodies, and the steps that break them (R07c, R16, R20).

Conventions
-----------
Positions in metres [m], camera at the origin, bodies 3 to 5 m away; body rates in rad/s; orientations body to world.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.spatial.transform import Rotation

from pvbench_suite.calibrate.noise import Seen
from pvbench_suite.calibrate.views import View, handheld, still
from pvbench_suite.calibrate.worlds.base import Case, Draw, Floats, Held, Row, burst, clock, random_unit
from pvbench_suite.physics.pose import pose_jump
from pvbench_suite.physics.rotation_continuity import rotation_continuity
from pvbench_suite.physics.trajectory import trajectory_continuity

#: Gravity [m/s^2] and the diameter of every body [m].
_G, _DIAMETER = 9.81, 0.3


def path(kind: str, t: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return a lawful path (T, 3) [m] of the kind named, and the times of its contacts [s]."""
    start = np.array([-1.2, rng.uniform(-0.4, 0.4), rng.uniform(3.0, 5.0)])
    u = t / t[-1]
    none = np.empty(0)
    if kind == "parabola":
        a = rng.uniform(-0.15, 0.15, 3)
        v = np.array([rng.uniform(1.5, 2.4), rng.uniform(-0.5, 0.5), rng.uniform(-0.5, 0.5)]) / t[-1]
        return start + t[:, None] * v + 0.5 * a * t[:, None] * (t[:, None] - t[-1]), none
    if kind == "swerve":
        way = np.stack([2.2 * u, 0.5 * np.sin(2 * np.pi * rng.uniform(0.3, 0.8) * t + rng.uniform(0, 6)), 0.6 * u], -1)
        return start + way, none
    if kind == "pendulum":
        rate = np.sqrt(_G / rng.uniform(0.8, 1.5))
        angle = rng.uniform(0.4, 0.7) * np.cos(rate * t + rng.uniform(0, 6))
        return np.array([0.0, -1.0, start[2]]) + np.stack([np.sin(angle), np.cos(angle), 0.0 * t], -1), none
    if kind == "long_flight":
        # Slow motion: real time runs at a third of the clip's, so that one flight lasts the whole clip.
        g = _G / 9.0
        rise = 0.5 * g * (t - 0.5 * t[-1]) ** 2 - 0.125 * g * t[-1] ** 2
        return np.stack([-1.2 + 2.4 * u, 0.9 + 0.5 * rise, np.full_like(t, start[2] + 3.0)], -1), none
    if kind == "rolling":
        way = rng.uniform(0.9, 1.4) * t - 0.5 * rng.uniform(0.05, 0.15) * t * t
        return np.array([-1.5, 0.8, start[2]]) + way[:, None] * np.array([0.9, 0.0, 0.3]), none
    if kind == "chain":
        return _struck(t, rng, start)
    assert kind == "bounce"
    return _bouncing(t, rng, start)


def _bouncing(t: Floats, rng: np.random.Generator, start: Floats) -> tuple[Floats, Floats]:
    """Return a ball that drops from about a metre and bounces, each time to 70 to 85 % of its height."""
    height, gain = rng.uniform(0.9, 1.4), rng.uniform(0.70, 0.85)
    ends = [np.sqrt(2.0 * height / _G)]
    while ends[-1] < t[-1] and height > 0.15:
        height *= gain
        ends.append(ends[-1] + 2.0 * np.sqrt(2.0 * height / _G))
    contacts = np.array(ends)
    inside = np.clip(np.searchsorted(contacts, t, side="right"), 0, len(contacts) - 1)
    begin = np.concatenate([[-contacts[0]], contacts[:-1]])[inside]
    s, span = t - begin, (contacts[inside] - begin)
    y = np.where(t < contacts[-1], 0.5 * _G * s * (s - span), 0.0)
    x = np.stack([start[0] + 0.45 * t, 0.9 + y, np.full_like(t, start[2])], -1)
    return x, contacts[contacts < t[-1]]


def _struck(t: Floats, rng: np.random.Generator, start: Floats) -> tuple[Floats, Floats]:
    """Return a ball that is struck three times in a chain of collisions, at known times."""
    hits = np.sort(t[-1] * (np.array([0.22, 0.5, 0.78]) + rng.uniform(-0.05, 0.05, 3)))
    v = np.stack([rng.uniform(0.3, 0.7, 4), rng.uniform(-0.3, 0.3, 4), rng.uniform(-0.2, 0.2, 4)], -1)
    edges = np.concatenate([[0.0], hits, [np.inf]])
    spent = np.clip(t[:, None] - edges[:-1], 0.0, np.diff(edges))
    return start + spent @ v, hits


def turning(kind: str, t: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return lawful orientations (T, 3, 3) of the kind named, and the times of contacts [s]."""
    axis, rate = random_unit(rng), rng.uniform(0.6, 1.6)
    none = np.empty(0)
    start = Rotation.random(random_state=rng)
    if kind == "spin":
        return (start * Rotation.from_rotvec(rate * t[:, None] * axis)).as_matrix(), none
    if kind == "fast8":
        return (start * Rotation.from_rotvec(8.0 * t[:, None] * axis)).as_matrix(), none
    if kind == "damped":
        turned = 3.0 * rate * (1.0 - np.exp(-t / 1.5))
        return (start * Rotation.from_rotvec(turned[:, None] * axis)).as_matrix(), none
    if kind == "rocking":
        turned = rng.uniform(0.4, 0.7) * np.cos(2 * np.pi * rng.uniform(0.4, 0.8) * t + rng.uniform(0, 6))
        return (start * Rotation.from_rotvec(turned[:, None] * axis)).as_matrix(), none
    if kind == "rolling":
        way = 1.2 * t - 0.05 * t * t
        return (start * Rotation.from_rotvec((way / (0.5 * _DIAMETER))[:, None] * axis)).as_matrix(), none
    if kind == "slipping":
        # Friction slows the slide and spins the ball up evenly, until it rolls.
        until = rng.uniform(1.2, 2.0)
        rate_at = 6.0 / until
        turned = np.where(t < until, 0.5 * rate_at * t * t, 0.5 * rate_at * until**2 + 6.0 * (t - until))
        # The rate has no step there, only its slope.
        return (start * Rotation.from_rotvec(turned[:, None] * axis)).as_matrix(), none
    if kind == "hit":
        when = t[-1] * rng.uniform(0.35, 0.65)
        early = Rotation.from_rotvec(rate * np.minimum(t, when)[:, None] * axis)
        late = Rotation.from_rotvec(rng.uniform(2, 4) * np.maximum(0.0, t - when)[:, None] * random_unit(rng))
        return (start * early * late).as_matrix(), np.array([when])
    assert kind == "euler_top"
    return _euler_top(t, rng, start), none


def _euler_top(t: Floats, rng: np.random.Generator, start: Rotation) -> Floats:
    """Return the free tumbling of a symmetric top: a steady precession and a steady spin, in closed form."""
    ratio, w3, w1 = rng.uniform(1.3, 2.0), rng.uniform(0.6, 1.2), rng.uniform(0.5, 1.0)
    # With I1 = I2 = 1 and I3 = ratio: L turns the body about itself, the body turns about its axis.
    momentum = np.array([w1, 0.0, ratio * w3])
    spin = (1.0 - ratio) * w3
    precession = Rotation.from_rotvec(t[:, None] * momentum)
    return np.asarray((start * precession * Rotation.from_rotvec(t[:, None] * [0.0, 0.0, spin])).as_matrix())


def _view(t: Floats, rng: np.random.Generator, camera: str) -> View:
    return handheld(t, rng) if camera == "handheld" else still(len(t))


def _marks(contacts: Floats, draw: Draw, dt: float) -> Floats:
    """Return contact times as they are found: 0.4 frames of error."""
    return np.asarray(contacts + draw.rng.normal(0.0, 0.4 * dt, len(contacts)))


def _switched(seen: Seen, draw: Draw) -> Floats:
    """Return the positions (T, 3) with the identity of another body for one or two frames, twice."""
    X = seen.X[:, 0].copy()
    half = len(X) // 2
    for at in draw.rng.integers(10, half - 10, 2) + np.array([0, half]):
        X[at : at + int(draw.rng.integers(1, 3))] = seen.X[at, 1]
    return X


def moving(
    draw: Draw,
    kind: str = "parabola",
    fault: str = "teleport",
    fps: float = 24.0,
    camera: str = "still",
    trouble: str = "",
) -> Case:
    """Return R16 of a body that jumps by the dose [diameters], or moves so much faster [diameters/s] for half a second.

    `trouble` is a fault of perception that no level has: ``bias`` (all depths 5 % too large) or ``identity`` (another
    body's place for one or two frames).
    """
    t = clock(5.0, fps)
    if kind == "static":
        x, contacts = np.tile([0.3, 0.2, 4.0], (len(t), 1)), np.empty(0)
    else:
        x, contacts = path(kind, t, draw.rng)
    when = t[-1] * draw.rng.uniform(0.25, 0.7)
    since = np.clip(t - when, 0.0, 0.5) if fault == "velocity" else (t >= when).astype(float)
    x = x + draw.dose * _DIAMETER * since[:, None] * random_unit(draw.rng, 0.3)
    sensor = draw.sensor(1.0 / fps, 0.05 if trouble == "bias" else 0.0)
    other = np.tile([0.8, -0.6, 4.5], (len(t), 1))
    seen = sensor.centres(np.stack([x, other], axis=1), _view(t, draw.rng, camera))
    found = _switched(seen, draw) if trouble == "identity" else seen.X[:, 0]
    marks = _marks(contacts, draw, sensor.dt)
    arguments = {"t": t, "path": found, "diameter": _DIAMETER, "rays": seen.rays[:, 0], "contacts": marks}
    return Case(trajectory_continuity, arguments)


def rotating(draw: Draw, kind: str = "spin", fault: str = "jump", fps: float = 24.0) -> Case:
    """Return R20 of a body that turns by the dose [deg] at once, or whose body rate steps by the dose [rad/s].

    After a ``jump`` the body spins on about the same axis in the world, after a ``twist`` about the same axis in
    itself; a ``rate`` step has its own axis, across the spin as often as along it.
    """
    t = clock(5.0, fps)
    if kind == "static":
        R, contacts = np.broadcast_to(np.eye(3), (len(t), 3, 3)), np.empty(0)
    else:
        R, contacts = turning(kind, t, draw.rng)
    when = t[-1] * draw.rng.uniform(0.25, 0.7)
    late = t >= when
    axis = random_unit(draw.rng)
    if fault == "jump":
        R = R @ Rotation.from_rotvec(np.radians(draw.dose) * late[:, None] * axis).as_matrix()
    elif draw.dose > 0.0:
        R = _resumed(t, R, int(late.argmax()), draw.dose * axis, fault == "rate")
    seen = draw.sensor(1.0 / fps).turned(R)
    return Case(rotation_continuity, {"t": t, "rotations": seen, "contacts": _marks(contacts, draw, 1.0 / fps)})


def _resumed(t: Floats, R: Floats, first: int, change: Floats, of_rate: bool) -> Floats:
    """Return a steady spin `R` that from frame `first` on has its body rate changed, or is turned by `change` [deg]."""
    rate = Rotation.from_matrix(R[0].T @ R[1]).as_rotvec() / (t[1] - t[0])
    jump = np.zeros(3) if of_rate else np.radians(change)
    after = rate + change if of_rate else rate
    late = (t - t[first - 1])[first:, None]
    turned = Rotation.from_matrix(R[first - 1]) * Rotation.from_rotvec(jump) * Rotation.from_rotvec(late * after)
    return np.concatenate([R[:first], turned.as_matrix()])


def posed(draw: Draw, kind: str = "parabola", turn: str = "spin") -> Case:
    """Return R07c of a body whose orientation jumps by the dose [deg] while it moves."""
    t = clock()
    x, _ = path(kind, t, draw.rng)
    R, _ = turning(turn, t, draw.rng)
    jump = burst(t, t[-1] * draw.rng.uniform(0.25, 0.7), np.inf)
    R = R @ Rotation.from_rotvec(np.radians(draw.dose) * jump[:, None] * random_unit(draw.rng)).as_matrix()
    sensor = draw.sensor(1.0 / 24)
    seen = sensor.centres(x[:, None], still(len(t)))
    arguments = {"t": t, "path": seen.X[:, 0], "rotations": sensor.turned(R), "diameter": _DIAMETER}
    return Case(pose_jump, {**arguments, "rays": seen.rays[:, 0]})


_JUMPS = (0.0, 5.0, 10.0, 20.0, 45.0, 90.0)
_STEPS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
ROWS = (
    Row("R07c", "R07c", "pose jump [deg]", _JUMPS, posed),
    Row("R16", "R16", "teleport [diameters]", (0.0, 0.1, 0.25, 0.5, 1.0, 2.0), moving),
    Row("R16_vel", "R16", "velocity step for 0.5 s [diameters/s]", _STEPS, partial(moving, fault="velocity")),
    Row("R20", "R20", "rotation jump [deg]", _JUMPS, rotating),
    Row("R20_twist", "R20", "rotation jump, spin kept in the body [deg]", _JUMPS, partial(rotating, fault="twist")),
    Row("R20_rate", "R20", "rotation rate step [rad/s]", _STEPS, partial(rotating, fault="rate")),
)
HELD = (
    Held("flight_tumble", "R07c", partial(posed, kind="long_flight", turn="euler_top")),
    Held("pendulum_rock", "R07c", partial(posed, kind="pendulum", turn="rocking")),
    Held("swerve", "R07c", partial(posed, kind="swerve")),
    Held("rolling", "R07c", partial(posed, kind="rolling", turn="rolling")),
    *(Held(kind, "R16", partial(moving, kind=kind)) for kind in ("bounce", "long_flight", "pendulum", "swerve")),
    *(Held(f"fps{fps}", "R16", partial(moving, fps=float(fps))) for fps in (8, 12, 60)),
    *(Held(kind, "R16", partial(moving, kind=kind)) for kind in ("rolling", "chain")),
    Held("handheld", "R16", partial(moving, camera="handheld")),
    Held("bias", "R16", partial(moving, trouble="bias")),
    Held("identity", "R16", partial(moving, trouble="identity")),
    Held("static", "R16", partial(moving, kind="static"), "static"),
    *(Held(k, "R20", partial(rotating, kind=k)) for k in ("damped", "euler_top", "fast8", "hit", "rocking")),
    *(Held(f"fps{fps}", "R20", partial(rotating, fps=float(fps))) for fps in (12, 60)),
    *(Held(kind, "R20", partial(rotating, kind=kind)) for kind in ("rolling", "slipping")),
    Held("static", "R20", partial(rotating, kind="static"), "static"),
)
