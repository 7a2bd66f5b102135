"""Writes every report of some rows into a folder, each file in one step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pvbench_suite.dimensions import Registry
from pvbench_suite.errors import UserError
from pvbench_suite.files import write_atomic
from pvbench_suite.results import Row
from pvbench_suite.stats.aggregate import summarize
from pvbench_suite.stats.ranking import leaderboard
from reports.html import html_page
from reports.leaderboard import leaderboard_json, leaderboard_markdown
from reports.summary import summary_json, summary_markdown
from reports.tables import csv_text


def build(
    rows: Sequence[Row], registry: Registry, out: Path, not_applicable: Mapping[str, int] | None = None
) -> list[Path]:
    """Write all reports into `out` and return their paths.

    Parameters
    ----------
    rows : sequence of dict
        Journal rows, of one model or several.
    registry : Registry
        The dimensions and domains.
    out : Path
        The folder; made if it is not there.
    not_applicable : mapping of str to int, optional
        How many pairs were not planned because the dimension does not apply, by dimension.

    Raises
    ------
    UserError
        If a row cannot be counted or the folder cannot be written; no file is left half written.
    """
    rows = list(rows)
    summary = summarize(rows, registry, not_applicable)
    boards = leaderboard(rows, registry, summary=summary)
    contents = {
        "results.csv": csv_text(rows),
        "summary.json": summary_json(summary),
        "summary.md": summary_markdown(summary),
        "leaderboard.json": leaderboard_json(boards),
        "leaderboard.md": leaderboard_markdown(boards),
        "report.html": html_page(summary, boards, rows, registry),
    }
    return [write(out / name, content) for name, content in contents.items()]


def write(path: Path, content: str) -> Path:
    """Write `content` beside `path` and rename it, so that a reader sees the old or the new file, never a part.

    Raises
    ------
    UserError
        If the folder cannot be written.
    """
    try:
        # Lone surrogates, from file names that are no UTF-8, are shown as "?".
        write_atomic(path, content.encode("utf-8", errors="replace"))
    except OSError as error:
        raise UserError(f"the report {path} cannot be written: {error.strerror}; give --pv-report-dir") from None
    return path
