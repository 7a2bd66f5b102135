"""R05: one static scene explains every frame: points keep their place in the world as the camera moves.

Conventions
-----------
Pixels (u, v) are integer centres; depth is along the optical axis; cameras take camera axes (x right, y down,
z forward) to the world, in the unit of the depths.  The tracks must come from a 2D tracker that is independent of the
depth and the cameras.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.checks import (
    Bools,
    Floats,
    enough_frames,
    flags,
    given,
    of_shape,
    some_finite,
    some_positive,
)
from pvbench_suite.physics.robust import MEDIAN_2, depth_factor, third_differences
from pvbench_suite.physics.series import present_median, sd3, smooth, time_statistic

#: The fewest points of a scene, and the fewest samples of a point.
_POINTS, _SAMPLES = 12, 8
#: Least parallax; the least error that a small parallax may magnify, as a share of the diagonal.
_PARALLAX, _ALLOWANCE = 0.01, 0.002
#: Share of the parallax that an error is measured in.
_LEVER = 0.1


class _Scene(NamedTuple):
    """The checked inputs: points that count, NaN in every missing sample."""

    tracks: Floats
    depths: Floats
    intrinsics: Floats
    cameras: Floats
    diagonal: float


def reprojection_error(
    tracks: ArrayLike | None,
    depths: ArrayLike | None,
    visible: ArrayLike | None,
    intrinsics: ArrayLike,
    cameras: ArrayLike,
    hw: tuple[float, float],
    static: ArrayLike | None = None,
    dt: float = 1 / 24,
) -> Measurement:
    r"""Return how far the tracks leave one static map of the scene, as a share of the frame's diagonal.

    .. math:: \max(E, \; 0.1 \max(0, E - a)/p)

    E is the time statistic of the 80th percentile over points of the reprojection error of each point's median place;
    p is the parallax and a the allowance for track noise.

    Parameters
    ----------
    tracks : (T, P, 2) float
        Tracked pixels (u, v) [px].
    depths : (T, P) float
        Depth at the tracks.
    visible : (T, P) bool or None
        Whether the track sees its point; None: always.
    intrinsics : (3, 3) float
        Camera matrix at this resolution [px].
    cameras : (T, 4, 4) float
        Camera to world.
    hw : (H, W)
        Size of the frame [px].
    static : (P,) bool, optional
        Points off every moving object; None: all.
    dt : float
        Frame interval [s].

    Returns
    -------
    Measurement
        Value as a share of the diagonal, from 0; `n` is the number of points, `spread` the noise of their tracks.

    Raises
    ------
    Unmeasurable
        ``no_object``, ``bad_shape``, ``too_few_frames``, ``all_nan``, ``zero_depth``, ``no_parallax``.

    References
    ----------
    Spec ``physics.md``, R05.
    """
    scene = _checked(tracks, depths, visible, intrinsics, cameras, hw, static)
    samples = np.isfinite(scene.depths)
    centres, parallax = _parallax(scene, dt)
    errors = _errors(scene, _world_points(scene))
    seen = np.isfinite(errors)
    smoothed = np.where(seen, smooth(errors, dt), np.nan)
    rich = seen.sum(axis=1) >= _POINTS
    enough_frames(int(rich.sum()), what=f"frames with {_POINTS} points")
    series = np.full(len(errors), np.nan)
    series[rich] = np.nanpercentile(smoothed[rich], 80, axis=1)
    error = time_statistic(series, dt)
    noise = _track_noise(scene.tracks, samples) / scene.diagonal
    allowance = max(_ALLOWANCE, 3.0 * noise)
    value = max(error, _LEVER * max(0.0, error - allowance) / parallax)
    evidence = {
        "errors": series,
        "error": error,
        "parallax": parallax,
        "allowance": allowance,
        "camera_centres": centres,
    }
    return Measurement(value, scene.tracks.shape[1], noise, evidence)


def _checked(
    tracks: ArrayLike | None,
    depths: ArrayLike | None,
    visible: ArrayLike | None,
    intrinsics: ArrayLike,
    cameras: ArrayLike,
    hw: tuple[float, float],
    static: ArrayLike | None,
) -> _Scene:
    """Return the samples that count, or raise."""
    uv = of_shape(given(tracks, "tracks"), (None, None, 2), "tracks")
    frames, points = uv.shape[:2]
    z = of_shape(given(depths, "depths"), (frames, points), "depths")
    seen = flags(visible, (frames, points), "visible")
    still = flags(static, (points,), "static")
    k = of_shape(given(intrinsics, "intrinsics"), (3, 3), "intrinsics")
    poses = of_shape(given(cameras, "cameras"), (frames, 4, 4), "cameras")
    if still.sum() < _POINTS:
        raise Unmeasurable("no_object", f"{int(still.sum())} static points, at least {_POINTS} are needed")
    enough_frames(frames)
    some_finite(uv[:, still], z[:, still], poses)
    if not np.isfinite(k).all():
        raise Unmeasurable("all_nan", "the camera matrix is missing")
    if np.linalg.det(k) == 0.0:
        raise Unmeasurable("bad_shape", "the camera matrix is singular")
    some_positive(z[:, still])
    # A pose that cannot be inverted is as good as missing.
    placed: Bools = np.asarray(np.isfinite(poses).all(axis=(1, 2)))
    placed &= np.asarray(np.linalg.det(np.where(placed[:, None, None], poses, 0.0)) > 0)
    poses = np.where(placed[:, None, None], poses, np.nan)
    sample: Bools = seen & still & np.isfinite(uv).all(axis=-1) & (z > 0) & placed[:, None]
    kept: Bools = np.asarray(sample.sum(axis=0) >= _SAMPLES)
    enough_frames(int(kept.sum()), _POINTS, f"points with {_SAMPLES} samples")
    sample = sample[:, kept]
    tracks_kept = np.where(sample[..., None], uv[:, kept], np.nan)
    return _Scene(tracks_kept, np.where(sample, z[:, kept], np.nan), k, poses, math.hypot(*hw))


def _parallax(scene: _Scene, dt: float) -> tuple[Floats, float]:
    """Return the camera centres (T, 3) and the parallax, as a share of the diagonal, or raise."""
    centres = scene.cameras[:, :3, 3]
    shift = np.linalg.norm(centres - present_median(centres, axis=0), axis=-1)
    lever = float(scene.intrinsics[0, 0]) / float(np.nanmedian(scene.depths)) / scene.diagonal
    parallax = lever * float(np.nanmax(shift))
    if parallax < _PARALLAX:
        # Camera centres inherit the error of the depth, of which third differences see a small part.
        visible = 3.0 * lever * depth_factor(dt) * float(np.linalg.norm(sd3(centres))) <= _PARALLAX
        raise Unmeasurable("no_parallax", f"{parallax:.2%} of the diagonal", detectable=visible)
    return centres, parallax


def _world_points(scene: _Scene) -> Floats:
    """Return the place (P, 3) of each point in the world: the median over its samples."""
    homogeneous = np.concatenate([scene.tracks, np.ones((*scene.depths.shape, 1))], axis=-1)
    local = homogeneous @ np.linalg.inv(scene.intrinsics).T * scene.depths[..., None]
    world = np.einsum("tij,tpj->tpi", scene.cameras[:, :3, :3], local) + scene.cameras[:, None, :3, 3]
    return present_median(world, axis=0)


def _errors(scene: _Scene, points: Floats) -> Floats:
    """Return the reprojection error (T, P) at the samples, as a share of the diagonal; NaN elsewhere."""
    back = np.linalg.inv(np.where(np.isfinite(scene.cameras), scene.cameras, np.eye(4)))
    local = points @ np.swapaxes(back[:, :3, :3], -1, -2) + back[:, None, :3, 3]
    local = np.where(local[..., 2:] > 0, local, np.nan)
    projected = local @ scene.intrinsics.T
    pixels = projected[..., :2] / projected[..., 2:]
    return np.asarray(np.linalg.norm(pixels - scene.tracks, axis=-1) / scene.diagonal)


def _track_noise(tracks: Floats, samples: Bools) -> float:
    """Return the standard deviation per axis [px] of the tracks' white noise; 0 where it cannot be known."""
    track, frame = np.nonzero(samples.T)
    third, _ = third_differences(frame.astype(np.float64), tracks[frame, track], 1.0, track)
    return float(np.median(np.linalg.norm(third, axis=-1))) / MEDIAN_2 if len(third) else 0.0
