"""Judged rows of finished runs, for the studies of agreement, discriminability and health."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from pvbench_suite.errors import UserError
from pvbench_suite.judge.settings import judge_name
from pvbench_suite.rebuild import journals
from pvbench_suite.results import Row, settled
from pvbench_suite.stats.sample import event_absent

#: Scorers that are no judge.
_NO_JUDGE = ("", "cuts", "no-judge")
#: Fewest pairs for a rank correlation.
LEAST_PAIRS = 3


def read(folders: Sequence[Path]) -> list[Row]:
    """Return the rows that count in every journal at or below `folders`.

    Raises
    ------
    UserError
        If a folder holds no journal.
    """
    where = dict.fromkeys(found.resolve() for folder in folders for found in journals(folder))
    return [row for folder in where for row in settled(folder)]


def who(row: Row) -> str | None:
    """Return who scored a row: "cuts", or a judge without its dimension's digest; None where nobody did."""
    scorer = str(row.get("scorer") or "")
    if row["state"] != "scored" or event_absent(row):
        return None
    return scorer if scorer == "cuts" else None if scorer in _NO_JUDGE else judge_name(scorer)


def judged(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the scored rows of each judge, by its name."""
    out: dict[str, list[Row]] = {}
    for row in rows:
        name = who(row)
        if name not in (None, "cuts"):
            out.setdefault(str(name), []).append(row)
    return out


def rank_correlation(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Return Spearman's coefficient of two series of equal length, ties by mean ranks.

    None with fewer than three pairs, and where one series is constant: then it does not exist.
    """
    if len(a) < LEAST_PAIRS or len(set(a)) == 1 or len(set(b)) == 1:
        return None
    return float(spearmanr(np.asarray(a, dtype=float), np.asarray(b, dtype=float)).statistic)


def number(value: float | None, digits: int = 2) -> str:
    """Return a number for a table, or a hyphen where there is none."""
    return "-" if value is None else f"{value:.{digits}f}"


def needed(count: int, what: str) -> None:
    """Raise `UserError` if there is nothing to work on."""
    if not count:
        raise UserError(f"{what}; score a run with --pv-judge-url first")
