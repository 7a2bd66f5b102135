"""Leaderboards as Markdown and JSON, over the models of one run or of several."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from pvbench_suite.dimensions import LAYER_NAMES, Registry
from pvbench_suite.results import Row
from pvbench_suite.stats.cells import SCHEMA, Cell
from pvbench_suite.stats.ranking import KEYS, Board, Entry, RankTable, leaderboard
from reports.text import NONE, clean, markdown, number, percent, share, signed, span, table


def over_runs(runs: Mapping[str, Sequence[Row]], registry: Registry, keys: Sequence[str] = KEYS) -> tuple[Board, ...]:
    """Return the boards over several runs, given by name.

    A model that occurs in more than one run gets the run's name in front, so that neither overwrites the other.
    """
    models = {name: {str(row.get("model")) for row in rows} for name, rows in runs.items()}
    times = Counter(model for found in models.values() for model in found)
    rows = [
        {**row, "model": f"{name}/{row.get('model')}"} if times[str(row.get("model"))] > 1 else row
        for name, found in runs.items()
        for row in found
    ]
    return leaderboard(rows, registry, keys)


def leaderboard_json(boards: Sequence[Board]) -> str:
    """Return ``leaderboard.json``: strict JSON, the same bytes for the same rows."""
    content = {"schema": SCHEMA, "boards": [board.to_json() for board in boards]}
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def leaderboard_markdown(boards: Sequence[Board]) -> str:
    """Return ``leaderboard.md``: one table for each cell, modality, profile and way of scoring."""
    lines = ["# PVBench leaderboard", ""]
    for board in boards:
        lines += [f"## {title(board)}", ""]
        if not board.tables:
            lines += ["No model can be ranked.", ""]
        for ranked in board.tables:
            lines += [*_ranked(ranked, len(board.tables) > 1), ""]
        if board.unranked:
            lines += ["Not ranked:", ""]
            lines += [f"- {markdown(u.model)}: {markdown(u.reason)}{_beside(u.cell)}" for u in board.unranked]
            lines.append("")
    lines.append(
        'Models are ordered by their full mean. "Ahead of the next" is the paired difference on the clips that both '
        'have scored, with its 95 % interval; "not decided" means that the two cannot be told apart.'
    )
    return "\n".join(lines) + "\n"


def title(board: Board) -> str:
    """Return what a board ranks by, for Markdown."""
    name = LAYER_NAMES.get(board.key)
    key = f"{board.key} {name}" if name else board.key
    return f"{markdown(key)}, {board.modality.upper()}, profile {markdown(board.profile)}"


def _ranked(ranked: RankTable, several: bool) -> list[str]:
    head = ["rank", "model", "score", "95 % interval", "scored", "worst case", "measured only", "ahead of the next"]
    rows = [_entry(entry) for entry in ranked.entries]
    lines = table(head, rows, left=2)
    if several:
        scorers = ", ".join(markdown(s) for s in ranked.scorers) or NONE
        lines = [
            f"Scored by {scorers}, thresholds {ranked.thresholds} (not comparable with the other tables):",
            "",
            *lines,
        ]
    return lines


def _entry(entry: Entry) -> list[str]:
    mean, cell = entry.cell.by_dimension, entry.cell
    return [
        str(entry.rank),
        markdown(entry.model),
        number(mean.score),
        span(mean.low, mean.high),
        f"{share(cell.scored, cell.planned)} ({percent(cell.coverage)})",
        number(mean.worst_case),
        number(mean.measured_only),
        markdown(ahead(entry)),
    ]


def ahead(entry: Entry) -> str:
    """Return the paired difference to the next model in words, or why there is none."""
    found = entry.ahead
    if found is None:
        return clean(entry.note) or NONE
    if found.difference is None:
        return clean(found.why)
    verdict = "" if found.verdict == "higher" else f", {found.verdict} ({found.why})"
    return f"{signed(found.difference)} {span(found.low, found.high)} on {found.pairs} pairs{verdict}"


def _beside(cell: Cell) -> str:
    """Return the score that a model without a rank has nevertheless, with its coverage."""
    mean = cell.by_dimension
    if mean.score is None:
        return f" ({share(cell.scored, cell.planned)} scored)" if cell.planned else ""
    return f" (score {number(mean.score)} {span(mean.low, mean.high)}, {share(cell.scored, cell.planned)} scored)"
