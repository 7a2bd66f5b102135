"""Timestamps: from what a container says to strictly increasing times, and the rate they imply.

Conventions
-----------
Times in seconds [s], shape (T,); NaN marks a frame without a timestamp.  Time is never frame index / rate, unless
nothing else is there, and then a warning says so.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Share of frames with sound timestamps above which the rest is interpolated; below it, the steps are summed instead.
_SOUND = 0.8
#: Two timestamps closer than this are one: no container counts finer than that for a visible step [s].
_FINEST = 1e-6


def _rising(stamps: Floats) -> list[int]:
    """Return the indices of a longest strictly increasing run of finite timestamps, in order."""
    tails: list[float] = []
    last: list[int] = []
    before = [-1] * len(stamps)
    for k, stamp in enumerate((np.round(stamps / _FINEST)).tolist()):
        if not np.isfinite(stamp):
            continue
        place = bisect_left(tails, stamp)
        before[k] = last[place - 1] if place else -1
        if place == len(tails):
            tails.append(stamp)
            last.append(k)
        else:
            tails[place], last[place] = stamp, k
    chain, k = [], last[-1] if last else -1
    while k >= 0:
        chain.append(k)
        k = before[k]
    return chain[::-1]


def _usual_step(stamps: Floats, nominal: float | None) -> float | None:
    """Return the median of the positive steps between neighbours [s], else `nominal`."""
    steps = np.diff(stamps)
    steps = steps[np.isfinite(steps) & (steps > _FINEST)]
    return float(np.median(steps)) if len(steps) else nominal


def repair(stamps: Sequence[float | None], nominal: float | None) -> tuple[Floats, tuple[str, ...]]:
    """Return strictly increasing times (T,) [s], the first at 0, and the warnings about what was repaired.

    A few missing, repeated or disordered timestamps are interpolated between their sound neighbours.  Where many are
    unsound (a jump back to 0 in joined recordings), the sound steps are summed and the others replaced by the usual
    step.

    Parameters
    ----------
    stamps : sequence of float or None, (T,)
        Timestamps in the order of display [s]; None where there is none.
    nominal : float or None
        Step that the container declares [s], used only where no two timestamps differ.

    Raises
    ------
    ValueError
        If there are several frames, no two of them with different timestamps, and no nominal step.
    """
    raw = np.array([np.nan if stamp is None else stamp for stamp in stamps], dtype=np.float64)
    if len(raw) < 2:
        return np.zeros(len(raw)), ()
    if np.all(np.diff(raw) > _FINEST):
        return raw - raw[0], ()
    step = _usual_step(raw, nominal)
    if step is None:
        raise ValueError("no timestamps and no frame rate")
    sound = _rising(raw)
    if len(sound) >= max(2, _SOUND * len(raw)):
        index = np.arange(len(raw), dtype=np.float64)
        times = np.interp(index, sound, raw[sound])
        before, after = index < sound[0], index > sound[-1]
        times[before] = raw[sound[0]] - (sound[0] - index[before]) * step
        times[after] = raw[sound[-1]] + (index[after] - sound[-1]) * step
        clause = f"{len(raw) - len(sound)} of {len(raw)} timestamps missing or out of order, interpolated"
    else:
        steps = np.diff(raw)
        unsound = ~(np.isfinite(steps) & (steps > _FINEST))
        steps[unsound] = step
        times = np.concatenate([[0.0], np.cumsum(steps)])
        clause = (
            f"{int(unsound.sum())} of {len(steps)} time steps missing or not positive, replaced by {step * 1e3:.4g} ms"
        )
    return times - times[0], (clause,)


def rate_of(times: Floats, tick: float | None = None) -> tuple[float | None, bool]:
    """Return the rate [frame/s], None for one frame, and whether the rate is variable.

    The rate is that of the usual steps, those within a quarter of the median, averaged: timestamps rounded to
    milliseconds (33, 33, 34) then still give 30.  A step is unusual beyond a fifth of the median and beyond one `tick`
    of the time base [s].
    """
    if len(times) < 2:
        return None, False
    steps = np.diff(times)
    middle = float(np.median(steps))
    # A tick as long as half a frame says nothing about rounding: then each lost frame is one whole tick.
    rounding = 1.1 * tick if tick is not None and tick <= 0.5 * middle else 0.0
    off = np.abs(steps - middle)
    usual = steps[off <= max(0.25 * middle, rounding)]
    step = float(usual.mean()) if len(usual) else middle  # between two unequal steps, none is usual
    return 1.0 / step, bool(np.any(off > max(0.2 * middle, rounding)))


def usual_step(times: Floats) -> float | None:
    """Return the median step between frames [s], or None for one frame."""
    return float(np.median(np.diff(times))) if len(times) > 1 else None
