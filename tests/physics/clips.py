"""One faulty clip for each numeric kernel, as a function of the frames' times.

World axes are those of the first camera: x right, y down, z forward [m]; pixels are those of a frame of 720 x 1280.
`fault` is the share of the fault (0: lawful), `still` a clip in which nothing moves, `size` the size of a dense field.
Without `still` a clip lasts four seconds and its fault reads far from 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.collision import sphere_penetration
from pvbench_suite.physics.energy import bounce_levels, energy_gain
from pvbench_suite.physics.gravity import Flight, gravity_error
from pvbench_suite.physics.momentum import Collision, momentum_error, velocity_change

Kwargs = dict[str, Any]
HW = (720, 1280)
K = np.array([[1000.0, 0.0, 639.5], [0.0, 1000.0, 359.5], [0.0, 0.0, 1.0]])
DOWN, AWAY = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 5.0])
SECONDS = 4.0


def late(t: np.ndarray, at: float = 2.51) -> np.ndarray:
    """Return 1 from `at` [s] on, 0 before."""
    return (t > at).astype(float)


def dt_of(t: np.ndarray) -> float:
    return float(np.median(np.diff(t)))


def shape(n: int = 16) -> np.ndarray:
    """Return `n` points of a body of about half a metre, in no special order."""
    return np.random.default_rng(5).normal(0.0, 0.2, (n, 3))


def way(t: np.ndarray, still: bool = False) -> np.ndarray:
    """Return a smooth path (T, 3) across the view."""
    s = 0.0 * t if still else t
    return np.stack([0.5 * s - 1.0, 0.1 * s * s - 0.3 * s, 4.0 + 0.1 * s], axis=-1)


def turns(t: np.ndarray, still: bool = False) -> np.ndarray:
    return Rotation.from_rotvec(np.outer(0.0 * t if still else t, [0.2, 0.8, -0.3])).as_matrix()


def body(t: np.ndarray, growth: float, still: bool = False) -> np.ndarray:
    """Return points (T, P, 3) of a body that moves and turns, and is larger by e^growth from 2.5 s on."""
    grown = shape() * np.exp(growth * late(t))[:, None, None]
    wave = 2e-3 * np.sin(np.outer(t, np.linspace(1.0, 4.0, 16)))[..., None] * [1.0, -1.0, 0.5]
    return np.einsum("tij,tpj->tpi", turns(t, still), grown + (0.0 if still else wave)) + way(t, still)[:, None]


def r01(t: np.ndarray, fault: float = 1.0, still: bool = False) -> Kwargs:
    z = 2.0 * 1.2 ** np.arange(4) * (1.0 + (0.0 if still else 0.01) * np.sin(t)[:, None])
    cues = np.sign(z[:, None, :] - z[:, :, None])
    swap = (t < 1.0 - 1e-9) & (fault > 0)
    z[swap] = z[swap][:, [1, 0, 2, 3]]
    return {"depths": z, "cues": cues}


def r02(t: np.ndarray, fault: float = 1.0, still: bool = False, size: int = 1) -> Kwargs:
    h, w = 24 * size, 40 * size
    k = np.diag([size, size, 1.0]) @ np.array([[40.0, 0, 17.0], [0, 44.0, 10.0], [0, 0, 1.0]])
    v, u = np.mgrid[:h, :w]
    rays = np.stack([u, v, np.ones_like(u)], -1) @ np.linalg.inv(k).T
    n = np.array([0.3, -0.2, -1.0]) / np.linalg.norm([0.3, -0.2, -1.0])
    wrong = Rotation.from_rotvec(fault * np.radians(14.0) * np.array([0.5, 0.8, 0.1])).apply(n)
    depth, normals = 5.0 * n[2] / (rays @ n), np.broadcast_to(wrong, (h, w, 3))
    return {"depth": np.repeat(depth[None], len(t), 0), "normals": np.repeat(normals[None], len(t), 0), "K": k}


def r03(t: np.ndarray, fault: float = 1.0, still: bool = False) -> Kwargs:
    return {"X": body(t, 0.1 * fault, still), "cam": np.zeros((len(t), 3)), "dt": dt_of(t)}


def r05(t: np.ndarray, fault: float = 1.0, still: bool = False) -> Kwargs:
    X = np.random.default_rng(0).uniform([-1.0, -0.6, 3.0], [1.0, 0.6, 6.0], (24, 3))
    cameras = np.tile(np.eye(4), (len(t), 1, 1))
    cameras[:, :3, :3] = Rotation.from_rotvec(np.outer(0.0 * t if still else 0.02 * t, [0, 1, 0.3])).as_matrix()
    cameras[:, 0, 3] = 0.0 if still else 0.5 * (t - 2.0)
    local = np.einsum("tji,tpj->tpi", cameras[:, :3, :3], X - cameras[:, None, :3, 3])
    uv = (local @ K.T)[..., :2] / local[..., 2:]
    uv[:, :10] += fault * 9.0 * late(t)[:, None, None] * [0.8, -0.6]
    return {"tracks": uv, "depths": local[..., 2], "visible": None, "intrinsics": K, "hw": HW, "cameras": cameras,
            "dt": dt_of(t)}  # fmt: skip


def r06(t: np.ndarray, fault: float = 1.0, still: bool = False) -> Kwargs:
    gauge = np.exp((0.0 if still else 0.1) * np.sin(t))
    return {"t": t, "size": 0.4 * gauge * np.exp(0.3 * fault * late(t)), "background": 7.0 * gauge}


def r16(t: np.ndarray, fault: float = 1.0, still: bool = False) -> Kwargs:
    path = way(t, still) + fault * 0.3 * late(t)[:, None] * [0.6, 0.7, 0.1]
    return {"t": t, "path": path, "diameter": 0.3, "rays": path.copy(), "contacts": np.array([0.9])}


def r20(t: np.ndarray, fault: float = 1.0, still: bool = False) -> Kwargs:
    jump = Rotation.from_rotvec(fault * late(t)[:, None] * np.radians(40.0) * [0.6, 0.0, 0.8]).as_matrix()
    return {"t": t, "rotations": turns(t, still) @ jump, "contacts": np.array([0.9])}


def r07(t: np.ndarray, fault: float = 1.0, still: bool = False) -> Kwargs:
    return {**r16(t, fault, still), "rotations": r20(t, fault, still)["rotations"]}


def r08(t: np.ndarray, fault: float = 1.0, still: bool = False) -> Kwargs:
    a, up = 0.3 + 0.8 * fault * late(t), np.full(len(t), -np.sin(0.7))
    light = np.stack([np.cos(0.7) * np.cos(a), up, np.cos(0.7) * np.sin(a)], -1)
    n = np.random.default_rng(1).normal(size=(80, 3))
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    normals = np.repeat(n[None], len(t), 0)
    shading = 0.7 * np.maximum(0.0, np.einsum("tpi,ti->tp", normals, light)) + 0.3
    return {"normals": normals, "shading": shading, "up": -DOWN, "dt": dt_of(t), "motion": 0.0 if still else 5.0}


def r11(t: np.ndarray, fault: float = 1.0, still: bool = False) -> Kwargs:
    q, grow = 0.0 * t if still else 0.3 * np.sin(3.0 * t), 0.3 * fault * late(t) / 3.0
    depth, angle = 4.0 + 0.0 * t if still else 4.0 + 0.3 * t, 0.4
    axis = np.array([np.cos(angle), np.sin(angle)])
    other = np.array([-axis[1], axis[0]])
    moments = sum(
        (200.0 * np.exp(s) / depth)[:, None, None] ** 2 * np.outer(v, v)
        for s, v in ((grow - q, axis), (grow + 0.5 * q, other))
    )
    return {"moments": moments, "depth": depth, "focal": 1000.0, "axis": axis, "dt": dt_of(t)}


def r15(t: np.ndarray, fault: float = 1.0, still: bool = False) -> Kwargs:
    s = 0.0 * t if still else t
    uv = np.stack(
        [np.stack([200.0 + 200.0 * s, 250.0 + 0.0 * s], -1), np.stack([900.0 - 90.0 * s, 500.0 + 0 * s], -1)], 1
    )
    present = np.ones((len(t), 2), dtype=bool)
    present[(t > 1.51) & (t < 2.51), 0] = fault == 0
    values = {"uv": uv, "z": np.full((len(t), 2), 5.0), "radius": np.full((len(t), 2), 40.0)}
    values = {k: np.where(present if v.ndim == 2 else present[..., None], v, np.nan) for k, v in values.items()}
    depth = np.full((len(t), 18, 32), 10.0)
    return {"present": present, **values, "depth": depth, "hw": HW, "dt": dt_of(t), "motion": 0.0 if still else 5.0}


def r17(t: np.ndarray, fault: float = 1.0, still: bool = False, size: int = 1) -> Kwargs:
    forth = np.full((len(t), 18 * size, 32 * size, 2), 0.0) + (0.0 if still else np.array([2.0, 1.0]) * size)
    back = -forth
    back[t > 1.51, :, : 12 * size] *= 1.0 - 0.4 * fault
    regions = np.zeros(forth.shape[:3], dtype=int)
    regions[:, :, : 16 * size] = 1
    return {"forward": forth, "back": back, "regions": regions, "hw720": (18 * size, 32 * size) if still else (72, 128),
            "dt": dt_of(t)}  # fmt: skip


def r19(t: np.ndarray, fault: float = 1.0, still: bool = False) -> Kwargs:
    base = np.random.default_rng(2).normal(0.0, 1.0, (14, 3)) + 1.2 * AWAY
    move = np.outer(0.0 * t if still else t, [0.5, 0.1, 0.05])[:, None] * (np.arange(14) >= 8)[:, None]
    gain = 1.0 + 0.5 * fault
    return {"Xa": base + move, "Xb": base + gain * move, "static": np.arange(14) < 8, "cam": np.zeros((len(t), 3)),
            "dt": dt_of(t)}  # fmt: skip


def flights(
    t: np.ndarray, path: np.ndarray, rays: np.ndarray, contacts: np.ndarray, down: np.ndarray, diameter: float
) -> Measurement:
    """Return R21 of a path that is airborne between the contacts 0 and 1, 2 and 3, and so on."""
    parts = [(t > a) & (t < b) for a, b in np.asarray(contacts).reshape(-1, 2)]
    return gravity_error([Flight(t[p], path[p], rays[p]) for p in parts], down, None, diameter)


def r21(t: np.ndarray, fault: float = 1.0, still: bool = False) -> Kwargs:
    contacts = np.array([0.05, 1.15, 1.35, 2.45, 2.65, 3.75])
    path = np.zeros((len(t), 3)) + AWAY
    for k, (a, b) in enumerate(contacts.reshape(-1, 2)):
        s = (t - 0.5 * (a + b))[:, None]
        g = 9.81 * (1.0 - 0.4 * fault * (k == 1))
        path = np.where((t > a)[:, None], AWAY + s * [0.8, 0.1, 0.2] + 0.5 * g * s * s * DOWN, path)
    if still:
        contacts = np.empty(0)
    return {"t": t, "path": path, "rays": path.copy(), "contacts": contacts, "down": DOWN, "diameter": 0.2}


def pair(
    t: np.ndarray, bodies: np.ndarray, rays: np.ndarray, contacts: np.ndarray, diameter: float, cameras: np.ndarray
) -> Measurement:
    """Return R22 of two bodies (T, 2, 3) at their contacts."""
    events = []
    for when in contacts:
        (a, ca), (b, cb) = (
            velocity_change(t, bodies[:, n], when, diameter, rays[:, n], contacts, cameras) for n in (0, 1)
        )
        gap = np.linalg.norm(bodies[:, 0] - bodies[:, 1], axis=-1)
        near = (np.abs(t - when) > 0.1) & (np.abs(t - when) < 0.6)
        events.append(Collision(a, b, float(np.median(np.abs(np.diff(gap[near]) / np.diff(t[near])))), ca, cb))
    return momentum_error(events)


def r22(t: np.ndarray, fault: float = 1.0, still: bool = False) -> Kwargs:
    s, after = (t - 2.02)[:, None], np.maximum(0.0, t - 2.02)[:, None]
    turn = Rotation.from_rotvec([0.0, 0.0, fault * np.radians(50.0)])
    a = AWAY + s * [0.7, 0.1, 0.0] + after * np.array([-0.9, 0.0, 0.1])
    b = [0.25, 0.0, 5.0] + s * [-0.3, 0.0, 0.0] + after * turn.apply([0.9, 0.0, -0.1])
    x, hits = np.stack([a, b], 1), np.empty(0) if still else np.array([2.02])
    return {"t": t, "bodies": x, "rays": x.copy(), "contacts": hits, "diameter": 0.25,
            "cameras": np.tile(np.eye(4), (len(t), 1, 1))}  # fmt: skip


def bounces(t: np.ndarray, path: np.ndarray, contacts: np.ndarray, down: np.ndarray) -> Measurement:
    """Return R23 of one bouncing ball."""
    levels, errors = bounce_levels(t, path, contacts, down)
    return energy_gain([levels], [errors])


def r23(t: np.ndarray, fault: float = 1.0, still: bool = False) -> Kwargs:
    heights = 0.6 * np.array([1.0, 1.0 + 0.35 * fault, (1.0 + 0.35 * fault) ** 2])
    spans = np.sqrt(8.0 * heights / 4.0)
    contacts = 0.1 + np.concatenate([[0.0], np.cumsum(spans)])
    path = np.zeros((len(t), 3)) + AWAY
    for h, a, b in zip(heights, contacts[:-1], contacts[1:], strict=True):
        s = (t - 0.5 * (a + b))[:, None]
        inside = ((t >= a) & (t <= b))[:, None]
        path = np.where(inside, AWAY - (h - 0.5 * 4.0 * s * s) * DOWN, path)
    path = path + np.outer(t, [0.3, 0.0, 0.0])
    return {"t": t, "path": np.zeros_like(path) + AWAY if still else path, "contacts": contacts, "down": DOWN}


def spheres(pair: np.ndarray, radii: np.ndarray, dt: float, axis: np.ndarray) -> Measurement:
    """Return R24 of two balls (T, 2, 3)."""
    return sphere_penetration(pair[:, 0], pair[:, 1], *map(float, radii), dt=dt, axis=axis)


def r24(t: np.ndarray, fault: float = 1.0, still: bool = False) -> Kwargs:
    gap = np.minimum(0.6, np.maximum(np.abs(t - 2.0) - 0.3, 0.0)) if not still else 0.0 * t
    apart = (0.5 + gap - 0.5 * 0.2 * fault)[:, None] * [0.9, 0.3, 0.316]
    middle = np.outer(t, [0.1, 0.05, 0.0]) + AWAY
    return {"pair": np.stack([middle - 0.5 * apart, middle + 0.5 * apart], 1), "radii": np.array([0.2, 0.3]),
            "dt": dt_of(t), "axis": np.array([0.0, 0.0, 1.0])}  # fmt: skip


def ptq03(t: np.ndarray, fault: float = 1.0, still: bool = False, size: int = 1) -> Kwargs:
    luma = np.kron(np.random.default_rng(3).uniform(50.0, 200.0, (18, 32)), np.ones((size, size)))
    luma0 = np.repeat(luma[None], len(t), 0)
    luma1 = luma0 + (6.0 * fault * late(t))[:, None, None]
    return {"luma0": luma0, "luma1": luma1, "flow": np.zeros((*luma0.shape, 2)), "dt": dt_of(t)}


def ptq04(t: np.ndarray, fault: float = 1.0, still: bool = False) -> Kwargs:
    moved = 0.0 * t[1:-1] if still else 5.0 + np.sin(t[1:-1])
    return {"error": (0.1 + 0.3 * fault * late(t[1:-1])) * moved, "difference": moved, "dt": dt_of(t)}
