"""R22: two bodies that collide exchange momentum: what one gains the other loses.

Conventions
-----------
Velocities are in the world, any one unit per s.  `mu` is the mass ratio m_i/m_j of a pair.  Only collisions of two
free bodies count; on a table the caller passes the horizontal parts.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.checks import Bools, Floats, given, of_shape
from pvbench_suite.physics.impact import velocity_change
from pvbench_suite.physics.proven import proven_part, significance
from pvbench_suite.physics.robust import unit

__all__ = ["Collision", "momentum_error", "velocity_change"]

#: Standard errors taken off the mismatch, and those at which a velocity change is significant.
_PROVEN, _SIGNIFICANT = 1.5, 3.0
#: Least velocity change as a share of the approach speed; the largest allowed mass ratio.
_STRONG, _RATIO = 0.15, 50.0


class Collision(NamedTuple):
    """One collision of bodies i and j: velocity changes (3,), their covariances (3, 3), approach speed, pair label."""

    dvi: ArrayLike
    dvj: ArrayLike
    vrel: float
    ci: ArrayLike | None = None
    cj: ArrayLike | None = None
    pair: Hashable = 0


class _Events(NamedTuple):
    """Collisions as arrays: changes (E, 2, 3) of both bodies, covariances (E, 2, 3, 3), and one entry an event."""

    change: Floats
    covariance: Floats
    speed: Floats
    pair: NDArray[np.intp]
    nil: Bools

    def take(self, chosen: Bools) -> _Events:
        body = (self.change[chosen], self.covariance[chosen])
        return _Events(*body, self.speed[chosen], self.pair[chosen], self.nil[chosen])


def momentum_error(events: Sequence[Collision] | None, mu: float | None = None) -> Measurement:
    r"""Return the share of momentum that the collisions of the worst pair of bodies fail to conserve.

    .. math:: f(\mu) = \frac{\sum P(\mu\,dv_i + dv_j)}{\sum (\mu |dv_i| + |dv_j|)}

    with P the proven part at 1.5 standard errors; without `mu` the least f over mass ratios from 1/50 to 50, one ratio
    for all collisions of a pair.

    Parameters
    ----------
    events : sequence of Collision
        The collisions.
    mu : float, optional
        Mass ratio m_i/m_j, for all of them.

    Returns
    -------
    Measurement
        Value in [0, 1], smaller is better; `n` is the number of collisions kept.

    Raises
    ------
    Unmeasurable
        ``no_object``, ``no_collision``, ``bad_shape``, ``all_nan``, ``weak_collision``.

    References
    ----------
    Spec ``physics.md``, R22.
    """
    if mu is not None and not (math.isfinite(mu) and mu > 0):
        raise ValueError(f"mu must be a positive number or None, got {mu!r}")
    found, labels = _gathered(events)
    kept = _kept(found, mu)
    best: tuple[float, float, int] | None = None
    for number in np.unique(kept.pair):
        ratio, value = _pair_error(kept.take(kept.pair == number), mu)
        if best is None or value > best[0]:
            best = (value, ratio, int(number))
    assert best is not None  # `_kept` raises rather than return nothing
    value, ratio, number = best
    worst = kept.take(kept.pair == number)
    evidence = {
        "mu": ratio,
        "pair": labels[number],
        "dvi": worst.change[:, 0],
        "dvj": worst.change[:, 1],
        "angles_deg": _angles(worst.change),
        "events": len(kept.speed),
    }
    return Measurement(value, len(kept.speed), None, evidence, ("mass_ratio",) if mu is not None else ())


def _gathered(events: Sequence[Collision] | None) -> tuple[_Events, list[Hashable]]:
    """Return the complete collisions as arrays, and the labels of their pairs, or raise."""
    if events is None:
        raise Unmeasurable("no_object", "there are no bodies that could collide")
    if len(events) == 0:
        raise Unmeasurable("no_collision", "no two bodies collide")
    labels = list(dict.fromkeys(event.pair for event in events))
    nothing = np.zeros((3, 3))
    changes, covariances_, speeds, pairs = [], [], [], []
    for event in events:
        both = [of_shape(given(v, "dv"), (3,), "dv") for v in (event.dvi, event.dvj)]
        errors = [nothing if c is None else of_shape(given(c, "c"), (3, 3), "c") for c in (event.ci, event.cj)]
        speed = float(np.nan if event.vrel is None else event.vrel)
        if np.isfinite([*both]).all() and np.isfinite([*errors]).all() and np.isfinite(speed):
            changes.append(both)
            covariances_.append(errors)
            speeds.append(speed)
            pairs.append(labels.index(event.pair))
    if not changes:
        raise Unmeasurable("all_nan", "no collision is complete")
    nil = np.zeros(len(speeds), dtype=np.bool_)
    return _Events(np.array(changes), np.array(covariances_), np.array(speeds), np.array(pairs), nil), labels


def _kept(events: _Events, mu: float | None) -> _Events:
    """Return the collisions strong enough to count, those without a reaction marked `nil`, or raise."""
    length = np.linalg.norm(events.change, axis=-1)
    significant = significance(events.change, events.covariance) > _SIGNIFICANT
    kept = (significant & (length >= _STRONG * events.speed[:, None])).any(axis=1)
    nil = np.zeros(len(kept), dtype=np.bool_)
    if mu is None:
        # Less than any allowed mass ratio explains: the weak body provably does not react.
        bound = length + 2.0 * np.sqrt(np.maximum(np.linalg.eigvalsh(events.covariance)[..., -1], 0.0))
        nil = (~significant & significant[:, ::-1] & (bound < length[:, ::-1] / _RATIO)).any(axis=1)
        kept &= significant.all(axis=1) | nil
    if not kept.any():
        errors = np.sqrt(np.trace(events.covariance, axis1=-2, axis2=-1)).max(axis=1)
        visible = bool((_SIGNIFICANT * errors <= _STRONG * events.speed).all())
        raise Unmeasurable("weak_collision", "no velocity change stands out", detectable=visible)
    return events._replace(nil=nil).take(kept)


def _mismatch(events: _Events, ratios: Floats) -> Floats:
    """Return f (M,) of a pair's collisions for mass ratios `ratios` (M,)."""
    mu = ratios[:, None, None]
    left = mu * events.change[:, 0] + events.change[:, 1]
    covariance = np.square(mu)[..., None] * events.covariance[:, 0] + events.covariance[:, 1]
    length = np.linalg.norm(events.change, axis=-1)
    total = ratios[:, None] * length[:, 0] + length[:, 1]
    lost = np.where(events.nil, total, proven_part(left, covariance, _PROVEN))
    return np.asarray(lost.sum(axis=1) / total.sum(axis=1))


def _pair_error(events: _Events, mu: float | None) -> tuple[float, float]:
    """Return the mass ratio and f of one pair: the ratio given, or the one that conserves momentum best."""
    if mu is not None:
        return mu, float(_mismatch(events, np.array([mu]))[0])
    length = np.linalg.norm(events.change, axis=-1)
    # Each collision has its own best ratio, where f has a kink that a grid alone would miss.
    own = np.clip(length[:, 1] / np.maximum(length[:, 0], 1e-300), 1.0 / _RATIO, _RATIO)
    grid = np.union1d(np.geomspace(1.0 / _RATIO, _RATIO, 401), own)
    values = _mismatch(events, grid)
    k = int(np.argmin(values))
    ends = np.log(grid[[max(k - 1, 0), min(k + 1, len(grid) - 1)]])
    polished = minimize_scalar(
        lambda x: float(_mismatch(events, np.exp([x]))[0]), bounds=(ends[0], ends[1]), method="bounded"
    )
    if polished.fun < values[k]:
        return float(np.exp(polished.x)), float(polished.fun)
    return float(grid[k]), float(values[k])


def _angles(change: Floats) -> Floats:
    """Return the angle (E,) [deg] between -dv_i and dv_j of each collision."""
    directions = unit(change)
    cosine = -np.sum(directions[:, 0] * directions[:, 1], axis=-1)
    return np.asarray(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))
