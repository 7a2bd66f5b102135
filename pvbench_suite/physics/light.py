"""R08: how far the light strays, and shadows from pointing away from it.

Conventions
-----------
Light directions point from the scene to the light; shadows from their base to their tip; both in world axes, whose
default up is (0, -1, 0).  Angles are in degrees at the surface of this module.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.checks import absent
from pvbench_suite.physics.series import (
    LEAST_FRAMES,
    MAD,
    Bools,
    Floats,
    enough_frames,
    given,
    of_shape,
    present_median,
    running_median,
    smooth,
    some_finite,
    time_statistic,
    window,
)
from pvbench_suite.physics.surface import angle_between

#: Fewest points of a fitted frame, and fewest lit ones.
_POINTS, _LIT = 30, 20
#: Least assumed error of a normal, per component [rad].
_NORMAL_NOISE = 0.08
#: The light's azimuth is unknown within this angle of the vertical.
_VERTICAL = math.radians(10.0)
#: Least image motion in percent of the diagonal.
_MOTION = 1.0


def light_from_shading(normals: Floats, shading: Floats) -> tuple[Floats, Bools]:
    """Return the light direction of each frame, fitted to the shading of points with known normals.

    Ten rounds of weighted least squares of S = n.L + a over the lit points.  A frame whose lit normals do not span
    three dimensions beyond their own noise has no light: three wall directions give one plane of normals, noise fills
    it, and the condition number does not notice.

    Parameters
    ----------
    normals : (T, P, 3) float
        Unit normals in the world; NaN rows are missing.
    shading : (T, P) float
        Shading of the same points, any gain.

    Returns
    -------
    light : (T, 3) float
        Fitted direction, of any length; NaN rows where there is none.
    fitted : (T,) bool
        Frames with at least 30 points.
    """
    has = np.isfinite(normals).all(axis=-1) & np.isfinite(shading)
    fitted = np.asarray(has.sum(axis=1) >= _POINTS)
    n, s = np.where(has[..., None], normals, 0.0), np.where(has, shading, 0.0)
    design = np.concatenate([n, np.ones((*s.shape, 1))], axis=-1)
    lit = has & (s >= present_median(np.where(has, s, np.nan))[:, None])
    weight = np.ones(s.shape)
    able = fitted.copy()
    light = np.zeros((len(s), 4))
    for _ in range(10):
        able &= lit.sum(axis=1) >= _LIT
        # Roots of the weights on both sides keep the precision that normal equations would lose.
        root = np.sqrt(np.where(lit & able[:, None], weight, 0.0))
        light = (np.linalg.pinv(design * root[..., None], rcond=1e-10) @ (s * root)[..., None])[..., 0]
        shade = (n @ light[:, :3, None])[..., 0]
        residual = np.abs(s - shade - light[:, 3:])
        scale = MAD * np.nan_to_num(present_median(np.where(lit, residual, np.nan))) + 1e-9
        weight = np.minimum(1.0, 1.5 * scale[:, None] / np.maximum(residual, 1e-300))
        lit = has & (shade > 0.1 * np.linalg.norm(light[:, :3], axis=-1)[:, None])
    able &= _spans(n, lit) >= 4.0 * _normal_noise(np.where(has[..., None], normals, np.nan)) ** 2
    return np.where(able[:, None], light[:, :3], np.nan), fitted


def _spans(n: Floats, lit: Bools) -> Floats:
    """Return the smallest eigenvalue of the covariance of the lit normals of each frame."""
    count = np.maximum(lit.sum(axis=1), 1)
    mean = np.where(lit[..., None], n, 0.0).sum(axis=1) / count[:, None]
    centred = np.where(lit[..., None], n - mean[:, None], 0.0)
    covariance = np.swapaxes(centred, -1, -2) @ centred / count[:, None, None]
    return np.asarray(np.linalg.eigvalsh(covariance)[:, 0])


def _normal_noise(normals: Floats) -> float:
    """Return the noise of the normals [rad per component], pooled over points, never below 0.08."""
    if len(normals) < 4:
        return _NORMAL_NOISE
    third = np.abs(np.diff(normals, n=3, axis=0))
    third = third[np.isfinite(third)]
    return max(_NORMAL_NOISE, MAD * float(np.median(third)) / math.sqrt(20.0)) if third.size else _NORMAL_NOISE


def light_consistency(
    normals: ArrayLike | None = None,
    shading: ArrayLike | None = None,
    light: ArrayLike | None = None,
    shadow: ArrayLike | None = None,
    up: ArrayLike = (0.0, -1.0, 0.0),
    dt: float = 1 / 24,
    motion: float | None = None,
    light_moves: bool = False,
    motion_error: float = 0.0,
) -> Measurement:
    """Return R08: how far the light wanders, steps or turns, or shadows point elsewhere.

    Parameters
    ----------
    normals : (T, P, 3) float, optional
        World unit normals of the same P scene points in every frame.
    shading : (T, P) float, optional
        Their shading, any gain.
    light : (T, 3) float, optional
        Light directions, any length, in place of normals and shading.
    shadow : (T, 3) float, optional
        Cast shadow in the world; NaN rows where there is none.
    up : (3,) float
        Direction against gravity.
    dt : float
        Frame interval [s].
    motion : float, optional
        Image motion in percent of the diagonal (None: not tested).
    light_moves : bool
        The prompt expects the light to move: no rate is charged.
    motion_error : float
        Standard error of `motion`; it decides only whether a still clip is a demanded event that stayed away.

    Returns
    -------
    Measurement
        The largest of four angles [deg, 0 to 180]: wandering about the 1 s trend, one step, turning in half a second,
        shadow off the light.  Evidence: ``trend``, ``step``, ``rate``, ``shadow`` (None where not tested), and the
        series ``trend_series``, ``step_series``, ``rate_series``, ``shadow_series``.

    Raises
    ------
    Unmeasurable
        no_object, bad_shape, too_few_frames, all_nan, no_motion, no_light_basis.

    References
    ----------
    Spec ``physics.md`` R08.
    """
    directions, tones, fitted, shadows = _inputs(normals, shading, light, shadow)
    some_finite(directions, *(() if tones is None else (tones,)))
    enough_frames(int(fitted.sum()), what="frames with light or shading")
    if motion is not None and not motion >= _MOTION:
        raise absent("no_motion", f"{motion:.2g} % of the diagonal", (motion_error, _MOTION))
    if tones is not None:
        directions, fitted = light_from_shading(directions, tones)
    length = np.linalg.norm(directions, axis=-1, keepdims=True)
    unit = np.where(length > 0, directions / np.where(length > 0, length, 1.0), np.nan)
    lit = int(np.isfinite(unit).all(axis=-1).sum())
    if tones is not None and lit < max(LEAST_FRAMES, 0.5 * fitted.sum()):
        raise Unmeasurable("no_light_basis", f"a light in {lit} of {int(fitted.sum())} frames")
    parts, series = _parts(unit, shadows, given(up, "up"), dt, light_moves)
    evidence = {**parts, **{f"{name}_series": values for name, values in series.items()}, "light": unit}
    return Measurement(max(v for v in parts.values() if v is not None), lit, None, evidence, ("one_light",))


def _inputs(
    normals: ArrayLike | None, shading: ArrayLike | None, light: ArrayLike | None, shadow: ArrayLike | None
) -> tuple[Floats, Floats | None, Bools, Floats | None]:
    """Return the light directions and None, or normals and shading; the usable frames; the shadows; all checked."""
    tones = None
    if light is not None:
        main = of_shape(given(light, "light"), (None, 3), "light")
        usable = np.isfinite(main).all(axis=-1) & np.any(main != 0.0, axis=-1)
    else:
        main = of_shape(given(normals, "normals"), (None, None, 3), "normals")
        tones = of_shape(given(shading, "shading"), main.shape[:2], "shading")
        usable = (np.isfinite(main).all(axis=-1) & np.isfinite(tones)).sum(axis=1) >= _POINTS
    # A clip without any shadow may come as an empty array; that is no lost object.
    none = shadow is None or np.size(shadow) == 0
    shadows = None if none else of_shape(given(shadow, "shadow"), (len(main), 3), "shadow")
    enough_frames(len(main))
    return main, tones, np.asarray(usable), shadows


def _parts(
    unit: Floats, shadow: Floats | None, up: Floats, dt: float, light_moves: bool
) -> tuple[dict[str, float | None], dict[str, Floats]]:
    """Return the four angles [deg] and the series [deg] behind them."""
    slow = smooth(unit, dt)
    trend = smooth(np.degrees(angle_between(unit, running_median(unit, window(1.0, dt)))), dt)
    step, jumps = light_step(unit, dt)
    parts: dict[str, float | None] = {"trend": time_statistic(trend, dt), "step": step, "rate": None, "shadow": None}
    series = {"trend": trend, "step": jumps}
    gap = math.floor(0.5 / dt + 0.5)
    if not light_moves and len(unit) > gap:
        rate = np.degrees(angle_between(slow[:-gap], slow[gap:]))
        series["rate"] = rate
        parts["rate"] = time_statistic(rate, dt) if np.isfinite(rate).any() else None
    if shadow is not None:
        off = _shadow_angle(shadow, slow, up / np.linalg.norm(up))
        if np.isfinite(off).sum() >= LEAST_FRAMES:
            series["shadow"] = smooth(off, dt)
            parts["shadow"] = time_statistic(series["shadow"], dt)
    return parts, series


def _shadow_angle(shadow: Floats, light: Floats, up: Floats) -> Floats:
    """Return the angle [deg] on the ground between each shadow and the direction away from the light."""
    steep = angle_between(light, np.broadcast_to(up, light.shape))
    ground, away = (v - (v @ up)[:, None] * up for v in (shadow, -light))
    with np.errstate(invalid="ignore"):
        usable = (np.minimum(steep, math.pi - steep) >= _VERTICAL) & (
            np.linalg.norm(ground, axis=-1) > 1e-9 * np.linalg.norm(shadow, axis=-1)
        )
    return np.where(usable, np.degrees(angle_between(ground, away)), np.nan)


def light_step(unit: Floats, dt: float) -> tuple[float | None, Floats]:
    """Return the largest proven step of a series of unit vectors as an angle [deg], and every instant's fitted step.

    At each instant between two frames the line p + q s + J H(s) is fitted to the samples within 1 s.  The largest
    |J| counts less 4 times the clip's own noise: median |J| / 1.5382 once that largest step is taken out.  (With it, a
    clip of less than four seconds would hide any step behind itself: it shows at every instant within a second.)

    Parameters
    ----------
    unit : (T, 3) float
        Unit light directions; NaN rows are missing.
    dt : float
        Frame interval [s].

    Returns
    -------
    step : float or None
        Angle 2 asin(a'/2) [deg, 0 to 180]; None when no instant has enough samples on both sides.
    sizes : (T - 1,) float
        |J| at each instant; NaN where it cannot be tested.
    """
    sizes, jumps = _steps(unit, dt)
    tested = np.isfinite(sizes)
    if not tested.any():
        return None, sizes
    at = int(np.nanargmax(sizes))
    without = unit - np.where(np.arange(len(unit))[:, None] > at, jumps[at], 0.0)
    noise = float(np.nanmedian(_steps(without, dt)[0])) / 1.5382
    proven = max(0.0, float(sizes[at]) - 4.0 * noise)
    return math.degrees(2.0 * math.asin(min(1.0, proven / 2.0))), sizes


def _steps(unit: Floats, dt: float) -> tuple[Floats, Floats]:
    """Return |J| (T - 1,) and J (T - 1, 3) at each instant between two frames; NaN where it cannot be tested."""
    time = np.arange(len(unit)) * dt
    valid = np.isfinite(unit).all(axis=-1)
    least = max(4.0, 0.5 / dt - 1e-6)
    jumps = np.full((len(unit) - 1, 3), np.nan)
    for k in range(len(unit) - 1):
        s = time - (time[k] + 0.5 * dt)
        near = valid & (np.abs(s) <= 1.0 + 1e-9)
        after = near & (s > 0)
        if min((near & (s < 0)).sum(), after.sum()) < least:
            continue
        design = np.stack([np.ones(near.sum()), s[near], after[near]], axis=-1)
        jumps[k] = np.linalg.lstsq(design, unit[near], rcond=None)[0][2]
    return np.linalg.norm(jumps, axis=-1), jumps
