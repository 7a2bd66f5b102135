"""Point tracks for the kernels of shape, rigidity and motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pvbench_suite.errors import NotPerceived
from pvbench_suite.perception.types import Cameras, Tracks
from pvbench_suite.physics.series import present_median

Floats = NDArray[np.float64]

#: Enough background points to know the size of the background.
_POINTS = 40
#: Most rounds of medians, and the change of the log size below which they end.
_ROUNDS, _SETTLED = 10, 1e-5


def xyz(tracks: Tracks) -> Floats:
    """Return the world points (T, P, 3) of `tracks`, NaN where a point is not visible.

    Raises
    ------
    NotPerceived
        If the tracks are planar.
    """
    if tracks.xyz is None:
        raise NotPerceived("the tracks have no 3D points", "choose a profile with depth and cameras")
    return np.where(np.asarray(tracks.visible, dtype=bool)[..., None], np.asarray(tracks.xyz, dtype=float), np.nan)


def background_size(tracks: Tracks) -> Floats | None:
    """Return the size (T,) of the static background, from the distances of its points: 1 at the median frame.

    Each distance is its own length times the size that all share, found by taking medians over pairs and over frames
    in turn, so that pairs that come into view or leave it do not change the size.  NaN in frames that see no pair.
    None with fewer than 8 background points: then the reconstruction is taken to have one scale.
    """
    mine = tracks.of(-1)
    if tracks.xyz is None or len(mine) < 8:
        return None
    seen = np.asarray(tracks.visible[:, mine], dtype=bool).sum(axis=0)
    chosen = np.sort(mine[np.argsort(-seen, kind="stable")[:_POINTS]])
    points = xyz(tracks)[:, chosen]
    i, j = np.triu_indices(len(chosen), 1)
    distance = np.linalg.norm(points[:, i] - points[:, j], axis=-1)
    log = np.log(np.where(distance > 0, distance, np.nan))
    # The steps between frames are a start that no pair's absence bends; they alone would add up their noise.
    steps = present_median(np.diff(log, axis=0), axis=1)
    size = np.concatenate([[0.0], np.cumsum(np.where(np.isfinite(steps), steps, 0.0))])
    for _ in range(_ROUNDS):
        before = size
        with np.errstate(invalid="ignore"):
            own = present_median(log - size[:, None], axis=0)
            size = present_median(log - own[None], axis=1)
        if not np.nanmax(np.abs(size - before), initial=0.0) > _SETTLED:
            break
    return np.asarray(np.exp(size - present_median(size)))


def unprojected(tracks: Tracks, cameras: Cameras) -> Floats:
    """Return the world points (T, P, 3) that depth at the track, the camera and the 2D track imply.

    This is the second source of R19: it shares nothing with the tracker's own 3D points but the image.
    """
    if tracks.z is None:
        raise NotPerceived("the tracks have no depth", "choose a profile with depth")
    uv, z = np.asarray(tracks.uv, dtype=float), np.asarray(tracks.z, dtype=float)
    K = np.asarray(cameras.K, dtype=float)
    local = np.stack([(uv[..., 0] - K[0, 2]) / K[0, 0] * z, (uv[..., 1] - K[1, 2]) / K[1, 1] * z, z], axis=-1)
    world = np.einsum("tij,tpj->tpi", np.asarray(cameras.Tcw[:, :3, :3], dtype=float), local)
    world += np.asarray(cameras.Tcw[:, None, :3, 3], dtype=float)
    return np.where(np.asarray(tracks.visible, dtype=bool)[..., None], world, np.nan)
