"""The 46 dimension ids and the 23 pairs, as the prompt suite counts them; read from `pvbench_suite.dimensions`."""

from __future__ import annotations

import difflib

from pvbench_suite import dimensions


def dimension_ids() -> tuple[str, ...]:
    """Return the 46 dimension ids in the order of the specification."""
    return tuple(d.id for d in dimensions.load().dimensions)


def pairs() -> tuple[tuple[str, str], ...]:
    """Return the 23 pairs of the hybrid part, in order; every dimension stands in exactly one."""
    return dimensions.load().pairs()


def judged_ids() -> frozenset[str]:
    """Return the ids whose score a judge gives (paradigms ii and iii), which therefore need a judge note."""
    return frozenset(d.id for d in dimensions.load().dimensions if d.paradigm != "i")


def nearest_dimension(text: str) -> str:
    """Return the known dimension id that looks most like `text`, for error messages."""
    found = difflib.get_close_matches(text.upper(), dimension_ids(), n=1, cutoff=0.0)
    return found[0] if found else dimension_ids()[0]
