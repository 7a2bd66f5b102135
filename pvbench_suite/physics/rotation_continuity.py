"""R20: a body's rotation has no steps: it neither flips nor changes its spin at once without a contact.

Conventions
-----------
Rotations take body axes to world axes; the value is in degrees, at most 180.  A step of the rate counts as the angle
that it makes in 0.25 s.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.checks import Floats, enough_frames, given, of_shape, some_finite
from pvbench_suite.physics.robust import timestamps, unit
from pvbench_suite.physics.rotation import (
    are_rotations,
    away_from,
    net_turn,
    pose_noise,
    rates,
    resolved,
    without_flips,
)
from pvbench_suite.physics.series import median_dt, present_median, smooth
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

#: Standard errors taken off a step; least net turn and largest admitted 3 SE [rad].
_PROVEN, _TURN, _NOISY = 3.0, np.radians(20.0), np.radians(20.0)


def rotation_continuity(
    t: ArrayLike | None,
    rotations: ArrayLike | None,
    contacts: ArrayLike | None = None,
    group: ArrayLike | None = None,
    extents: ArrayLike | None = None,
) -> Measurement:
    """Return the largest proven step of a body's rotation, in degrees.

    A turn by j between two frames reads j, a step W of the rate without a contact reads 0.25 s W, each less 3
    standard errors; constant or dying spin, rocking and free tumbling read 0.

    Parameters
    ----------
    t : (T,) float
        Timestamps [s].
    rotations : (T, 3, 3) float
        Object to world.  NaN, and matrices that are no proper rotation, are missing.
    contacts : (C,) float, optional
        Times of impacts [s].
    group : (G, 3, 3) float, optional
        Rotations of the body onto itself, acting on the right.
    extents : (3,) float, optional
        Sides of a free body's box: adds how far its angular momentum wanders to the evidence.

    Returns
    -------
    Measurement
        Value [deg] in [0, 180]; `n` is the number of testable instants, `spread` the noise of the pose [deg per axis].

    Raises
    ------
    Unmeasurable
        ``no_object``, ``bad_shape``, ``too_few_frames``, ``all_nan``, ``no_rotation``, ``too_noisy``.

    References
    ----------
    Spec ``physics.md``, R20.
    """
    times, r, there = _checked(t, rotations)
    members = None if group is None else of_shape(given(group, "group"), (None, 3, 3), "group")
    dt = median_dt(times)
    tv, rv = times[there], resolved(r[there], members)
    keep = without_flips(tv, rv)
    tv, rv = tv[keep], rv[keep]
    enough_frames(len(tv), what="poses without a flip")
    sigma = pose_noise(tv, rv, dt)
    _require_turn(net_turn(rv), sigma)
    hits = contact_times(contacts)
    windows = require_testable(find_windows(tv, hits, dt))
    used = eligible(tv, hits, dt)
    steps = fit_steps(tv[used], windows, _turns(tv[used], rv[used], sigma))
    _require_quiet(steps, sigma)
    sizes = np.minimum(180.0, np.degrees(step_sizes(steps, _PROVEN, dt)))
    worst = int(np.argmax(sizes))
    noise = float(np.degrees(sigma))
    evidence: dict[str, object] = {
        "instants": steps.tau,
        "angles": sizes,
        "raw_angles": np.degrees(np.linalg.norm(steps.jump, axis=-1)),
        "worst_time": float(steps.tau[worst]),
        "contacts": hits,
        "noise_deg": noise,
    }
    if extents is not None:
        box = of_shape(given(extents, "extents"), (3,), "extents")
        evidence["momentum_wander_deg"] = momentum_wander(tv, rv, box, dt)
    return Measurement(float(sizes[worst]), len(sizes), noise, evidence)


def momentum_wander(t: Floats, rotations: Floats, extents: Floats, dt: float) -> float:
    """Return how far the angular momentum of a free box turns from its median direction [deg].

    The 90th percentile over time of the angle between ``L = R I R' omega``, smoothed over 0.3 s, and its median.

    Parameters
    ----------
    t, rotations : (n,) and (n, 3, 3) float
        Times [s] and poses, none missing.
    extents : (3,) float
        Sides of the box along the body axes, any unit.
    dt : float
        Frame interval [s].
    """
    squares = np.square(extents)
    inertia = squares.sum() - squares
    momentum = np.einsum("nij,nj->ni", rotations[:-1], inertia * rates(t, rotations))
    directions = unit(smooth(momentum, dt))
    axis = unit(present_median(directions, axis=0))
    return float(np.percentile(np.degrees(np.arccos(np.clip(directions @ axis, -1.0, 1.0))), 90))


def _checked(t: ArrayLike | None, rotations: ArrayLike | None) -> tuple[Floats, Floats, np.ndarray]:
    """Return times, poses and which frames are valid, or raise."""
    r = given(rotations, "rotations")
    of_shape(r, (None, 3, 3), "rotations")
    times = timestamps(t, len(r))
    enough_frames(len(r))
    some_finite(r, times)
    there = are_rotations(r) & np.isfinite(times)
    enough_frames(int(there.sum()), what="valid poses")
    return times, r, there


def _require_turn(turn: float, sigma: float) -> None:
    """Pass when the body turns by 20 deg and by more than its noise explains."""
    if turn < max(_TURN, 8.0 * sigma):
        # The angle between two noisy poses has a standard error of sqrt 2 sigma on each of three axes.
        visible = 3.0 * np.sqrt(6.0) * sigma <= _TURN
        raise Unmeasurable("no_rotation", f"turned {np.degrees(turn):.3g} deg in all", detectable=bool(visible))


def _turns(t: Floats, rotations: Floats, sigma: float) -> Coordinates:
    """Return the coordinates of a window's poses: how far each is from the steady turn that starts before the gap."""
    turning = rates(t, rotations)

    def coordinates(windows: Windows) -> tuple[Floats, Floats, Floats]:
        index, real = windows.frames()
        followed = index < windows.high[:, None] - 1
        increments = turning[np.minimum(index, len(turning) - 1)]
        omega = present_median(np.where((real & followed)[..., None], increments, np.nan), axis=1)
        last = windows.split - 1
        x = away_from(t[index], rotations[index], rotations[last], t[last], omega)
        identity = np.broadcast_to(np.eye(3), (len(index), 3, 3))
        return x, sigma**2 * identity, identity / sigma

    return coordinates


def _require_quiet(steps: Steps, sigma: float) -> None:
    """Pass when a step of 20 deg would stand out of the noise at the typical instant."""
    free = ~steps.contact if not steps.contact.all() else steps.contact
    least = 3.0 * sigma * float(np.median(np.sqrt(steps.c_pp[free])))
    if least > _NOISY:
        raise Unmeasurable("too_noisy", f"a turn below {np.degrees(least):.3g} deg cannot be seen")
