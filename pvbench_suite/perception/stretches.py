"""Stretches of time that several profiles look at: runs of frames, and what is usual within a second."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: The usual value is the median over this time [s]: an object that comes nearer grows.
USUAL = 1.0


def runs(flags: NDArray[np.bool_]) -> list[slice]:
    """Return the runs of true `flags` (T,)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [slice(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def usual(values: Floats, times: Floats) -> Floats:
    """Return the median (T,) of the finite `values` (T,) within a second of `times` (T,) [s], NaN where none are."""
    out = np.full(len(values), np.nan)
    for t in range(len(values)):
        near = values[(np.abs(times - times[t]) <= USUAL / 2) & np.isfinite(values)]
        if len(near):
            out[t] = float(np.median(near))
    return out
