"""Impacts: instants at which a closing gap turns back at once.

Conventions
-----------
A series (T,) [world units] falls as two things approach; NaN where it is not known.  An impact is a kink: a continuous
series with a step of velocity, whose time is fitted between the frames.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pvbench_suite.perception.derived.scene import Floats

#: Reach of the windows to either side [s], and the fewest samples of each.
SIDE, LEAST = 0.25, 3
#: A step of velocity counts beyond this many standard errors and this many radii per second.
SIGMAS, SPEED = 5.0, 1.5
#: The series falls by at least this many radii within 0.2 s before an impact.
APPROACH = 0.15
#: A smooth curve leaves at least this many times the squared residual of the kink.
BETTER = 1.5


@dataclass(frozen=True)
class Impact:
    """Time [s], step of velocity [units/s], its significance, and the fitted value of the series there."""

    when: float
    step: float
    weight: float
    value: float


def impacts(t: Floats, s: Floats, tolerance: Floats, radius: float, blur: float) -> list[Impact]:
    """Return the impacts of a series `s` (T,) that is within `tolerance` (T,) there, in order of time.

    `radius` is the body's, `blur` the least error that the series can have [world units].
    """
    if len(t) < 2 * LEAST:
        return []
    found: list[Impact] = []
    spots = _candidates(t, s, tolerance, radius)
    for k, spot in enumerate(spots):
        since = t[spots[k - 1]] if k else -np.inf
        until = t[spots[k + 1]] if k + 1 < len(spots) else np.inf
        hit = fit(t, s, float(t[spot]), float(since), float(until), radius, blur)
        if hit is not None and hit.value <= tolerance[spot]:
            found.append(hit)
    out: list[Impact] = []
    dt = float(np.median(np.diff(t)))
    for hit in sorted(found, key=lambda h: -h.weight):
        if all(abs(hit.when - other.when) > 2.0 * dt for other in out):
            out.append(hit)
    return sorted(out, key=lambda h: h.when)


def _candidates(t: Floats, s: Floats, tolerance: Floats, radius: float) -> list[int]:
    """Return the frames of local minima that follow an approach, and of first touches that no minimum follows soon."""
    known = np.flatnonzero(np.isfinite(s))
    dt = float(np.median(np.diff(t)))
    out: list[int] = []
    for k in range(1, len(known) - 1):
        a, b, c = known[k - 1 : k + 2]
        before = known[(known < b) & (t[known] >= t[b] - 0.2 - dt / 2)]
        lowest, first = s[b] <= s[a] and s[b] < s[c], s[b] <= tolerance[b] < s[a]
        # Between two frames the series goes lower than it does at either.
        low = s[b] <= tolerance[b] + 0.6 * float(np.max(np.abs(np.diff(s[known[max(0, k - 2) : k + 3]]))))
        if (lowest or first) and low and np.max(s[before], initial=s[b]) - s[b] >= APPROACH * radius:
            if out and b - out[-1] <= 2:
                out[-1] = int(b) if lowest else out[-1]
            else:
                out.append(int(b))
    return out


def fit(t: Floats, s: Floats, near: float, since: float, until: float, radius: float, blur: float) -> Impact | None:
    """Return the impact within two frames of `near` [s] that fits best, or None where none is proven.

    Only samples between `since` and `until` [s] take part: another impact lies there.
    """
    dt = float(np.median(np.diff(t)))
    chosen = np.isfinite(s) & (np.abs(t - near) <= SIDE + 2.0 * dt) & (t > since) & (t < until)
    x, y = t[chosen], s[chosen]
    best: tuple[float, float, Floats, Floats] | None = None
    for when in near + dt * np.arange(-2.0, 2.05, 0.1):
        left, right = int((x <= when).sum()), int((x > when).sum())
        if min(left, right) < LEAST:
            continue
        design = _design(x - when, min(left, right) >= 4)
        c, *_ = np.linalg.lstsq(design, y, rcond=None)
        rest = float(((y - design @ c) ** 2).sum())
        if best is None or rest < best[0]:
            best = (rest, float(when), np.asarray(c, dtype=float), design)
    if best is None:
        return None
    rest, when, c, design = best
    spare = len(x) - design.shape[1] - 1
    if spare < 1:
        return None
    sd = max(float(np.sqrt(rest / spare)), blur)
    error = sd * float(np.sqrt(np.linalg.inv(design.T @ design)[3, 3]))
    smooth = np.vander(x - near, design.shape[1], increasing=True)
    plain = float(((y - smooth @ np.linalg.lstsq(smooth, y, rcond=None)[0]) ** 2).sum())
    proven = c[3] > max(SIGMAS * error, SPEED * radius) and plain > BETTER * max(rest, spare * blur**2)
    return Impact(when, float(c[3]), float(c[3] / error), float(c[0])) if proven and c[1] < 0 else None


def _design(s: Floats, own: bool) -> Floats:
    """Return the columns 1, s, s^2, H s and, where each side has its `own` bend, H s^2; H = 1 for s > 0."""
    late = np.maximum(s, 0.0)
    columns = [np.ones_like(s), s, s * s, late]
    return np.stack([*columns, late * late] if own else columns, axis=1)
