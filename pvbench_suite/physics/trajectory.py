"""R16: an object's path has no steps: it neither jumps nor changes its velocity at once without a contact.

Conventions
-----------
Positions are of the object's centre in the world, any unit; the value is in object diameters.  A velocity step counts
as the displacement that it makes in 0.25 s.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.checks import Floats, enough_frames, given, of_shape, some_finite, some_positive
from pvbench_suite.physics.robust import Noise, covariances, ray_basis, spikes, timestamps, track_noise, unit
from pvbench_suite.physics.series import median_dt, smooth
from pvbench_suite.physics.steps import (
    Coordinates,
    Steps,
    Windows,
    contact_times,
    eligible,
    find_windows,
    fit_steps,
    require_testable,
    step_sizes,
)

#: Standard errors taken off a step; least range that counts as motion and largest admitted 4 SE, in diameters.
_PROVEN, _MOTION, _NOISY = 4.0, 0.5, 0.35


def trajectory_continuity(
    t: ArrayLike | None,
    path: ArrayLike | None,
    diameter: float | None,
    rays: ArrayLike | None = None,
    contacts: ArrayLike | None = None,
    noise_sd: tuple[float, float] | None = None,
) -> Measurement:
    """Return the largest proven step of an object's path, in diameters.

    A step of position d without a contact reads d over the diameter, a step of velocity V reads 0.25 s V over it, each
    less 4 standard errors; a bounce at a known contact, a swerve or a pendulum read 0.

    Parameters
    ----------
    t : (T,) float
        Timestamps [s].
    path : (T, 3) float
        Centre of the object in the world.
    diameter : float
        Diameter of the object, in the unit of `path`.
    rays : (T, 3) float, optional
        Directions from the camera to the centre, any length.
    contacts : (C,) float, optional
        Times of impacts [s].  Sustained contact is none.
    noise_sd : (float, float), optional
        Standard deviations across and along the ray that replace the track's own; best taken from the third
        differences of the static background's tracks.

    Returns
    -------
    Measurement
        Value in diameters, from 0; `n` is the number of testable instants, `spread` the median step (jitter of the
        video or of perception, which cannot be told apart).

    Raises
    ------
    Unmeasurable
        ``no_object``, ``bad_shape``, ``too_few_frames``, ``all_nan``, ``zero_depth``, ``no_motion``, ``too_noisy``.

    References
    ----------
    Spec ``physics.md``, R16.
    """
    times, x, r, size = _checked(t, path, diameter, rays)
    dt = median_dt(times)
    x = np.where(spikes(x, r, size)[:, None], np.nan, x)
    there = np.isfinite(x).all(axis=-1)
    enough_frames(int(there.sum()), what="frames without a spike")
    tv, xv, rv = times[there], x[there], None if r is None else r[there]
    floor = 1e-9 * size
    own = noise_sd is None or not np.isfinite(noise_sd).all()
    noise = track_noise(tv, xv, dt, rv, floor) if own else Noise(*(max(sd, floor) for sd in noise_sd or ()))
    _require_motion(x, r, noise, size, dt)
    hits = contact_times(contacts)
    windows = require_testable(find_windows(tv, hits, dt))
    used = eligible(tv, hits, dt)
    seen = _positions(xv[used], None if rv is None else rv[used], noise)
    steps = fit_steps(tv[used], windows, seen)
    _require_quiet(steps, noise, size)
    sizes = step_sizes(steps, _PROVEN, dt) / size
    worst = int(np.argmax(sizes))
    jitter = float(np.median(np.linalg.norm(steps.jump, axis=-1)[_of_interest(steps)])) / size
    evidence = {
        "t": times,
        "path": x,
        "instants": steps.tau,
        "steps": sizes,
        "worst_time": float(steps.tau[worst]),
        "contacts": hits,
        "jitter": jitter,
        "noise": np.array(noise) / size,
    }
    return Measurement(float(sizes[worst]), len(sizes), jitter, evidence)


def _checked(
    t: ArrayLike | None, path: ArrayLike | None, diameter: float | None, rays: ArrayLike | None
) -> tuple[Floats, Floats, Floats | None, float]:
    """Return times, path (NaN where any input of a frame is missing), unit rays and diameter, or raise."""
    x = given(path, "path")
    if diameter is None or not np.isfinite(diameter):
        raise Unmeasurable("no_object", "the object has no diameter")
    of_shape(x, (None, 3), "path")
    times = timestamps(t, len(x))
    r = None if rays is None else unit(of_shape(given(rays, "rays"), (len(x), 3), "rays"))
    enough_frames(len(x))
    some_finite(x, times, *(() if r is None else (r,)))
    some_positive(np.asarray(float(diameter)))
    missing = ~np.isfinite(x).all(axis=-1) | ~np.isfinite(times)
    if r is not None:
        missing |= ~np.isfinite(r).all(axis=-1)
    return times, np.where(missing[:, None], np.nan, x), r, float(diameter)


def _require_motion(x: Floats, rays: Floats | None, noise: Noise, size: float, dt: float) -> None:
    """Pass when the smoothed path covers half a diameter more than its noise explains."""
    medians = smooth(x @ ray_basis(rays).T, dt)
    low, high = np.nanpercentile(medians, [2.0, 98.0], axis=0)
    sd = np.array([noise.across, noise.across, noise.along])
    covered = float(np.linalg.norm(np.maximum(0.0, high - low - 4.0 * sd)))
    if covered < _MOTION * size:
        visible = 3.0 * float(np.linalg.norm(sd)) <= _MOTION * size
        raise Unmeasurable("no_motion", f"moved {covered / size:.2g} diameters", detectable=visible)


def _positions(x: Floats, rays: Floats | None, noise: Noise) -> Coordinates:
    """Return the coordinates of a window's frames: the positions, their noise split along its mean ray."""

    def coordinates(windows: Windows) -> tuple[Floats, Floats, Floats]:
        index, real = windows.frames()
        mean = None if rays is None else unit(np.where(real[..., None], rays[index], 0.0).sum(axis=1))
        return x[index], *covariances(noise, mean, len(index))

    return coordinates


def _of_interest(steps: Steps) -> np.ndarray:
    """Return the instants away from contacts, or all where every instant is a contact."""
    free = ~steps.contact
    return free if free.any() else steps.contact


def _require_quiet(steps: Steps, noise: Noise, size: float) -> None:
    """Pass when a third of a diameter would stand out of the noise at the typical instant."""
    least = 4.0 * noise.across * float(np.median(np.sqrt(steps.c_pp[_of_interest(steps)])))
    if least > _NOISY * size:
        raise Unmeasurable("too_noisy", f"a step below {least / size:.2g} diameters cannot be seen")
