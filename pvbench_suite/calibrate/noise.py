"""What perception does to the truth: noise of depth, tracks, masks and poses, drop-outs and outliers.

Conventions
-----------
The levels are those of spec ``physics.md`` section 0.  Depth errors are relative, common to all points of an object,
and correlated over half a second; everything else is white in time.  Pixels are those of a frame of 720 rows.  Each
sensor has a private generator, so that a run depends on its seed alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter
from scipy.spatial.transform import Rotation

from pvbench_suite.calibrate.views import View

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Correlation time of depth and camera errors [s].
_CORRELATED = 0.5
#: Points of one object share most of their depth error; this share of it is their own.
_OWN = 0.1
#: An outlier lies this far off [px], and this far in log depth.
_FAR_PX, _FAR_DEPTH = (20.0, 60.0), (0.1, 0.3)


@dataclass(frozen=True, slots=True)
class Level:
    """One level of noise.

    Parameters
    ----------
    name : str
        ``low``, ``mid`` or ``high``.
    depth : float
        Standard deviation of ln depth.
    track : float
        Standard deviation of a tracked point, per axis [px]; centres of objects have half of it.
    dropout, outlier : float
        Shares of the samples that are missing, and that are far off.
    area : float
        Standard deviation of ln mask area.
    pose : float
        Root mean square angle of an object's orientation error [rad].
    """

    name: str
    depth: float
    track: float
    dropout: float
    outlier: float
    area: float
    pose: float


LEVELS = {
    "low": Level("low", 0.005, 0.5, 0.01, 0.002, 0.01, math.radians(1.0)),
    "mid": Level("mid", 0.01, 1.0, 0.03, 0.005, 0.02, math.radians(2.0)),
    "high": Level("high", 0.02, 2.0, 0.06, 0.01, 0.04, math.radians(4.0)),
}


class Seen(NamedTuple):
    """What a sensor reports of N points: world positions, rays (T, N, 3), pixels (T, N, 2), depths (T, N), presence."""

    X: Floats
    rays: Floats
    uv: Floats
    z: Floats
    present: Bools


class Sensor:
    """Perception of one clip: all its errors come from one private generator.

    Parameters
    ----------
    level : Level
        How much noise.
    rng : numpy.random.Generator
        The clip's own generator.
    dt : float
        Frame interval [s].
    bias : float
        Constant relative error of all depths of the clip, which no level has.
    """

    def __init__(self, level: Level, rng: np.random.Generator, dt: float, bias: float = 0.0) -> None:
        self.level = level
        self.rng = rng
        self.dt = dt
        self.bias = bias

    def wander(self, frames: int, *shape: int) -> Floats:
        """Return slow noise (T, ...) of unit standard deviation, correlated over half a second (AR(1))."""
        keep = math.exp(-self.dt / _CORRELATED)
        white = self.rng.standard_normal((frames, *shape))
        white[1:] *= math.sqrt(1.0 - keep * keep)
        return np.asarray(lfilter([1.0], [1.0, -keep], white, axis=0))

    def white(self, sd: float, *shape: int) -> Floats:
        """Return white noise of standard deviation `sd`."""
        return sd * self.rng.standard_normal(shape)

    def present(self, *shape: int) -> Bools:
        """Return which samples are not dropped."""
        return np.asarray(self.rng.random(shape) >= self.level.dropout)

    def strays(self, *shape: int) -> Bools:
        """Return which samples are far off."""
        return np.asarray(self.rng.random(shape) < self.level.outlier)

    def depths(self, z: Floats, owner: NDArray[np.intp] | None = None, strays: bool = True) -> Floats:
        """Return the depths (T, N) that are read where `z` is true.

        Points of equal `owner` (N,) share an error; without owners each of the N has its own.  The median over a mask
        has no `strays`.
        """
        frames, n = z.shape
        if owner is None:
            error = self.wander(frames, n)
        else:
            common = self.wander(frames, int(owner.max()) + 1)[:, owner]
            error = common + _OWN * self.wander(frames, n)
        far = self.strays(frames, n) * self._sign(frames, n) * self.rng.uniform(*_FAR_DEPTH, (frames, n)) * strays
        return np.asarray(z * np.exp(self.level.depth * error + far + self.bias))

    def pixels(self, uv: Floats, share: float = 1.0) -> Floats:
        """Return the pixels (T, N, 2) that are read where `uv` is true, with `share` of the tracks' noise."""
        frames, n = uv.shape[:2]
        angle = self.rng.uniform(0.0, 2.0 * np.pi, (frames, n))
        far = self.strays(frames, n) * self.rng.uniform(*_FAR_PX, (frames, n))
        away = far[..., None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        return np.asarray(uv + self.white(share * self.level.track, *uv.shape) + away)

    def centres(self, X: Floats, view: View) -> Seen:
        """Return what is seen of the centres (T, N, 3) of N objects: half the tracks' noise, own depth errors."""
        uv, z = view.project(X)
        return self._seen(self.pixels(uv, 0.5), self.depths(z), self.present(*z.shape), view)

    def points(self, X: Floats, view: View, owner: NDArray[np.intp] | None = None) -> Seen:
        """Return what is seen of surface points (T, P, 3); `owner` (P,) numbers their objects (None: one object)."""
        uv, z = view.project(X)
        owner = np.zeros(z.shape[1], dtype=np.intp) if owner is None else owner
        return self._seen(self.pixels(uv), self.depths(z, owner), self.present(*z.shape), view)

    def _seen(self, uv: Floats, z: Floats, present: Bools, view: View) -> Seen:
        uv, z = np.where(present[..., None], uv, np.nan), np.where(present, z, np.nan)
        X = view.lift(uv, z)
        return Seen(X, X - view.eye[:, None], uv, z, present)

    def turned(self, R: Floats) -> Floats:
        """Return the orientations (T, 3, 3) that are read where `R` is true; NaN where dropped, flipped where stray."""
        frames = len(R)
        error = self.white(self.level.pose / math.sqrt(3.0), frames, 3)
        axis = self.white(1.0, frames, 3)
        axis /= np.linalg.norm(axis, axis=-1, keepdims=True)
        error += self.strays(frames)[:, None] * axis * self.rng.uniform(1.0, np.pi, (frames, 1))
        read = R @ Rotation.from_rotvec(error).as_matrix()
        return np.where(self.present(frames)[:, None, None], read, np.nan)

    def direction(self, v: Floats, sd: float) -> Floats:
        """Return the unit vector `v` (3,) turned by an error of root mean square `sd` [rad]."""
        off = self.white(sd / math.sqrt(2.0), 3)
        off -= (off @ v) * v
        return np.asarray(Rotation.from_rotvec(np.cross(v, off)).apply(v))

    def _sign(self, *shape: int) -> Floats:
        return np.asarray(self.rng.choice([-1.0, 1.0], shape))
