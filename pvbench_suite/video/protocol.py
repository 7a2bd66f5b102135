"""The protocol of a run: 720p, 10 seconds, a plausible constant rate; what differs is a warning, no error.

Sources: size and length are fixed by the paper (spec ``benchmark.md``); the paper gives no rate, so its bounds are the
suite's.
"""

from __future__ import annotations

from dataclasses import dataclass

from pvbench_suite.video.types import Probe


@dataclass(frozen=True, slots=True)
class Expected:
    """What the videos of a run should be like; None leaves a point unchecked.

    Parameters
    ----------
    short_side : int or None
        The shorter side as displayed [px].
    seconds : float or None
        Length [s]; `seconds_tolerance` [s] either way is accepted (241 frames at 24 per second are 10.04 s).
    rate : float or None
        Rate [frame/s], to one percent; None accepts anything within `rates`.
    rates : (float, float)
        Lowest and highest plausible rate [frame/s].
    """

    short_side: int | None = 720
    seconds: float | None = 10.0
    seconds_tolerance: float = 0.25
    rate: float | None = None
    rates: tuple[float, float] = (8.0, 60.0)


PAPER = Expected()


def size_warning(probe: Probe, expect: Expected = PAPER) -> str | None:
    """Return the clause about a frame size that differs, or None."""
    height, width = probe.hw
    if expect.short_side is None or min(height, width) == expect.short_side:
        return None
    return f"size {width}x{height}, not {expect.short_side}p"


def length_warning(probe: Probe, expect: Expected = PAPER) -> str | None:
    """Return the clause about a length that differs or is not known, or None."""
    if expect.seconds is None:
        return None
    if probe.frames == 1:
        return f"one frame, not {expect.seconds:g} s"
    if probe.seconds is not None and abs(probe.seconds - expect.seconds) <= expect.seconds_tolerance:
        return None
    length = "unknown" if probe.seconds is None else f"{probe.seconds:.3g} s"
    return f"length {length}, not {expect.seconds:g} s"


def rate_warning(probe: Probe, expect: Expected = PAPER) -> str | None:
    """Return the clause about a rate that differs or is not plausible, or None."""
    if probe.rate is None:
        return None
    if expect.rate is not None:
        return (
            None if abs(probe.rate / expect.rate - 1) <= 0.01 else f"rate {probe.rate:.4g} fps, not {expect.rate:g} fps"
        )
    low, high = expect.rates
    # A hundredth of slack: 59.94 and 60 are neighbours, and rounded timestamps shift the rate a little.
    if 0.99 * low <= probe.rate <= 1.01 * high:
        return None
    return f"rate {probe.rate:.4g} fps, outside {low:g} to {high:g} fps"


def vfr_warning(probe: Probe) -> str | None:
    """Return the clause about a variable rate, or None."""
    return f"variable rate around {probe.rate:.4g} fps" if probe.vfr and probe.rate is not None else None


def protocol_warnings(probe: Probe, expect: Expected = PAPER) -> tuple[str, ...]:
    """Return every deviation from the protocol as a short clause, in the order size, length, rate, variable rate."""
    clauses = (
        size_warning(probe, expect),
        length_warning(probe, expect),
        rate_warning(probe, expect),
        vfr_warning(probe),
    )
    return tuple(clause for clause in clauses if clause)
