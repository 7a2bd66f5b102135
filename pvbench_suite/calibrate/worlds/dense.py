"""Worlds of dense fields: depth with normals, flow forth and back (R02, R17).

Conventions
-----------
Fields are arrays (M, H, W, ...) on small grids of 16:9; pixel centres are integers.  Pixels of a noise level are those
of a frame of 720 rows and are scaled to the grid.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.spatial.transform import Rotation

from pvbench_suite.calibrate.noise import Sensor
from pvbench_suite.calibrate.worlds.base import Bools, Case, Draw, Floats, Held, Row
from pvbench_suite.physics.flow import flow_inconsistency, occlusion
from pvbench_suite.physics.surface import normal_error

#: Slow error of a normals network that no level changes [rad], and how many frames, and pairs of frames, are measured.
_NETWORK, _FRAMES, _PAIRS = np.radians(3.5), 8, 24


def _rays(width: int) -> tuple[Floats, Floats]:
    """Return the intrinsics (3, 3) of a grid of that width and its viewing rays (H, W, 3) with z = 1."""
    height = round(width * 9 / 16)
    f = 0.78 * width
    K = np.array([[f, 0.0, 0.5 * (width - 1)], [0.0, f, 0.5 * (height - 1)], [0.0, 0.0, 1.0]])
    v, u = np.mgrid[:height, :width]
    return K, np.stack([(u - K[0, 2]) / f, (v - K[1, 2]) / f, np.ones_like(u, dtype=float)], axis=-1)


def _planes(kind: str, rng: np.random.Generator) -> list[tuple[Floats, float]]:
    """Return the planes n.x = d of a room [m], n toward the camera, or of boxes on a floor under a rolled camera."""
    if kind == "room":
        turn = Rotation.from_euler("yx", rng.uniform(-0.35, 0.35, 2) * [1.0, 0.4])
        sides = [([0, 0, -1], -4.5), ([0, -1, 0], -1.3), ([0, 1, 0], -1.6), ([1, 0, 0], -2.4), ([-1, 0, 0], -2.2)]
        return [(turn.apply(np.array(n, dtype=float)), d) for n, d in sides]
    turn = Rotation.from_euler("zx", [rng.uniform(-0.2, 0.2), -rng.uniform(0.3, 0.5)])
    return [(turn.apply([0.0, -1.0, 0.0]), -1.5), (turn.apply([0.0, 0.0, -1.0]), -7.0)]


def _surfaces(rays: Floats, kind: str, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return depth (H, W) and normals (H, W, 3) of a room, or of boxes (``boxes``)."""
    depth = np.full(rays.shape[:2], np.inf)
    normals = np.zeros(rays.shape)
    for n, d in _planes(kind, rng):
        _nearer(depth, normals, rays, n, d, None)
    for _ in range(5 if kind == "boxes" else 0):
        centre = np.array([rng.uniform(-1.5, 1.5), rng.uniform(-0.2, 0.8), rng.uniform(2.8, 4.5)])
        axes, half = Rotation.random(random_state=rng).as_matrix(), rng.uniform(0.25, 0.5)
        for axis in range(3):
            n = axes[:, axis] * -np.sign(axes[:, axis] @ centre)
            _nearer(depth, normals, rays, n, float(n @ centre) + half, (axes, centre, half))
    return depth, normals


def _nearer(
    depth: Floats, normals: Floats, rays: Floats, n: Floats, d: float, box: tuple[Floats, Floats, float] | None
) -> None:
    """Draw the plane n.x = d, or one face of a box, where it is nearer than what is drawn."""
    with np.errstate(divide="ignore", invalid="ignore"):
        z = d / (rays @ n)
    hit = np.isfinite(z) & (z > 0.1) & (z < depth) & (rays @ n < 0)
    if box is not None:
        axes, centre, half = box
        local = np.abs((rays * np.where(hit, z, 0.0)[..., None] - centre) @ axes)
        hit &= (local <= half + 1e-9).all(axis=-1)
    depth[hit], normals[hit] = z[hit], n


def surfaces(draw: Draw, kind: str = "room", width: int = 128) -> Case:
    """Return R02 of a still scene whose predicted normals are all turned by the dose [deg] about one axis.

    Depth has white noise of half the level in each pixel and a smooth error of the level; normals have a smooth error
    of 3.5 deg whatever the level, a smooth one of the level, and as much white noise.
    """
    rng, level = draw.rng, draw.level
    K, rays = _rays(width)
    z, n = _surfaces(rays, kind, rng)
    axis = rng.standard_normal(3)
    turned = n @ Rotation.from_rotvec(np.radians(draw.dose) * axis / np.linalg.norm(axis)).as_matrix().T
    depths, normals = [], []
    for _ in range(_FRAMES):
        slow = gaussian_filter(rng.standard_normal(z.shape), 0.15 * width, mode="wrap")
        depths.append(z * np.exp(level.depth * (slow / slow.std() + 0.5 * rng.standard_normal(z.shape))))
        smooth = gaussian_filter(rng.standard_normal(n.shape), (0.03 * width, 0.03 * width, 0), mode="wrap")
        error = np.hypot(_NETWORK, level.pose) * smooth / smooth.std() / np.sqrt(2.0)
        normals.append(turned + error + level.pose / np.sqrt(2.0) * rng.standard_normal(n.shape))
    return Case(normal_error, {"depth": np.array(depths), "normals": np.array(normals), "K": K})


def _grid(height: int) -> tuple[Floats, Floats]:
    y, x = np.mgrid[:height, : round(height * 16 / 9)].astype(float)
    return y, x


def _blurred(flow: Floats, sensor: Sensor, scale: float) -> Floats:
    """Return the flow with the white noise of tracks, scaled to the grid."""
    return np.asarray(flow + sensor.white(scale * sensor.level.track, *flow.shape))


def flowing(draw: Draw, fault: str = "pixels", height: int = 72, camera: str = "still", discs: int = 1) -> Case:
    """Return R17 of discs that move, or of a pan, with a fault in the flow back.

    Faults: ``pixels`` (a sector of each disc has no return flow), ``region`` (the return flow of a region of 6 % is
    short by the dose under a pan of 4 px), ``regions`` (none, and each disc is a region of its own), ``none``,
    ``still`` (nothing moves).  Cameras: ``still``, ``zoom`` (grows by 4 % a pair and rolls), ``shake`` (hand-held).
    One disc moves by whole pixels of the grid; several smaller ones move by fractions and cross.
    """
    rng = draw.rng
    y, x = _grid(height)
    scale = height / 720.0
    sensor = draw.sensor(1 / 12)
    forth, back, regions = [], [], []
    place = rng.uniform([0.25, 0.25], [0.75, 0.75], (discs, 2)) * [x.max(), y.max()]
    speed, radius = np.zeros((discs, 2)), (0.4 if discs == 1 else 0.15) * height
    if fault in ("pixels", "regions", "none"):
        # Whole pixels land on pixels; a fraction of one mixes the disc's rim with the ground.
        even = discs == 1
        speed = (
            np.round(5.0 * _directions(1, rng)) if even else rng.uniform(1.2, 2.4, (discs, 1)) * _directions(discs, rng)
        )
    for k in range(_PAIRS):
        f, b = _camera_flow(y, x, camera, 4.0 if fault == "region" else 0.0, k)
        region = np.zeros(y.shape, dtype=int)
        for n in range(discs):
            first, second = _disc(y, x, place[n], radius), _disc(y, x, place[n] + speed[n], radius)
            f[first], b[second], region[first] = speed[n], -speed[n], n + 1
            if fault == "pixels" and draw.dose > 0.0:
                b[second & _sector(y, x, place[n] + speed[n], draw.dose)] = 0.0
        place, speed = _bounced(place + speed, speed, x.max(), y.max())
        if fault == "region":
            region = ((x - 0.5 * x.max()) ** 2 + (y - 0.5 * y.max()) ** 2 < 0.06 * x.size / np.pi).astype(int)
            short = (x - 4.0 - 0.5 * x.max()) ** 2 + (y - 0.5 * y.max()) ** 2 < 0.06 * x.size / np.pi
            b[short] *= 1.0 - draw.dose
        forth.append(_blurred(f, sensor, scale))
        back.append(_blurred(b, sensor, scale))
        regions.append(region)
    B = np.array(back)
    hidden: Bools = occlusion(B)
    labels = np.array(regions) if fault in ("region", "regions") else None
    arguments = {"forward": np.array(forth), "back": B, "occluded": hidden, "regions": labels}
    return Case(flow_inconsistency, {**arguments, "dt": 1 / 12})


def _directions(n: int, rng: np.random.Generator) -> Floats:
    angle = rng.uniform(0.0, 2.0 * np.pi, n)
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def _disc(y: Floats, x: Floats, place: Floats, radius: float) -> Bools:
    return np.asarray((x - place[0]) ** 2 + (y - place[1]) ** 2 < radius**2)


def _sector(y: Floats, x: Floats, place: Floats, share: float) -> Bools:
    """Return the pixels in the `share` of the directions about `place`."""
    return np.asarray(np.arctan2(y - place[1], x - place[0]) < 2.0 * np.pi * share - np.pi)


def _bounced(place: Floats, speed: Floats, right: float, bottom: float) -> tuple[Floats, Floats]:
    """Return places and speeds of discs that turn round near the edges of the frame."""
    low, high = np.array([0.15 * right, 0.2 * bottom]), np.array([0.85 * right, 0.8 * bottom])
    return np.clip(place, low, high), np.where((place < low) | (place > high), -speed, speed)


def _camera_flow(y: Floats, x: Floats, camera: str, pan: float, k: int) -> tuple[Floats, Floats]:
    """Return the flow of the background in pair `k` forth and back [px of the grid]."""
    M, shift = np.eye(2), np.array([pan, 0.0])
    if camera == "zoom":
        M = np.array([[1.04, -0.03], [0.03, 1.04]])
    if camera == "shake":
        shift = np.array([1.6 * np.sin(0.9 * k), 1.6 * np.cos(1.3 * k)])
    away = np.stack([x - 0.5 * x.max(), y - 0.5 * y.max()], axis=-1)
    return away @ (M - np.eye(2)).T + shift, (away - shift) @ np.linalg.inv(M).T - away


_TURNS = (0.0, 5.0, 10.0, 20.0, 30.0, 60.0)
ROWS = (
    Row("R02", "R02", "normal rotation at 128 px [deg]", _TURNS, surfaces),
    Row("R02_320", "R02", "normal rotation at 320 px [deg]", _TURNS, partial(surfaces, width=320), runs=(12, 5)),
    Row("R17", "R17", "share of the moving pixels whose flow does not return", (0.0, 0.02, 0.05, 0.1, 0.2, 0.4),
        flowing),
    Row("R17_region", "R17", "return flow of a 6 % region short by this share, pan 4 px",
        (0.0, 0.1, 0.2, 0.4, 0.7, 1.0), partial(flowing, fault="region", discs=0)),
)  # fmt: skip
HELD = (
    Held("boxes128", "R02", partial(surfaces, kind="boxes")),
    Held("boxes320", "R02", partial(surfaces, kind="boxes", width=320), runs=10),
    Held("zoom", "R17", partial(flowing, fault="none", camera="zoom")),
    Held("handheld", "R17", partial(flowing, fault="none", camera="shake")),
    Held("distractors", "R17", partial(flowing, fault="none", discs=3)),
    Held("regions", "R17", partial(flowing, fault="regions", discs=3)),
    Held("static", "R17", partial(flowing, fault="still"), "static"),
)
