"""Is there a step in a motion? A window test of a step model against a smooth one (spec ``physics.md`` R16, R20).

Conventions
-----------
An instant is the gap between two consecutive valid frames, or a contact; its time tau is the middle of the gap, or the
contact.  Windows hold the frames within w = max(0.25 s, 5 frames) on either side, cut at contacts.  Coordinates are
(3,) per frame in any unit; the caller gives them per window, because those of a rotation depend on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.physics.checks import LEAST_FRAMES, Bools, Floats
from pvbench_suite.physics.proven import proven_part
from pvbench_suite.physics.robust import SLACK

Indices = NDArray[np.intp]
#: Samples that a side needs, the widest gap of an instant [s], the time over which a velocity step is felt [s].
SIDE, _GAP, _FELT = 4, 0.5, 0.25
#: Unknowns of either model.
_UNKNOWNS = 15
#: Share of the smooth model's residual that the step model may leave, below and above a residual of 2 sd.
_QUIET, _LOUD, _HIGH = 0.6, 0.3, 2.0


class Windows(NamedTuple):
    """The instants and the frames around them.

    Frames are numbered among the eligible ones (valid and not beside a contact); a window holds the frames from `low`
    to `high` (exclusive), of which those from `split` on lie after the instant.
    """

    tau: Floats
    contact: Bools
    low: Indices
    split: Indices
    high: Indices

    def take(self, chosen: Bools | Indices) -> Windows:
        """Return the `chosen` instants only."""
        picked = (self.tau[chosen], self.contact[chosen], self.low[chosen], self.split[chosen], self.high[chosen])
        return Windows(*picked)

    def narrowed(self) -> Windows:
        """Return the same instants with the 4 samples nearest the gap on each side."""
        low, high = np.maximum(self.low, self.split - SIDE), np.minimum(self.high, self.split + SIDE)
        return self._replace(low=low, high=high)

    def frames(self) -> tuple[Indices, Bools]:
        """Return the frames of each window, padded to the longest, and which of them are real."""
        index = self.low[:, None] + np.arange(int((self.high - self.low).max(initial=1)))
        real = index < self.high[:, None]
        return np.where(real, index, self.low[:, None]), real


class Steps(NamedTuple):
    """The fitted step of each testable instant.

    `jump` and `rate` are the steps (n, 3) of value and velocity, with covariances (n, 3, 3); `explained` says whether
    the step beats the smooth model; `c_pp` is the variance of a jump in units of one sample's.
    """

    tau: Floats
    contact: Bools
    jump: Floats
    rate: Floats
    jump_covariance: Floats
    rate_covariance: Floats
    explained: Bools
    c_pp: Floats


Coordinates = Callable[[Windows], tuple[Floats, Floats, Floats]]
"""Gives, for windows, their samples (n, M, 3), one sample's covariance (n, 3, 3) and its whitener (n, 3, 3)."""


def contact_times(contacts: ArrayLike | None) -> Floats:
    """Return the finite contact times [s] in rising order; None means that there are none."""
    times = np.asarray([] if contacts is None else contacts, dtype=np.float64).ravel()
    return np.unique(times[np.isfinite(times)])


def eligible(t: Floats, contacts: Floats, dt: float) -> Bools:
    """Return which of the times `t` (n,) are at least 0.75 frame intervals from every contact."""
    if len(contacts) == 0:
        return np.ones(len(t), dtype=np.bool_)
    nearest = np.abs(t[:, None] - contacts).min(axis=1)
    return np.asarray(nearest >= (0.75 - SLACK) * dt)


def find_windows(t: Floats, contacts: Floats, dt: float) -> Windows:
    """Return every instant of the valid frames at times `t` (n,) [s], contacts last, with its window.

    Raises
    ------
    Unmeasurable
        ``too_few_frames`` when no two neighbouring frames are within half a second.
    """
    used = t[eligible(t, contacts, dt)]
    before, after = t[:-1], t[1:]
    tau = 0.5 * (before + after)
    if len(contacts):
        away = np.abs(tau[:, None] - contacts).min(axis=1) >= (1.5 - SLACK) * dt
        before, after, tau = before[away], after[away], tau[away]
    # A contact needs a frame on both sides; its neighbours among the eligible frames bound the gap.
    at = np.searchsorted(used, contacts)
    inside = (at > 0) & (at < len(used))
    at, hits = at[inside], contacts[inside]
    before, after = np.append(before, used[at - 1]), np.append(after, used[at])
    contact = np.append(np.zeros(len(tau), dtype=np.bool_), np.ones(len(hits), dtype=np.bool_))
    tau = np.append(tau, hits)
    near = after - before <= _GAP + SLACK * dt
    if not near.any():
        raise Unmeasurable("too_few_frames", "no two neighbouring frames within half a second")
    before, after, tau, contact = before[near], after[near], tau[near], contact[near]
    reach = max(0.25, 5.0 * dt) - 0.5 * dt + SLACK * dt
    # Contact k closes side k: an ordinary instant lies in one side, a contact between two.
    left_side = np.searchsorted(contacts, tau, side="left")
    right_side = np.where(contact, left_side + 1, left_side)
    bounds = np.concatenate([[-np.inf], contacts, [np.inf]])
    split = np.searchsorted(used, before, side="right")
    first = np.maximum(before - reach, bounds[left_side])
    low = np.minimum(np.searchsorted(used, first), split)
    last = np.minimum(after + reach, bounds[right_side + 1])
    high = np.maximum(np.searchsorted(used, last, side="right"), split)
    return Windows(tau, contact, low, split, high)


def can_test(windows: Windows) -> Bools:
    """Return which instants have at least 4 samples on each side."""
    return np.asarray((windows.split - windows.low >= SIDE) & (windows.high - windows.split >= SIDE))


def require_testable(windows: Windows) -> Windows:
    """Return the testable instants.

    Raises
    ------
    Unmeasurable
        ``too_few_frames`` when they are fewer than 8, or than a third of all instants.
    """
    chosen = can_test(windows)
    found, total = int(chosen.sum()), len(chosen)
    if found < LEAST_FRAMES or 3 * found < total:
        raise Unmeasurable("too_few_frames", f"a step can be tested at {found} of {total} instants")
    return windows.take(chosen)


def fit_steps(t: Floats, windows: Windows, coordinates: Coordinates) -> Steps:
    """Return the fitted steps of testable `windows` over the eligible frames at times `t` (n,) [s].

    Where the step does not explain the window and leaves more than 2 sd, the 4 samples nearest the gap on each side
    are tried, and used if the step explains those.
    """
    whole, loud = _fit(t, windows, coordinates)
    again = np.nonzero(~whole.explained & loud)[0]
    if len(again) == 0:
        return whole
    narrow, _ = _fit(t, windows.take(again).narrowed(), coordinates)
    better = narrow.explained
    for field, retried in zip(whole, narrow, strict=True):
        field[again[better]] = retried[better]
    return whole


def _fit(t: Floats, windows: Windows, coordinates: Coordinates) -> tuple[Steps, Bools]:
    """Return the steps of windows as they are, and where the step model leaves more than 2 sd."""
    index, real = windows.frames()
    x, covariance, whitener = coordinates(windows)
    x = np.where(real[..., None], x, 0.0)
    s = np.where(real, t[index] - windows.tau[:, None], 0.0)
    reach = np.abs(s).max(axis=1, keepdims=True)
    # Times in units of the window keep the powers comparable.
    u = s / reach
    after = np.asarray(real & (index >= windows.split[:, None]), dtype=np.float64)
    one = real.astype(np.float64)
    inverse = np.linalg.pinv(np.stack([one, u, 0.5 * u * u, after, after * u], axis=-1))
    parameters = inverse @ x
    step = np.stack([one, u, 0.5 * u * u, after, after * u], axis=-1) @ parameters
    q, _ = np.linalg.qr(np.stack([one, u, u**2, u**3, u**4], axis=-1))
    smooth = q @ (np.swapaxes(q, -1, -2) @ x)
    n = 3.0 * real.sum(axis=1)
    r1, r4 = (np.sqrt(np.sum(np.square((x - m) @ whitener), axis=(1, 2)) / n) for m in (step, smooth))
    loud = np.asarray(r1 > _HIGH)
    explained = r1 <= np.where(loud, _LOUD, _QUIET) * r4
    excess = np.maximum(1.0, r1 * r1 * n / (n - _UNKNOWNS))
    variances = np.sum(inverse * inverse, axis=-1)
    c_pp, c_vv = variances[:, 3], variances[:, 4] / reach[:, 0] ** 2
    jump_covariance, rate_covariance = ((excess * c)[:, None, None] * covariance for c in (c_pp, c_vv))
    jump, rate = parameters[:, 3], parameters[:, 4] / reach
    steps = Steps(windows.tau, windows.contact, jump, rate, jump_covariance, rate_covariance, explained, c_pp)
    return steps, loud


def step_sizes(steps: Steps, k: float, dt: float) -> Floats:
    """Return the proven size (n,) of each step, in the unit of the coordinates.

    ``sqrt(P(J)^2 + (0.25 s P(J_rate))^2)`` where the step explains the window, else 0; at a contact only what of the
    jump exceeds the velocity step within one frame, whether or not the smooth model does as well.
    """
    jump = proven_part(steps.jump, steps.jump_covariance, k)
    rate = proven_part(steps.rate, steps.rate_covariance, k)
    free = np.where(steps.explained, np.hypot(jump, _FELT * rate), 0.0)
    struck = np.maximum(0.0, jump - np.linalg.norm(steps.rate, axis=-1) * dt)
    return np.asarray(np.where(steps.contact, struck, free))
