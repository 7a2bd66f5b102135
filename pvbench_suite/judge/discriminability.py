"""``pvbench judge discriminability``: how well numbers and judges tell videos apart (the paper's Table 7).

Conventions
-----------
Only the physical layer counts.  Entropy is in bits over the five scores (at most log2 5 = 2.32).  The variance between
dimensions is the sample variance (n - 1) of the dimensions' mean scores on the scale 1 to 5.  Ratings are people's, on
any scale where more is better.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pvbench_suite.dimensions import Registry
from pvbench_suite.errors import UserError
from pvbench_suite.judge.agree import expected
from pvbench_suite.judge.journals import needed, number, rank_correlation, who
from pvbench_suite.results import Row
from pvbench_suite.stats.health import entropy

#: (model or empty, video, dimension) -> mean rating.
Ratings = Mapping[tuple[str, str, str], float]


@dataclass(frozen=True)
class Discriminability:
    """How one scorer used its scale over `dimensions` physical dimensions and `n` pairs.

    `rho` is Spearman's coefficient with the `rated` pairs that have ratings, `rho_expected` that of expected scores.
    """

    scorer: str
    dimensions: tuple[str, ...]
    n: int
    entropy: float | None
    variance: float | None
    share_at_5: float | None
    rated: int
    rho: float | None
    rho_expected: float | None


def discriminability(
    rows: Iterable[Row], registry: Registry, ratings: Ratings | None = None
) -> tuple[list[Discriminability], list[Discriminability]]:
    """Return the table over each scorer's own physical dimensions, and that over the dimensions that all have.

    Raises
    ------
    UserError
        If no physical dimension was scored.
    """
    by_scorer: dict[str, list[Row]] = {}
    for row in rows:
        name = who(row)
        if name is not None and registry.get(row["dimension"]).layer == "L3":
            by_scorer.setdefault(name, []).append(row)
    needed(len(by_scorer), "discriminability: no physical dimension is scored")
    shared = set.intersection(*({row["dimension"] for row in mine} for mine in by_scorer.values()))
    given = ratings or {}
    own = [_row(name, by_scorer[name], given) for name in sorted(by_scorer)]
    common = [
        _row(name, [row for row in by_scorer[name] if row["dimension"] in shared], given) for name in sorted(by_scorer)
    ]
    return own, common if shared and len(by_scorer) > 1 else []


def _row(name: str, rows: list[Row], ratings: Ratings) -> Discriminability:
    scores: dict[str, list[int]] = {}
    for row in rows:
        scores.setdefault(row["dimension"], []).append(row["score"])
    everything = [s for mine in scores.values() for s in mine]
    means = [float(np.mean(mine)) for mine in scores.values()]
    rated = [(row, rating) for row in rows if (rating := _rating(row, ratings)) is not None]
    wide = [(e, rating) for row, rating in rated if (e := expected(row)) is not None]
    return Discriminability(
        name,
        tuple(sorted(scores)),
        len(everything),
        entropy(Counter(everything).values()),
        float(np.var(means, ddof=1)) if len(means) > 1 else None,
        everything.count(5) / len(everything) if everything else None,
        len(rated),
        rank_correlation([row["score"] for row, _ in rated], [rating for _, rating in rated]),
        rank_correlation([e for e, _ in wide], [rating for _, rating in wide]),
    )


def _rating(row: Row, ratings: Ratings) -> float | None:
    video, dimension = str(row["video"]), str(row["dimension"])
    return ratings.get((str(row["model"]), video, dimension), ratings.get(("", video, dimension)))


def read_ratings(path: Path) -> Ratings:
    """Return the ratings in a CSV with the columns video, dimension, rating and, if need be, model.

    Several ratings of one pair are averaged.

    Raises
    ------
    UserError
        If the file cannot be read, lacks a column, or holds a rating that is no finite number; names the line.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            table = csv.DictReader(file)
            if missing := {"video", "dimension", "rating"} - set(table.fieldnames or ()):
                raise UserError(
                    f"{path}: has no column {sorted(missing)[0]!r}; needs video, dimension, rating, [model]"
                )
            sums: dict[tuple[str, str, str], list[float]] = {}
            for line in table:
                key = (line.get("model") or "", line["video"] or "", line["dimension"] or "")
                sums.setdefault(key, []).append(_finite(line["rating"], path, table.line_num))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return {key: sum(values) / len(values) for key, values in sums.items()}


def _finite(text: str | None, path: Path, line: int) -> float:
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UserError(f"{path}: line {line}: rating {(text or '')[:20]!r} is not a number")
    return value


def lines(own: list[Discriminability], common: list[Discriminability]) -> list[str]:
    """Return both tables as lines of text."""
    out = _table("each scorer on its own physical dimensions", own)
    if common:
        out += _table(f"all on the {len(common[0].dimensions)} dimensions that every scorer has", common)
    elif len(own) > 1:
        out.append("no dimension was scored by all of them")
    return out


def _table(title: str, rows: list[Discriminability]) -> list[str]:
    width = max(len(r.scorer) for r in rows)
    head = f"{'scorer':<{width}} dims pairs entropy variance at 5  Spearman (n)  expected"
    body = [
        f"{r.scorer:<{width}} {len(r.dimensions):>4} {r.n:>5} {number(r.entropy):>7} {number(r.variance):>8} "
        f"{number(r.share_at_5):>5} {number(r.rho):>8} ({r.rated}) {number(r.rho_expected):>8}"
        for r in rows
    ]
    return [f"{title}:", head, *body]
