"""Quantity -> 1..5 -> percentile.

The paper fixes: smaller-is-better quantities get 5 / 4 / 3 / 2 strictly below the 1st / 2nd / 3rd / 4th cut, else 1;
larger-is-better ones
strictly above.  The percentile scale is the suite's choice: (mean score - 1) / 4 * 100.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

Direction = Literal["smaller", "larger"]


def grade(value: float, cuts: Sequence[float], direction: Direction) -> int:
    """Return the score 1..5 of `value`.

    Parameters
    ----------
    value : float
        The measured quantity, in the unit of the cuts.
    cuts : sequence of 4 float
        Strictly monotone, best first.
    direction : {"smaller", "larger"}
        Which side is better.

    Raises
    ------
    ValueError
        If `value` is not finite: a quantity that was not measured has a state, not a score.

    Examples
    --------
    >>> grade(14.9, [12.5, 15.0, 22.5, 30.0], "smaller"), grade(15.0, [12.5, 15.0, 22.5, 30.0], "smaller")
    (4, 3)
    """
    if not math.isfinite(value):
        raise ValueError(f"cannot grade {value!r}: only finite quantities have a score")
    for score, cut in zip((5, 4, 3, 2), cuts, strict=True):
        if (value < cut) if direction == "smaller" else (value > cut):
            return score
    return 1


def percentile(mean_score: float) -> float:
    """Return a mean score in [1, 5] on the percentile scale [0, 100].

    Examples
    --------
    >>> percentile(1), percentile(3), percentile(5)
    (0.0, 50.0, 100.0)
    """
    return (mean_score - 1.0) / 4.0 * 100.0
