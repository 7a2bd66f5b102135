"""Least squares of a path with a covariance per frame, gross outliers removed and the rest held down (spec R21).

Conventions
-----------
The model is ``X_i = sum_k B_ik theta_k`` with a design `B` (n, k) that is the same for the three axes and parameters
theta (k, 3).  Residuals are whitened: a frame's residual norm is about 1.54 (the median of three unit normals).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pvbench_suite.physics.checks import Bools, Floats
from pvbench_suite.physics.robust import MEDIAN_3
from pvbench_suite.physics.series import MAD


class Fit(NamedTuple):
    """A fitted path: parameters (k, 3), covariance of parameter k at ``[k, :, k, :]``, and the frames it kept (n,)."""

    parameters: Floats
    covariance: Floats
    kept: Bools

    def block(self, k: int) -> Floats:
        """Return the covariance (3, 3) of parameter `k`."""
        return np.asarray(self.covariance[k, :, k, :])


def robust_fit(design: Floats, x: Floats, whitener: Floats) -> Fit:
    """Return the generalised least-squares fit of a path, with outlier removal and Huber weights.

    (1) One frame at a time, at most a fifth of them: the frame with the largest residual for its leverage goes while
    that exceeds 6 times the level of the others after a refit without it.  (2) Ten rounds of weights
    ``min(1, 2.5 S/d)``, ``S = max(1, 1.4826 median d)``.  (3) The covariance is the inverse normal matrix times
    ``max(1, sum w d^2 / (3 (n - k)))``.

    Parameters
    ----------
    design : (n, k) float
        Columns of the model at the frames.
    x : (n, 3) float
        Positions, none missing.
    whitener : (n, 3, 3) float
        Symmetric inverse root of each frame's covariance.
    """
    # Columns of size 1 keep the solution exact however short the flight is in seconds.
    scale = np.maximum(np.abs(design).max(axis=0), 1e-300)
    columns = design / scale
    rows = np.einsum("nk,nab->nakb", columns, whitener).reshape(len(x), 3, -1)
    targets = np.einsum("nab,nb->na", whitener, x)
    kept = _without_outliers(columns, rows, targets)
    rows, targets, k = rows[kept], targets[kept], design.shape[1]
    weights = np.ones(len(rows))
    solution = _solve(rows, targets, weights)
    for _ in range(10):
        d = _residuals(rows, targets, solution)
        level = max(1.0, MAD * float(np.median(d)))
        weights = np.minimum(1.0, 2.5 * level / np.maximum(d, 1e-300))
        solution = _solve(rows, targets, weights)
    d = _residuals(rows, targets, solution)
    excess = max(1.0, float(np.sum(weights * d * d)) / (3.0 * max(1, len(rows) - k)))
    root = np.sqrt(weights)[:, None, None] * rows
    inverse = np.linalg.pinv(root.reshape(-1, 3 * k))
    covariance = excess * (inverse @ inverse.T).reshape(k, 3, k, 3) / (scale[:, None, None, None] * scale[:, None])
    return Fit(solution.reshape(k, 3) / scale[:, None], covariance, kept)


def _without_outliers(columns: Floats, rows: Floats, targets: Floats) -> Bools:
    """Return the frames that stay after the removal of gross outliers."""
    kept = np.ones(len(rows), dtype=np.bool_)
    z = _standardised(columns, rows, targets, kept)
    for _ in range(len(rows) // 5):
        candidate = int(np.argmax(z))
        trial = kept.copy()
        trial[candidate] = False
        others = _standardised(columns, rows, targets, trial)
        if z[candidate] <= 6.0 * max(1.0, float(np.median(others[trial])) / MEDIAN_3):
            break
        kept, z = trial, others
    return kept


def _standardised(columns: Floats, rows: Floats, targets: Floats, kept: Bools) -> Floats:
    """Return the whitened residual norm of each kept frame over the root of 1 - leverage; 0 for the others."""
    z = np.zeros(len(rows))
    q, _ = np.linalg.qr(columns[kept])
    d = _residuals(rows[kept], targets[kept], _solve(rows[kept], targets[kept], np.ones(int(kept.sum()))))
    z[kept] = d / np.sqrt(np.maximum(1.0 - np.sum(q * q, axis=1), 1e-9))
    return z


def _solve(rows: Floats, targets: Floats, weights: Floats) -> Floats:
    """Return the weighted least-squares parameters, flat, of scaled columns."""
    root = np.sqrt(weights)[:, None]
    k3 = rows.shape[2]
    solution = np.linalg.lstsq((root[..., None] * rows).reshape(-1, k3), (root * targets).reshape(-1), rcond=None)[0]
    return np.asarray(solution)


def _residuals(rows: Floats, targets: Floats, solution: Floats) -> Floats:
    """Return the norm of each frame's whitened residual."""
    return np.asarray(np.linalg.norm(targets - rows @ solution, axis=-1))
