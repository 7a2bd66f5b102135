"""The worst of several objects: how a per-object kernel becomes the number of a video (spec ``physics.md`` section 0).

Conventions
-----------
Objects are numbered 0 to n-1.  An object that cannot be measured neither lowers nor raises the number; the evidence
names it with its reason.
"""

from __future__ import annotations

from collections.abc import Callable

from pvbench_suite.errors import EVENT_REASONS, Unmeasurable
from pvbench_suite.measurement import Measurement


def worst(measure: Callable[[int], Measurement], n: int, larger_better: bool = False) -> Measurement:
    """Return the worst measurement over the objects that can be measured.

    Parameters
    ----------
    measure : callable
        Gives the measurement of object i, or raises `Unmeasurable`.
    n : int
        How many objects there are.
    larger_better : bool
        True when the smallest value is the worst.

    Returns
    -------
    Measurement
        That of the worst object (the first of ties), with ``object`` (its number), ``objects`` (every object's value,
        None where it has none) and ``reasons`` (every object's reason, None where it has a value) in its evidence.

    Raises
    ------
    Unmeasurable
        ``no_object`` when `n` is 0.  When no object can be measured, the reason that tells most: the most frequent
        event reason (the first of ties), else the most frequent perception reason; detectable only if it is for all.
    """
    if n <= 0:
        raise Unmeasurable("no_object", "there is no object to measure")
    found: dict[int, Measurement] = {}
    missed: dict[int, Unmeasurable] = {}
    for i in range(n):
        try:
            found[i] = measure(i)
        except Unmeasurable as error:
            missed[i] = error
    if not found:
        raise _most_informative(list(missed.values()))
    sign = -1.0 if larger_better else 1.0
    index = max(found, key=lambda i: sign * found[i].value)
    m = found[index]
    evidence = {
        **m.evidence,
        "object": index,
        "objects": [found[i].value if i in found else None for i in range(n)],
        "reasons": [missed[i].reason if i in missed else None for i in range(n)],
    }
    return Measurement(m.value, m.n, m.spread, evidence, m.assumed)


def _most_informative(errors: list[Unmeasurable]) -> Unmeasurable:
    """Return the one error that stands for all objects."""
    events = [e for e in errors if e.reason in EVENT_REASONS]
    pool = events or errors
    reasons = [e.reason for e in pool]
    chosen = next(e for e in pool if reasons.count(e.reason) == max(map(reasons.count, reasons)))
    # One object that perception lost might have shown the event, so only a clean sweep may earn an event_absent.
    detectable = len(events) == len(errors) and all(e.detectable for e in errors)
    return Unmeasurable(chosen.reason, chosen.detail, detectable=detectable)
