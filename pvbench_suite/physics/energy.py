"""R23: how much energy a passive chain of bounces or swings gains.

Conventions
-----------
A chain is the list of energy levels of one object in order of time (apex heights over the contact level,
1 - cos amplitude, summed kinetic energy), any unit, each with its standard error.  Loss is never charged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.series import MAD, Floats, median_dt, of_shape, sd3, smooth

Levels = tuple[list[float], list[float]]

#: Largest value, and the least divisor as a share of the chain's largest level.
_CAP, _FLOOR = 4.0, 0.1
#: Shortest flight between contacts [frames], [s].
_FLIGHT_FRAMES, _FLIGHT_SECONDS = 8, 0.2


def energy_gain(
    levels: Sequence[ArrayLike] | None,
    errors: Sequence[ArrayLike] | None,
    driven: Sequence[ArrayLike] | None = None,
) -> Measurement:
    """Return R23: the largest relative gain of energy between two levels of a passive chain.

    Parameters
    ----------
    levels : sequence of (n,) float
        Chains of energy levels, >= 0; NaN where missing.
    errors : sequence of (n,) float
        Their standard errors, same unit and lengths; zeros when exact.
    driven : sequence of (n - 1,) bool, optional
        Steps that a hand, motor, slope, spring or explosion drives; each cuts its chain.

    Returns
    -------
    Measurement
        Largest gain less 2 standard errors over all pairs of levels, relative to the earlier one, in [0, 4]; `n` is the
        number of pairs.  Evidence: ``levels``, ``errors``, ``gains`` (largest gain up to each level of each chain, NaN
        where there is none), and ``chain``, ``first``, ``second`` (which pair).

    Raises
    ------
    Unmeasurable
        no_object, bad_shape, all_nan, no_transition.

    References
    ----------
    Spec ``physics.md`` R23.
    """
    chains = _chains(levels, "levels")
    if errors is None:
        raise Unmeasurable("bad_shape", "energy levels need their standard errors (zeros when exact)")
    sigmas = [np.zeros(0)] * len(chains) if len(errors) == 0 else _chains(errors, "errors")
    steps = [np.zeros(max(0, len(h) - 1)) for h in chains] if driven is None else _chains(driven, "driven")
    lengths = [len(h) for h in chains]
    if [len(s) for s in sigmas] != lengths or [len(d) for d in steps] != [max(0, n - 1) for n in lengths]:
        raise Unmeasurable("bad_shape", "levels, errors and driven steps have different lengths")
    if sum(lengths) and not any(np.isfinite(h).any() for h in chains):
        raise Unmeasurable("all_nan", "every level is missing")
    gains = [np.full(n, np.nan) for n in lengths]
    best, where, pairs = -math.inf, (-1, -1, -1), 0
    for q, (h, s, d) in enumerate(zip(chains, sigmas, steps, strict=True)):
        for run in _passive_runs(h, s, d):
            gain = pair_gains(h[run], s[run])
            pairs += run.size * (run.size - 1) // 2
            gains[q][run[1:]] = gain.max(axis=0)[1:]
            i, j = np.unravel_index(int(np.argmax(gain)), gain.shape)
            if gain[i, j] > best:
                best, where = float(gain[i, j]), (q, int(run[i]), int(run[j]))
    if pairs == 0:
        raise Unmeasurable("no_transition", "no passive chain has two levels")
    chain, first, second = where
    evidence = {"levels": chains, "errors": sigmas, "gains": gains, "chain": chain, "first": first, "second": second}
    return Measurement(min(_CAP, max(0.0, best)), pairs, None, evidence, ("passive",))


def _chains(parts: Sequence[ArrayLike] | None, name: str) -> list[Floats]:
    """Return ragged lists of numbers as arrays with NaN where a number is missing."""
    if parts is None or len(parts) == 0:
        raise Unmeasurable("no_object", f"{name} are empty")
    try:
        arrays = [np.asarray(part, dtype=np.float64) for part in parts]
    except (TypeError, ValueError) as error:
        raise Unmeasurable("bad_shape", f"{name} are not lists of numbers") from error
    return [np.where(np.isfinite(of_shape(a, (None,), name)), a, np.nan) for a in arrays]


def _passive_runs(h: Floats, s: Floats, driven: Floats) -> list[NDArray[np.intp]]:
    """Return the indices of each passive stretch of a chain that has two known levels and a positive one."""
    known = np.isfinite(h) & np.isfinite(s) & (s >= 0)
    cuts = np.flatnonzero(driven > 0) + 1
    runs = [part[known[part]] for part in np.split(np.arange(len(h)), cuts)]
    return [run for run in runs if run.size >= 2 and h[run].max() > 0]


def pair_gains(h: Floats, s: Floats) -> Floats:
    """Return the relative gain (n, n) from level i (row) to a later level j, less 2 standard errors; -inf elsewhere.

    The divisor is the earlier level, but at least a tenth of the chain's largest, so that micro-bounces do not explode.
    """
    least = _FLOOR * h.max()
    base = np.maximum(h, least)[:, None]
    slope = np.where(h[:, None] >= least, h[None, :] / base, 1.0)
    error = np.hypot(s[None, :], slope * s[:, None]) / base
    gain = (h[None, :] - h[:, None]) / base - 2.0 * error
    return np.where(np.triu(np.ones(gain.shape, dtype=bool), k=1), gain, -np.inf)


def robust_polynomial(s: Floats, y: Floats, degree: int) -> tuple[Floats, Floats]:
    """Return the coefficients (lowest power first) of a robust polynomial fit, and (B'WB)^-1.

    Ten rounds of least squares with weights min(1, 1.5 sg/|r|), sg = 1.4826 median |r|.
    """
    # The fit runs on a unit interval, where a quartic is well conditioned at any clip length.
    unit = float(np.abs(s).max()) or 1.0
    design = np.vander(s / unit, degree + 1, increasing=True)
    weight = np.ones(len(s))
    coefficients: Floats = np.zeros(degree + 1)
    for _ in range(10):
        root = np.sqrt(weight)
        coefficients = np.asarray(np.linalg.lstsq(design * root[:, None], y * root, rcond=None)[0], dtype=np.float64)
        r = np.abs(y - design @ coefficients)
        weight = np.minimum(1.0, 1.5 * (MAD * np.median(r) + 1e-12) / np.maximum(r, 1e-300))
    powers = unit ** -np.arange(degree + 1.0)
    covariance = np.linalg.pinv(design.T @ (design * weight[:, None]), hermitian=True)
    return coefficients * powers, np.asarray(covariance * np.outer(powers, powers))


def _range(x: Floats) -> float:
    """Return the 5-95 % range of the finite values of `x`."""
    low, high = np.percentile(x[np.isfinite(x)], [5.0, 95.0])
    return float(high - low)


def bounce_levels(t: ArrayLike, X: ArrayLike, contacts: ArrayLike, down: ArrayLike) -> Levels:
    """Return the apex heights of a bouncing body over its contact level, and their standard errors.

    Parameters
    ----------
    t : (T,) float
        Timestamps [s].
    X : (T, 3) float
        Its centre in the world, with regularised depth, windows cut at the contacts.
    contacts : (C,) float
        Times of the contacts [s].
    down : (3,) float
        Direction of gravity, any length.

    Returns
    -------
    heights, errors : list of float
        One each for every flight of at least 8 frames and 0.2 s, in world units; both empty with fewer than two
        flights, when nothing falls, or when the height moves by less than 16 times its noise.
    """
    time, hits = np.asarray(t, dtype=np.float64), np.asarray(contacts, dtype=np.float64).ravel()
    hits = np.sort(hits[np.isfinite(hits)])
    g = np.asarray(down, dtype=np.float64)
    y = -np.asarray(X, dtype=np.float64) @ (g / np.linalg.norm(g))
    y = np.where(np.isfinite(y), y, np.nan)
    if hits.size == 0 or not np.isfinite(y).any():
        return [], []
    dt, noise = median_dt(time), float(sd3(y))
    edges = np.concatenate([[-np.inf], hits, [np.inf]])
    fits = []
    for k, (start, stop) in enumerate(pairwise(edges)):
        inside = np.isfinite(y) & (time > start + 0.75 * dt) & (time < stop - 0.75 * dt)
        at = time[inside]
        if at.size < _FLIGHT_FRAMES or at[-1] - at[0] < _FLIGHT_SECONDS - 1e-9:
            continue
        middle = 0.5 * (at[0] + at[-1])
        c, v = robust_polynomial(at - middle, y[inside], 2)
        # The last flight has no closing contact; it is held against its opening one.
        hit = (stop if k < len(hits) else start) - middle
        fits.append((c, v, at[-1] - at[0], float(np.polynomial.polynomial.polyval(hit, c))))
    if len(fits) < 2 or _range(smooth(y, dt)) <= 16.0 * noise:
        return [], []
    spans = np.square([span for _, _, span, _ in fits])
    gravity = -float(np.dot([2.0 * c[2] for c, *_ in fits], spans) / spans.sum())
    if not gravity > 0.0:
        return [], []
    ground = float(np.median([level for *_, level in fits]))
    heights = [float(c[0] - ground + c[1] ** 2 / (2.0 * gravity)) for c, *_ in fits]
    errors = [4.0 * noise * math.sqrt(v[0, 0] + (c[1] / gravity) ** 2 * v[1, 1]) for c, v, *_ in fits]
    return heights, [float(e) for e in errors]


def pendulum_levels(t: ArrayLike, theta: ArrayLike) -> Levels:
    """Return the energy levels 1 - cos amplitude of a pendulum's half swings, and their standard errors.

    Parameters
    ----------
    t : (T,) float
        Timestamps [s].
    theta : (T,) float
        Angle from the rest direction [rad].

    Returns
    -------
    levels, errors : list of float
        One each for every closed half swing of at least a quarter of the usual amplitude; both empty when the angle
        moves by less than 16 times its noise.
    """
    time, angle = np.asarray(t, dtype=np.float64), np.asarray(theta, dtype=np.float64)
    angle = np.where(np.isfinite(angle), angle, np.nan)
    if not np.isfinite(angle).any():
        return [], []
    m, noise = smooth(angle, median_dt(time)), float(sd3(angle))
    if _range(m) <= 16.0 * noise:
        return [], []
    known = np.flatnonzero(np.isfinite(m) & (m != 0.0))
    turns = known[1:][np.diff(np.sign(m[known])) != 0]
    usual = float(np.nanpercentile(np.abs(m), 95))
    levels: list[float] = []
    errors: list[float] = []
    for start, stop in pairwise(turns):
        swing = np.arange(start, stop)
        height = np.abs(m[swing])
        peak = float(np.nanmax(height))
        top = swing[(height >= 0.5 * peak) & np.isfinite(angle[swing])]
        if peak < 0.25 * usual or top.size < _FLIGHT_FRAMES:
            continue
        middle = 0.5 * (time[top[0]] + time[top[-1]])
        c, v = robust_polynomial(time[top] - middle, angle[top], 4)
        grid = np.vander(np.linspace(time[top[0]] - middle, time[top[-1]] - middle, 401), 5, increasing=True)
        b = grid[int(np.argmax(np.abs(grid @ c)))]
        amplitude = abs(float(b @ c))
        levels.append(1.0 - math.cos(amplitude))
        errors.append(abs(math.sin(amplitude)) * noise * math.sqrt(float(b @ v @ b)))
    return levels, errors
