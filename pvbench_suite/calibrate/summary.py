"""What the runs of one row say: floor, rank correlation, smallest dose told apart, AUC, and their uncertainty.

Conventions
-----------
A run is a number, or the reason why there is none.  Worse is up: where a larger value is better, the signs of the
percentiles turn.  Intervals are the 2.5th and 97.5th percentiles of a bootstrap over runs, dose by dose.  `chance` is
the difference between two tables, both drawn from the runs at hand, that 2.5 % of such pairs exceed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from pvbench_suite.scoring import Direction, grade

Floats = NDArray[np.float64]
Run = float | str

_REPEATS = 1000


def measured(runs: Sequence[Run]) -> Floats:
    """Return the values of the runs that have one."""
    return np.array([r for r in runs if not isinstance(r, str)], dtype=np.float64)


def reasons(runs: Sequence[Run]) -> dict[str, int]:
    """Return how often each reason stands among the runs, the most frequent first."""
    return dict(Counter(r for r in runs if isinstance(r, str)).most_common())


def floor(values: Floats, direction: Direction) -> Floats:
    """Return the 95th percentile of lawful values (..., n), or the 5th where larger is better."""
    return np.asarray(np.percentile(values, 95 if direction == "smaller" else 5, axis=-1))


def auc(lawful: Floats, violating: Floats, direction: Direction) -> Floats:
    """Return the chance (...) that a violating run is worse than a lawful one, ties counting half: 1 is perfect.

    Examples
    --------
    >>> float(auc(np.array([0.0, 1.0]), np.array([1.0, 2.0]), "smaller"))
    0.875
    """
    n, m = lawful.shape[-1], violating.shape[-1]
    ranks = rankdata(np.concatenate([lawful, violating], axis=-1), axis=-1)[..., n:]
    share = (ranks.sum(axis=-1) - 0.5 * m * (m + 1)) / (n * m)
    return np.asarray(share if direction == "smaller" else 1.0 - share)


def spearman(doses: Floats, values: Floats) -> Floats:
    """Return the rank correlation (...) of `doses` (n,) and `values` (..., n); NaN where all values are equal."""
    a = rankdata(doses)
    b = rankdata(values, axis=-1)
    a, b = a - a.mean(), b - b.mean(axis=-1, keepdims=True)
    scale = np.sqrt(np.square(a).sum() * np.square(b).sum(axis=-1))
    return np.asarray((b @ a) / np.where(scale > 0, scale, np.nan))


def smallest(groups: Sequence[Floats], direction: Direction) -> NDArray[np.intp]:
    """Return the index (...) of the least dose whose 5th percentile clears the floor; the number of doses where none.

    `groups` holds the values (..., n_d) of each dose, the lawful ones first.
    """
    limit = floor(groups[0], direction)
    least = np.full(limit.shape, len(groups), dtype=np.intp)
    for k in range(len(groups) - 1, 0, -1):
        if groups[k].shape[-1] == 0:
            continue
        clear = np.percentile(groups[k], 5, axis=-1) > limit
        if direction == "larger":
            clear = np.percentile(groups[k], 95, axis=-1) < limit
        least = np.where(clear, k, least)
    return least


def share_at_5(values: Floats, cuts: Sequence[float], direction: Direction) -> float:
    """Return the share of the values that score 5."""
    return float(np.mean([grade(float(v), cuts, direction) == 5 for v in values]))


def summarise(
    doses: Sequence[float], runs: Sequence[Sequence[Run]], cuts: Sequence[float], direction: Direction, seed: int
) -> dict[str, Any]:
    """Return the numbers of one row of ``calibration.json`` (see ``docs/calibration.md``), JSON-ready.

    Parameters
    ----------
    doses : sequence of float
        The first is 0.
    runs : sequence of sequences
        The runs of each dose.
    cuts, direction
        Of the dimension.
    seed : int
        Of the bootstrap.
    """
    values = [measured(r) for r in runs]
    out: dict[str, Any] = {
        "floor": None,
        "spearman": None,
        "auc": None,
        "smallest_dose": None,
        "lawful_share_at_5": None,
        "unmeasurable": reasons([r for group in runs for r in group]),
        "runs": sum(len(r) for r in runs),
        "doses": [_dose(d, r, values[0], cuts, direction) for d, r in zip(doses, runs, strict=True)],
        "interval": {},
        "chance": {},
    }
    if values[0].size == 0:
        return out
    out["lawful_share_at_5"] = share_at_5(values[0], cuts, direction)
    found = _statistics(doses, values, direction, cuts)
    rng = np.random.default_rng(seed)
    drawn = [v[rng.integers(0, v.size, (_REPEATS, v.size))] if v.size else np.empty((_REPEATS, 0)) for v in values]
    spread = _statistics(doses, drawn, direction, cuts)
    for name, value in found.items():
        low, high = _interval(spread[name])
        out["chance"][name] = _chance(spread[name], rng)
        if name == "smallest_dose":
            scale = [*doses, math.inf]
            out[name] = _number(scale[int(value)])
            out["interval"][name] = [None if k is None else _number(scale[math.floor(k)]) for k in (low, high)]
        else:
            out[name] = _number(float(value))
            out["interval"][name] = [low, high]
    return out


def _statistics(
    doses: Sequence[float], groups: Sequence[Floats], direction: Direction, cuts: Sequence[float]
) -> dict[str, Floats]:
    """Return floor, share at 5, and where there are violating runs the rest, of values (..., n_d) by dose."""
    lawful = groups[0]
    good = lawful < cuts[0] if direction == "smaller" else lawful > cuts[0]
    found = {"floor": floor(lawful, direction), "lawful_share_at_5": np.asarray(good.mean(axis=-1))}
    violating = np.concatenate(groups[1:], axis=-1) if len(groups) > 1 else np.empty((*lawful.shape[:-1], 0))
    if violating.shape[-1]:
        dose = np.concatenate([np.full(g.shape[-1], d) for d, g in zip(doses, groups, strict=True)])
        found["auc"] = auc(lawful, violating, direction)
        found["spearman"] = spearman(dose, np.concatenate(groups, axis=-1))
        found["smallest_dose"] = smallest(groups, direction)
    return found


def _dose(
    dose: float, runs: Sequence[Run], lawful: Floats, cuts: Sequence[float], direction: Direction
) -> dict[str, Any]:
    """Return one entry of ``doses``: the median value with its score, spread, AUC against lawful runs, and counts."""
    values = measured(runs)
    entry: dict[str, Any] = {
        "dose": dose,
        "value": None,
        "score": None,
        "n": int(values.size),
        "p05": None,
        "p95": None,
    }
    if values.size:
        median = float(np.median(values))
        low, high = np.percentile(values, [5, 95])
        entry |= {"value": median, "score": grade(median, cuts, direction), "p05": float(low), "p95": float(high)}
    entry["auc"] = float(auc(lawful, values, direction)) if values.size and lawful.size and dose > 0 else None
    entry["unmeasurable"] = reasons(runs)
    return entry


def _interval(sample: Floats) -> tuple[float | None, float | None]:
    """Return the 2.5th and 97.5th percentile of the finite part of a bootstrap sample, or None twice."""
    fine = sample[np.isfinite(sample)]
    return (float(np.percentile(fine, 2.5)), float(np.percentile(fine, 97.5))) if fine.size else (None, None)


def _chance(sample: Floats, rng: np.random.Generator) -> float | None:
    """Return the 97.5th percentile of the difference of two draws of a statistic, of its size where it has a sign.

    Two tables of as many runs from one distribution differ by more than this, to one side, in 2.5 % of cases.
    """
    fine = np.abs(sample[np.isfinite(sample)])
    return float(np.percentile(fine - rng.permutation(fine), 97.5)) if fine.size else None


def _number(x: float) -> float | None:
    """Return `x`, or None where it is not finite: JSON has no NaN."""
    return float(x) if math.isfinite(x) else None
