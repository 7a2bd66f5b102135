"""R24: how deep solid bodies pass into each other.

Conventions
-----------
Lengths are in one world unit.  The gap is the signed distance of two surfaces, negative where they overlap.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.checks import absent
from pvbench_suite.physics.robust import depth_factor
from pvbench_suite.physics.series import (
    Floats,
    enough_frames,
    given,
    of_shape,
    running_median,
    sd3,
    smooth,
    some_finite,
    window,
)

#: Length of the median over the gap [s], and of the one over the direction of contact [s].
_BRIEF, _SLOW = 0.125, 1.0
#: Nearest approach that is a contact, in summed radii; least range of the gap, and largest 2 SE, in smaller radii.
_CONTACT, _RANGE, _NOISY = 0.25, 0.25, 0.5


def gap_penetration(
    gap: ArrayLike | None,
    size_i: float,
    size_j: float = 0.0,
    dt: float = 1 / 24,
    radius_error: float = 0.03,
    depth_sd: float | None = None,
    cosine: ArrayLike | None = None,
) -> Measurement:
    """Return R24 from the signed distance of two surfaces.

    Parameters
    ----------
    gap : (T,) float
        Signed distance, negative where the bodies overlap.
    size_i, size_j : float
        Their radii, or the half-thickness of a general body; `size_j` is 0 for a plane.
    dt : float
        Frame interval [s].
    radius_error : float
        Relative standard error of the sizes.
    depth_sd : float, optional
        Standard error of the depth part of the distance before any regularisation; None when the gap still shows it.
    cosine : (T,) float, optional
        Cosine between the direction of the distance and the depth axis (None: 1).

    Returns
    -------
    Measurement
        Largest overlap less 2 standard errors, in smaller radii, >= 0; `n` is the number of valid frames and `spread`
        the standard error at the deepest instant, in smaller radii.  Evidence: ``gap``, ``smoothed`` and ``error`` (all
        in smaller radii), ``deepest`` (frame), ``overlap`` (raw, in smaller radii).

    Raises
    ------
    Unmeasurable
        no_object, bad_shape, too_few_frames, all_nan, zero_depth, no_contact, too_noisy, no_motion.

    References
    ----------
    Spec ``physics.md`` R24.
    """
    distance = of_shape(given(gap, "gap"), (None,), "gap")
    toward = np.ones(len(distance)) if cosine is None else of_shape(given(cosine, "cosine"), distance.shape, "cosine")
    enough_frames(len(distance))
    some_finite(distance)
    sizes = [size_i] if size_j == 0.0 else [size_i, size_j]
    if not all(math.isfinite(s) and s > 0.0 for s in sizes):
        raise Unmeasurable("zero_depth", "a radius is not positive")
    valid = np.isfinite(distance) & np.isfinite(toward)
    enough_frames(int(valid.sum()), what="frames with both bodies")
    distance = np.where(valid, distance, np.nan)
    r, reach = min(sizes), sum(sizes)
    smoothed = running_median(distance, window(_BRIEF, dt))
    noise = _noise(distance, depth_sd, toward, dt)
    error = np.sqrt(noise**2 + radius_error**2 * sum(s**2 for s in sizes))
    deepest = int(np.nanargmin(smoothed))
    _gates(distance, smoothed[deepest], float(error[deepest]), noise, r, reach, dt)
    overlap = np.maximum(0.0, -smoothed - 2.0 * error) / r
    return Measurement(
        value=float(np.nanmax(overlap)),
        n=int(valid.sum()),
        spread=float(error[deepest] / r),
        evidence={
            "gap": distance / r,
            "smoothed": smoothed / r,
            "error": error / r,
            "deepest": deepest,
            "overlap": max(0.0, float(-smoothed[deepest] / r)),
        },
    )


def _noise(distance: Floats, depth_sd: float | None, toward: Floats, dt: float) -> Floats:
    """Return the noise N(t) of the gap (T,)."""
    white, deep = float(sd3(distance)), depth_factor(dt)
    if depth_sd is None:
        return np.full(distance.shape, deep * white)
    direction = np.abs(running_median(toward, window(_SLOW, dt)))
    return np.hypot(white, deep * depth_sd * direction)


def _step(distance: Floats) -> float:
    """Return the larger change of the gap in the frame before or after its smallest sample."""
    k = int(np.nanargmin(distance))
    near = distance[max(k - 1, 0) : k + 2]
    return float(np.nanmax(np.abs(near - distance[k])))


def _gates(distance: Floats, nearest: float, error: float, noise: Floats, r: float, reach: float, dt: float) -> None:
    """Raise no_contact, too_noisy or no_motion, in this order: noise must not earn an event that stayed away."""
    if nearest > _CONTACT * reach:
        # A fast bounce touches between two frames: up to one frame's step may lie below the nearest sample.
        gate, closest = _CONTACT * reach, float(np.nanmin(distance)) - _step(distance)
        detail = f"nearest gap {nearest / reach:.2f} summed radii"
        raise Unmeasurable("no_contact", detail, detectable=3.0 * error < gate < closest)
    if 2.0 * error > _NOISY * r:
        raise Unmeasurable("too_noisy", f"2 standard errors are {2.0 * error / r:.2f} of the smaller radius")
    medians = smooth(distance, dt)
    low, high = np.percentile(medians[np.isfinite(medians)], [5.0, 95.0])
    # The line of centres of a noisy clip wanders, and with it N: the extremes of the gap come where N is large.
    level = float(np.nanpercentile(noise, 95.0))
    if high - low < _RANGE * r * (1 - 1e-9) or high - low <= 4.0 * level:
        raise absent("no_motion", f"the gap moves by {(high - low) / r:.2f} radii", (level, _RANGE * r))


def sphere_penetration(
    ci: ArrayLike | None,
    cj: ArrayLike | None,
    ri: float,
    rj: float,
    dt: float = 1 / 24,
    radius_error: float = 0.03,
    depth_sd: float | None = None,
    axis: ArrayLike = (0.0, 0.0, 1.0),
) -> Measurement:
    """Return R24 for two balls.

    Parameters
    ----------
    ci, cj : (T, 3) float
        Centres in the world, depth regularised, windows cut at contacts.
    ri, rj : float
        Radii, in the same unit.
    dt, radius_error, depth_sd
        As in `gap_penetration`; `depth_sd` is `sd3` of z_i - z_j before the regularisation.
    axis : (3,) float
        Depth direction.

    Returns
    -------
    Measurement
        As `gap_penetration`; the evidence has ``response`` too: 1 - |dv_n| / approach speed, 1 for a ghost.

    Raises
    ------
    Unmeasurable
        As `gap_penetration`.
    """
    a, b = of_shape(given(ci, "ci"), (None, 3), "ci"), given(cj, "cj")
    of_shape(b, a.shape, "cj")
    depth = of_shape(given(axis, "axis"), (3,), "axis")
    enough_frames(len(a))
    some_finite(a, b)
    if not (ri > 0.0 and rj > 0.0):
        raise Unmeasurable("zero_depth", "a radius is not positive")
    between = a - b
    distance = np.linalg.norm(between, axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = np.where(distance > 0, (between @ (depth / np.linalg.norm(depth))) / distance, 0.0)
    cosine = np.where(np.isfinite(distance), cosine, np.nan)
    m = gap_penetration(distance - (ri + rj), ri, rj, dt, radius_error, depth_sd, cosine)
    response = _response(between, int(m.evidence["deepest"]), dt)
    return Measurement(m.value, m.n, m.spread, {**m.evidence, "response": response}, ("spheres",))


def plane_penetration(
    distance: ArrayLike | None,
    radius: float,
    dt: float = 1 / 24,
    radius_error: float = 0.03,
    depth_sd: float | None = None,
) -> Measurement:
    """Return R24 for a ball and a fixed plane.

    Parameters
    ----------
    distance : (T,) float
        Signed distance of the ball's centre to the plane, positive on the free side.
    radius : float
        Radius of the ball.
    dt, radius_error, depth_sd
        As in `gap_penetration`; `depth_sd` is `sd3` of the depth part of the distance.

    Returns
    -------
    Measurement
        As `gap_penetration`.

    Raises
    ------
    Unmeasurable
        As `gap_penetration`.
    """
    height = of_shape(given(distance, "distance"), (None,), "distance")
    return gap_penetration(height - radius, radius, 0.0, dt, radius_error, depth_sd)


def _response(between: Floats, deepest: int, dt: float) -> float | None:
    """Return 1 - |dv_n| / approach speed over 0.25 s on either side of the deepest instant, None if not to be had."""
    span = max(1, round(0.25 / dt))
    first, last = deepest - span, deepest + span
    if first < 0 or last >= len(between) or not np.isfinite(between[[first, deepest, last]]).all():
        return None
    before, after = between[deepest] - between[first], between[last] - between[deepest]
    # Deep inside each other the line of centres says little, so the normal is the direction of approach.
    length = float(np.linalg.norm(between[first]))
    normal = between[first] / length if length > 0 else np.zeros(3)
    approach = -float(before @ normal)
    return 1.0 - abs(float((after - before) @ normal)) / approach if approach > 1e-12 else None
