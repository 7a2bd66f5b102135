"""Cameras of the closed-form worlds: still, pitched, hand-held, sliding.

Conventions
-----------
World = first camera: x right, y down, z forward, lengths in metres [m].  Pixels are those of a frame of 720 x 1280.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Floats = NDArray[np.float64]

HW = (720, 1280)
FOCAL = 1000.0
#: Intrinsics of every camera [px].
K = np.array([[FOCAL, 0.0, 639.5], [0.0, FOCAL, 359.5], [0.0, 0.0, 1.0]])


@dataclass(frozen=True, eq=False)
class View:
    """A pinhole camera over time: its place `eye` (T, 3) and its axes `R` (T, 3, 3), camera to world."""

    eye: Floats
    R: Floats

    def project(self, X: Floats) -> tuple[Floats, Floats]:
        """Return the pixels (T, N, 2) and depths (T, N) of the world points `X` (T, N, 3)."""
        local = np.einsum("tji,tnj->tni", self.R, X - self.eye[:, None])
        uv = local[..., :2] / local[..., 2:] * FOCAL + K[:2, 2]
        return uv, local[..., 2]

    def lift(self, uv: Floats, z: Floats) -> Floats:
        """Return the world points (T, N, 3) at the pixels `uv` (T, N, 2) with depths `z` (T, N)."""
        local = np.concatenate([(uv - K[:2, 2]) / FOCAL * z[..., None], z[..., None]], axis=-1)
        return np.asarray(np.einsum("tij,tnj->tni", self.R, local) + self.eye[:, None])

    @property
    def poses(self) -> Floats:
        """Camera-to-world matrices (T, 4, 4)."""
        Tcw = np.broadcast_to(np.eye(4), (len(self.eye), 4, 4)).copy()
        Tcw[:, :3, :3], Tcw[:, :3, 3] = self.R, self.eye
        return Tcw

    def shaken(self, angles: Floats, shifts: Floats) -> View:
        """Return the camera turned by rotation vectors (T, 3) [rad] and shifted by (T, 3) [m]."""
        return View(self.eye + shifts, Rotation.from_rotvec(angles).as_matrix() @ self.R)


def still(frames: int, pitch: float = 0.0) -> View:
    """Return a camera that does not move, looking down by `pitch` [rad]."""
    R = Rotation.from_rotvec([-pitch, 0.0, 0.0]).as_matrix()
    return View(np.zeros((frames, 3)), np.broadcast_to(R, (frames, 3, 3)).copy())


def sliding(t: Floats, way: tuple[float, float, float], pitch: float = 0.0) -> View:
    """Return a camera that moves by `way` [m] over the clip, at an even pace."""
    base = still(len(t), pitch)
    return View(base.eye + (t / t[-1])[:, None] * np.asarray(way), base.R)


def handheld(t: Floats, rng: np.random.Generator, base: View | None = None) -> View:
    """Return a camera that sways in a hand: about half a degree and a centimetre at 0.3 to 2 Hz."""
    base = still(len(t)) if base is None else base
    frequency = rng.uniform(0.3, 2.0, (6, 4))
    phase = rng.uniform(0.0, 2.0 * np.pi, (6, 4))
    waves = np.sin(2.0 * np.pi * frequency[None] * t[:, None, None] + phase).sum(axis=-1) / 2.0
    waves -= waves[0]
    return base.shaken(np.radians(0.4) * waves[:, :3], 0.008 * waves[:, 3:])
