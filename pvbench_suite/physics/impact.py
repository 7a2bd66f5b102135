"""The velocity change of a body at a contact (spec ``physics.md``, R22).

Conventions
-----------
Positions are (T, 3) in the world, any unit; velocities in that unit per s.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.physics.checks import Bools, Floats, given, of_shape
from pvbench_suite.physics.gls import robust_fit
from pvbench_suite.physics.robust import (
    SLACK,
    Noise,
    covariances,
    regularise_depth,
    spikes,
    timestamps,
    track_noise,
    unit,
)
from pvbench_suite.physics.series import median_dt
from pvbench_suite.physics.steps import SIDE, contact_times


def velocity_change(
    t: ArrayLike | None,
    path: ArrayLike | None,
    contact: float,
    diameter: float,
    rays: ArrayLike | None = None,
    contacts: ArrayLike | None = None,
    cameras: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Return the velocity change of a body at a contact, and its covariance.

    The step model of R16 is fitted to the path, spikes removed and depth regularised, over 0.5 s (at least 6 frames)
    on either side, cut at the other contacts and without the frames closer than one interval.

    Parameters
    ----------
    t : (T,) float
        Timestamps [s].
    path : (T, 3) float
        Centre of the body in the world.
    contact : float
        Time of the contact [s].
    diameter : float
        Diameter of the body, in the unit of `path`.
    rays : (T, 3) float, optional
        Directions from the camera to the body, any length.
    contacts : (C,) float, optional
        Times of all contacts of this body [s].
    cameras : (T, 4, 4) float, optional
        Camera to world; None: the world is the camera, which does not move.

    Returns
    -------
    dv : (3,) float
        Velocity after less velocity before [unit/s].
    covariance : (3, 3) float
        Its covariance.  The noise is that of the path before its depth is regularised, which hides the depth's error.

    Raises
    ------
    Unmeasurable
        ``no_object``, ``bad_shape``, or ``too_few_frames`` when a side has fewer than 4 frames.
    """
    x = of_shape(given(path, "path"), (None, 3), "path")
    times = timestamps(t, len(x))
    r = None if rays is None else unit(of_shape(given(rays, "rays"), (len(x), 3), "rays"))
    dt = median_dt(times)
    missing = ~np.isfinite(x).all(axis=-1) | ~np.isfinite(times)
    if r is not None:
        missing |= ~np.isfinite(r).all(axis=-1)
    x = np.where(missing[:, None], np.nan, x)
    x = np.where(spikes(x, r, diameter)[:, None], np.nan, x)
    there = np.isfinite(x).all(axis=-1)
    noise = track_noise(times[there], x[there], dt, None if r is None else r[there], 1e-9 * diameter)
    hits = np.union1d(contact_times(contacts), [contact])
    x = regularise_depth(times, x, hits, cameras)
    used = np.isfinite(x).all(axis=-1) & _around(times, contact, hits, dt)
    return _fitted_change(times[used] - contact, x[used], None if r is None else r[used], noise)


def _around(t: Floats, contact: float, hits: Floats, dt: float) -> Bools:
    """Return the frames near a contact that belong to it and to no other of the contacts `hits`."""
    s = t - contact
    near = (np.abs(s) <= max(0.5, 6.0 * dt) + SLACK * dt) & (np.abs(s) >= (1.0 - SLACK) * dt)
    earlier, later = hits[hits < contact - dt], hits[hits > contact + dt]
    if len(earlier):
        near &= t >= earlier[-1] + (1.0 - SLACK) * dt
    if len(later):
        near &= t <= later[0] - (1.0 - SLACK) * dt
    return np.asarray(near)


def _fitted_change(s: Floats, x: Floats, rays: Floats | None, noise: Noise) -> tuple[Floats, Floats]:
    """Return the velocity step at s = 0 of frames at times `s` (n,) from a contact, and its covariance."""
    before, after = int((s < 0).sum()), int((s > 0).sum())
    if min(before, after) < SIDE:
        raise Unmeasurable("too_few_frames", f"{before} frames before and {after} after the contact")
    late = (s > 0).astype(np.float64)
    design = np.stack([np.ones(len(s)), s, 0.5 * s * s, late, late * s], axis=1)
    _, whitener = covariances(noise, rays, len(s))
    fit = robust_fit(design, x, whitener)
    return fit.parameters[4], fit.block(4)
