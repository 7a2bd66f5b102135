"""What of a measured vector is proven, given its covariance (spec ``physics.md`` section 0).

Conventions
-----------
Vectors are (..., 3) in any unit and covariances (..., 3, 3) in that unit squared; leading axes are independent cases.
The radial form ``|J| (1 - k/m)`` is not used: with a weak depth, a significant sideways error of 1 % would drag in the
whole unproven error along the ray.
"""

from __future__ import annotations

import numpy as np

from pvbench_suite.physics.checks import Floats


def significance(j: Floats, c: Floats) -> Floats:
    """Return m = sqrt(J' C^-1 J), how many standard errors `j` (..., 3) is from 0 given its covariance `c`."""
    return _principal(j, c)[2]


def proven_part(j: Floats, c: Floats, k: float) -> Floats:
    r"""Return the length of the shortest vector inside the k-standard-error ellipsoid around `j`.

    .. math:: P = |(I + L C)^{-1} J|, \quad L^2 J' (I + L C)^{-1} C (I + L C)^{-1} J = k^2

    It is 0 when m <= k and ``|J| (1 - k/m)`` when the covariance is isotropic.  `c` is first increased by
    ``(1e-9 |J|)^2 I``, so that exact data are legal.

    Parameters
    ----------
    j : (..., 3) float
        Vectors, any unit.
    c : (..., 3, 3) float
        Their covariances, that unit squared.
    k : float
        How many standard errors are taken off.

    Returns
    -------
    (...) float
        Lengths in the unit of `j`, in [0, \|J\|].

    Examples
    --------
    >>> float(proven_part(np.array([3.0, 4.0, 0.0]), np.eye(3), 2.0).round(9))
    3.0
    """
    parts, variances, m = _principal(j, c)
    # With L in units of k/(m - k), the root lies between the inverses of the largest and the least variance.
    scale = np.where(m > k, k / np.maximum(m - k, 1e-12 * k), 1.0)
    low, high = np.log(scale / variances.max(axis=-1)), np.log(scale / variances.min(axis=-1))
    for _ in range(64):
        middle = 0.5 * (low + high)
        grown = np.exp(middle)[..., None]
        reached = np.sum(variances * np.square(grown * parts / (1.0 + grown * variances)), axis=-1) >= k * k
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    left = np.linalg.norm(parts / (1.0 + np.exp(0.5 * (low + high))[..., None] * variances), axis=-1)
    return np.asarray(np.where(m > k, left * np.linalg.norm(j, axis=-1), 0.0))


def _principal(j: Floats, c: Floats) -> tuple[Floats, Floats, Floats]:
    """Return `j` / |j| in the principal axes of its covariance, the variances in units of |j|^2, and m."""
    length = np.linalg.norm(j, axis=-1)
    length = np.where(length > 0, length, 1.0)
    variances, axes = np.linalg.eigh(c / np.square(length)[..., None, None])
    variances = np.maximum(variances, 0.0) + 1e-18
    parts = np.einsum("...ia,...i->...a", axes, j / length[..., None])
    return parts, variances, np.asarray(np.sqrt(np.sum(parts * parts / variances, axis=-1)))
