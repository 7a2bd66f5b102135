"""Rotations: exponential and logarithm, body symmetry, and the removal of flipped poses (spec ``physics.md`` R20).

Conventions
-----------
Rotations (..., 3, 3) take body axes to world axes; rotation vectors (..., 3) are in radians and in the body's frame,
so a body that turns at the rate omega has ``R(t) = R(0) exp(t omega)``.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial.transform import Rotation

from pvbench_suite.physics.checks import Bools, Floats
from pvbench_suite.physics.series import MAD, present_median

#: A pose this far from its neighbours' common motion [rad] may be a flip.
_FLIP = np.radians(25.0)
#: How often flipped poses are looked for.
_ROUNDS = 3
#: How far a matrix may be from a rotation before it counts as missing.
_SKEW = 0.05


def log(rotations: Floats) -> Floats:
    """Return the rotation vectors (..., 3) [rad], of length at most pi, of `rotations` (..., 3, 3)."""
    flat = Rotation.from_matrix(rotations.reshape(-1, 3, 3)).as_rotvec()
    return np.asarray(flat.reshape(rotations.shape[:-1]))


def exp(vectors: Floats) -> Floats:
    """Return the rotations (..., 3, 3) of the rotation vectors `vectors` (..., 3) [rad]."""
    flat = Rotation.from_rotvec(vectors.reshape(-1, 3)).as_matrix()
    return np.asarray(flat.reshape(*vectors.shape, 3))


def transposed(rotations: Floats) -> Floats:
    """Return the inverses of `rotations` (..., 3, 3)."""
    return np.swapaxes(rotations, -1, -2)


def are_rotations(matrices: Floats) -> Bools:
    """Return which of the matrices (T, 3, 3) are proper rotations, up to a few per cent of rounding."""
    filled = np.where(np.isfinite(matrices).all(axis=(-1, -2), keepdims=True), matrices, 0.0)
    skew = np.abs(transposed(filled) @ filled - np.eye(3)).max(axis=(-1, -2))
    return np.asarray((skew < _SKEW) & (np.linalg.det(filled) > 0))


def resolved(rotations: Floats, group: Floats | None) -> Floats:
    """Return the poses (n, 3, 3) of a symmetric body, each replaced by its equivalent nearest to the one before.

    Parameters
    ----------
    rotations : (n, 3, 3) float
        Poses in order of time, none missing.
    group : (G, 3, 3) float or None
        Rotations of the body onto itself, acting on the right; the identity is always one of them.
    """
    if group is None:
        return rotations
    members = np.concatenate([np.eye(3)[None], group])
    result = rotations.copy()
    for k in range(1, len(result)):
        candidates = result[k] @ members
        # The angle between two rotations falls as the trace of their quotient grows.
        result[k] = candidates[int(np.argmax(np.einsum("ij,gij->g", result[k - 1], candidates)))]
    return result


def rates(t: Floats, rotations: Floats) -> Floats:
    """Return the body rates (n-1, 3) [rad/s] between consecutive poses at times `t` (n,) [s]."""
    return np.asarray(log(transposed(rotations[:-1]) @ rotations[1:]) / np.diff(t)[:, None])


def away_from(t: Floats, rotations: Floats, origin: Floats, t0: Floats, rate: Floats) -> Floats:
    """Return ``log(exp(-(t - t0) rate) origin' R)``, how far each pose is from a steady turn.

    Parameters
    ----------
    t, rotations : (n, M) and (n, M, 3, 3) float
        Times [s] and poses of n windows.
    origin, t0, rate : (n, 3, 3), (n,) and (n, 3) float
        Pose and time at which the turn starts and its body rate [rad/s].

    Returns
    -------
    (n, M, 3) float
        Rotation vectors [rad].
    """
    back = exp(-(t - t0[:, None])[..., None] * rate[:, None, :])
    return log(back @ (transposed(origin)[:, None] @ rotations))


def _nearer(x: Floats, target: Floats) -> Floats:
    """Return for each rotation vector of `x` (..., 3) that one of its two lengths about its axis nearer to `target`."""
    length = np.linalg.norm(x, axis=-1, keepdims=True)
    other = x - 2.0 * math.pi * x / np.where(length > 0, length, np.inf)
    closer = np.linalg.norm(other - target, axis=-1) < np.linalg.norm(x - target, axis=-1)
    return np.where(closer[..., None], other, x)


def _there_and_back(increments: Floats) -> Floats:
    """Return the increments (n, 3) [rad] with a turn of more than 90 deg that follows another taken for its reverse.

    The logarithm of nearly half a turn may point either way; read as two turns the same way, a wrong pose would spoil
    the rate of its neighbours.
    """
    result = increments.copy()
    large = np.linalg.norm(result, axis=-1) > 0.5 * math.pi
    for k in np.nonzero(large[1:] & large[:-1])[0] + 1:
        result[k] = _nearer(result[k], -result[k - 1])
    return result


def flips(t: Floats, rotations: Floats) -> Bools:
    """Return the poses (n,) that lie far off the motion which their neighbours share.

    A pose is one when at least 3 of the two poses before and two after are there, their common offset m from it
    exceeds 25 deg, and the neighbours agree on it to |m|/2.
    """
    n = len(t)
    index = np.arange(n)[:, None] + np.arange(-2, 3)
    real = (index >= 0) & (index < n)
    index = np.clip(index, 0, n - 1)
    steps = np.diff(t)[:, None]
    turning = _there_and_back(rates(t, rotations) * steps) / steps
    pairs = real[:, :-1] & real[:, 1:]
    omega = present_median(np.where(pairs[..., None], turning[np.minimum(index[:, :-1], n - 2)], np.nan), axis=1)
    # Each neighbour says where the pose should be: what it is off by is the same for all, however fast the turn.
    ahead = exp((t[:, None] - t[index])[..., None] * omega[:, None, :])
    x = log(transposed(rotations)[:, None] @ (rotations[index] @ ahead))
    others = real.copy()
    others[:, 2] = False
    first = np.take_along_axis(x, np.argmax(others, axis=1)[:, None, None], axis=1)
    x = np.where(others[..., None], _nearer(x, first), np.nan)
    m = present_median(x, axis=1)
    offset = np.linalg.norm(m, axis=-1)
    apart = present_median(np.linalg.norm(x - m[:, None], axis=-1))
    return np.asarray((others.sum(axis=1) >= 3) & (offset > _FLIP) & (apart < 0.5 * offset))


def without_flips(t: Floats, rotations: Floats) -> Bools:
    """Return the poses (n,) that stay when `flips` are dropped, and again those that show among the rest.

    Two wrong poses within a window spoil the motion that its poses share, so that one of them passes at first.
    """
    kept = np.arange(len(t))
    for _ in range(_ROUNDS):
        found = flips(t[kept], rotations[kept])
        if not found.any():
            break
        kept = kept[~found]
    stays = np.zeros(len(t), dtype=np.bool_)
    stays[kept] = True
    return stays


def pose_noise(t: Floats, rotations: Floats, dt: float) -> float:
    """Return the white noise [rad per axis] of poses (n, 3, 3), from second differences of their increments."""
    if len(t) < 4:
        return 1e-7
    increments = log(transposed(rotations[:-1]) @ rotations[1:])
    second = np.abs(increments[2:] - 2.0 * increments[1:-1] + increments[:-2])
    gaps = np.lib.stride_tricks.sliding_window_view(np.diff(t), 3)
    even = (gaps < 1.5 * dt).all(axis=1)
    if even.sum() >= 4:
        second = second[even]
    return max(MAD * float(np.median(second)) / math.sqrt(20.0), 1e-7)


def net_turn(rotations: Floats) -> float:
    """Return the 95th percentile [rad] over all pairs of `rotations` (n, 3, 3) of the angle between the two."""
    flat = rotations.reshape(len(rotations), 9)
    i, j = np.triu_indices(len(flat), k=1)
    cosine = 0.5 * ((flat @ flat.T)[i, j] - 1.0)
    return float(np.percentile(np.arccos(np.clip(cosine, -1.0, 1.0)), 95))
