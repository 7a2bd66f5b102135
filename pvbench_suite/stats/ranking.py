"""Leaderboards: models ordered by their full mean, and below them those that cannot be ranked, with the reason.

Conventions
-----------
Only results of one modality and profile stand in one board, and only those scored alike (scorers, thresholds,
providers) in one table of it.  The order is that of the full mean of each model, never of a mean over clips that all
models share; the paired comparison with the next model says beside it whether the two can be told apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pvbench_suite.dimensions import Registry
from pvbench_suite.errors import UserError
from pvbench_suite.results import Row, latest
from pvbench_suite.stats.aggregate import summarize
from pvbench_suite.stats.cells import Cell, Difference, Result, Summary, plain
from pvbench_suite.stats.compare import difference
from pvbench_suite.stats.sample import check, samples

#: What is ranked when nothing else is asked for.
KEYS = ("overall", "L1", "L2", "L3")


@dataclass(frozen=True, slots=True)
class Entry:
    """One ranked model; `ahead` is its paired difference to the next one, None for the last."""

    rank: int
    model: str
    cell: Cell
    ahead: Difference | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Unranked:
    """A model without a rank, and why."""

    model: str
    cell: Cell
    reason: str


@dataclass(frozen=True, slots=True)
class RankTable:
    """Models that were scored alike, best first."""

    scorers: tuple[str, ...]
    thresholds: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Board:
    """The ranking by one cell in one modality and profile."""

    key: str
    modality: str
    profile: str
    tables: tuple[RankTable, ...]
    unranked: tuple[Unranked, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the board as plain JSON types."""
        return dict(plain(self))


def leaderboard(
    rows: Iterable[Row], registry: Registry, keys: Sequence[str] = KEYS, summary: Summary | None = None
) -> tuple[Board, ...]:
    """Return one board for each key, modality and profile.

    Parameters
    ----------
    rows : iterable of dict
        Journal rows of any number of models.
    registry : Registry
        The dimensions and domains.
    keys : sequence of str
        Cells to rank by: ``overall``, a layer, a domain or a dimension.
    summary : Summary, optional
        The summary of the same rows, if it is at hand.
    """
    checked = latest(check(rows, registry))
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in (summary or summarize(checked, registry)).results:
        groups.setdefault((result.profile, result.modality), []).append(result)
    order = sorted(groups, key=lambda key: (key[0], key[1] != "t2v", key[1]))
    return tuple(_board(key, groups[group], checked, registry) for group in order for key in keys)


def unranked_reason(cell: Cell) -> str:
    """Return why the cell cannot be ranked, or an empty text if it can."""
    for code in ("incomplete:", "mixed", "not planned:", "partial:"):
        for flag in cell.flags:
            if flag.startswith(code):
                return flag
    return "" if cell.score is not None else "no scored pair"


def _board(key: str, results: Sequence[Result], rows: Sequence[Row], registry: Registry) -> Board:
    ranked = [r for r in results if not unranked_reason(r.cell(key))]
    unranked = [r for r in results if unranked_reason(r.cell(key))]
    own = {
        r.model: [row for row in rows if all(row.get(k) == getattr(r, k) for k in ("model", "modality", "profile"))]
        for r in ranked
    }
    products = set.intersection(*(set(r.providers) for r in ranked)) if ranked else set()
    alike: dict[Any, list[Result]] = {}
    for r in ranked:
        providers = tuple((p, r.providers[p]) for p in sorted(products))
        scorers = tuple((s.dimension.id, s.scorers) for s in _members(own[r.model], r.cell(key), registry))
        alike.setdefault((scorers, providers), []).append(r)
    tables = tuple(_table(key, members, own, registry) for _, members in sorted(alike.items(), key=lambda i: str(i[0])))
    below = sorted(unranked, key=lambda r: r.model)
    return Board(
        key,
        results[0].modality,
        results[0].profile,
        tables,
        tuple(Unranked(r.model, r.cell(key), unranked_reason(r.cell(key))) for r in below),
    )


def _members(rows: Sequence[Row], cell: Cell, registry: Registry) -> list[Any]:
    """Return the samples of the dimensions that enter a cell."""
    inside = {"dimension": "id", "domain": "domain", "layer": "layer"}.get(cell.kind)
    dimensions = [d for d in registry.dimensions if inside is None or getattr(d, inside) == cell.key]
    return [s for s in samples(rows, dimensions) if s.rows]


def _table(key: str, members: Sequence[Result], own: Mapping[str, Sequence[Row]], registry: Registry) -> RankTable:
    ordered = sorted(members, key=lambda r: (-(r.cell(key).score or 0.0), r.model))
    entries: list[Entry] = []
    for place, result in enumerate(ordered):
        here = result.cell(key)
        rank = place + 1
        if entries and abs((entries[-1].cell.score or 0.0) - (here.score or 0.0)) < 1e-9:
            rank = entries[-1].rank
        ahead, note = None, ""
        if place + 1 < len(ordered):
            ahead, note = _ahead(key, result, ordered[place + 1], own, registry)
        entries.append(Entry(rank, result.model, here, ahead, note))
    first = ordered[0]
    return RankTable(first.cell(key).scorers, first.thresholds, tuple(entries))


def _ahead(
    key: str, result: Result, following: Result, own: Mapping[str, Sequence[Row]], registry: Registry
) -> tuple[Difference | None, str]:
    """Return the paired difference to the next model, or why there is none."""
    names = (following.model, result.model)
    try:
        found = difference(
            own[following.model], own[result.model], registry, names, result.modality, result.profile, (key,)
        )
    except UserError as error:
        return None, str(error)
    return found.cells[key], ""
