"""`Measurement`: what a kernel returns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Measurement:
    """The number of one dimension on one video, with what a reader needs to trust it.

    Parameters
    ----------
    value : float
        The quantity, in the unit of the dimension's table; finite.
    n : int
        How many events, frames, pairs or points made it.
    spread : float or None
        Robust spread (1.4826 MAD) or standard error of the parts, in the same unit; None where it has no meaning.
    evidence : mapping of str to array or scalar
        The few small arrays that a plot needs, and evidence-only numbers.
    assumed : tuple of str
        Named assumptions that entered ("planar", "rigid", "earth", ...); written into the row.
    """

    value: float
    n: int
    spread: float | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise ValueError(f"a Measurement needs a finite value, got {self.value!r}")
