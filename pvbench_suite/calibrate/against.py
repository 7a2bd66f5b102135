"""A calibration held against an earlier table: which rows are worse by more than chance explains.

Conventions
-----------
The table is a Markdown file like spec ``physics_evidence.md``: cells hold three values, ``low/mid/high``.  A number is
worse when the whole bootstrap interval of ours lies on the bad side of theirs.  That leaves out that their number is a
draw as well: of floors from 30 runs each, with nothing different, 6 to 7 % are called worse.  So each finding also says
whether it is *beyond chance*: whether the difference exceeds what two tables of such runs differ by in 97.5 % of cases.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom, fisher_exact

from pvbench_suite.errors import UserError

#: Words by which a column is known, and what it is called here.
_COLUMNS = {
    "floor": "floor",
    "share5": "lawful_share_at_5",
    "lawful at 5": "lawful_share_at_5",
    "rho": "spearman",
    "smallest": "smallest_dose",
    "nm": "unmeasurable",
}
_NOISES = ("low", "mid", "high")
#: Runs of a row in the table, and the share of equal tables that differ by more than chance to one side.
_THEIR_RUNS, _RARE = 80, 0.025

Reference = dict[str, dict[str, dict[str, float]]]


@dataclass(frozen=True, slots=True)
class Finding:
    """One number of one row at one level that is worse than in the table."""

    name: str
    noise: str
    what: str
    ours: float | None
    interval: tuple[float | None, float | None]
    theirs: float
    beyond: bool

    def cells(self) -> tuple[str, ...]:
        """Return row, level, number, ours with its interval, theirs, and whether chance explains it."""
        low, high = ("-" if x is None else f"{x:.3g}" for x in self.interval)
        ours = "-" if self.ours is None else f"{self.ours:.3g}"
        verdict = "beyond chance" if self.beyond else "within chance"
        return self.name, self.noise, self.what, f"{ours} [{low}, {high}]", f"{self.theirs:.3g}", verdict

    def line(self) -> str:
        """Return the finding as a line for people."""
        name, noise, what, ours, theirs, verdict = self.cells()
        return f"{name} at {noise} noise: {what} {ours}, there {theirs}; {verdict}"


def read(path: Path) -> Reference:
    """Return the rows of every table in a Markdown file, by name, level and number; ``-`` is infinite.

    Raises
    ------
    UserError
        If the file cannot be read or has no such table.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read ({error}); pass a table like physics_evidence.md") from None
    found: Reference = {}
    columns: dict[int, str] = {}
    for line in lines:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.lstrip().startswith("|"):
            columns = {}
        elif cells[0].startswith("dimension (violation)"):
            columns = {k: name for k, cell in enumerate(cells) if (name := _column(cell))}
        elif columns and not set(cells[0]) <= set("-: "):
            found[cells[0].split(" ")[0]] = _levels(cells, columns)
    if not found:
        raise UserError(f"{path}: no table with a column 'dimension (violation)'; pass one like physics_evidence.md")
    return found


def _column(title: str) -> str | None:
    return next((name for word, name in _COLUMNS.items() if title.lower().startswith(word)), None)


def _levels(cells: Sequence[str], columns: Mapping[int, str]) -> dict[str, dict[str, float]]:
    """Return the numbers of one line by level."""
    levels: dict[str, dict[str, float]] = {noise: {} for noise in _NOISES}
    for k, name in columns.items():
        parts = cells[k].split("/") if k < len(cells) else []
        for noise, part in zip(_NOISES, parts, strict=False):
            value = _value(part)
            # Only a smallest dose is infinite where the table has a dash; another number was not to be had.
            if value is not None and (math.isfinite(value) or name == "smallest_dose"):
                levels[noise][name] = value
    return levels


def _value(text: str) -> float | None:
    """Return a cell's number; ``-`` is infinite, ``>=`` and ``<=`` are dropped, anything else is not known."""
    text = text.strip()
    if text == "-":
        return math.inf
    match = re.fullmatch(r"[<>]?=?\s*(-?\d+(?:\.\d+)?(?:e-?\d+)?)", text)
    return float(match[1]) if match else None


def compare(rows: Sequence[Mapping[str, Any]], reference: Reference, larger_better: frozenset[str]) -> list[Finding]:
    """Return what is worse in `rows` (of ``calibration.json``) than in `reference`.

    `larger_better` names the dimensions whose floor is worse when it is lower.
    """
    found = []
    for row in rows:
        theirs = reference.get(row["name"], {}).get(row["noise"], {})
        for what, value in theirs.items():
            finding = _finding(row, what, value, row["dimension"] in larger_better)
            if finding is not None:
                found.append(finding)
    return found


def _finding(row: Mapping[str, Any], what: str, theirs: float, larger: bool) -> Finding | None:
    """Return the finding that one number of a row is worse than `theirs`, or None."""
    if what == "unmeasurable":
        return _unmeasurable(row, theirs)
    low, high = row["interval"].get(what, (None, None))
    ours = row[what]
    if what == "smallest_dose":
        worse = (math.inf if low is None else low) > theirs
    elif low is None or high is None:
        return None
    elif what == "floor":
        worse = high < theirs - 1e-9 if larger else low > theirs + 1e-9
    elif what == "spearman":
        worse = max(abs(low), abs(high)) < abs(theirs) - 5e-3
    else:
        worse = high < theirs - 5e-3
    if not worse:
        return None
    beyond = _difference(row, what, theirs) > (row["chance"].get(what) or 0.0) + 1e-9
    return Finding(row["name"], row["noise"], what, ours, (low, high), theirs, beyond)


def _difference(row: Mapping[str, Any], what: str, theirs: float) -> float:
    """Return how far a number is from `theirs`: without a sign, and smallest doses in steps of the row's doses."""
    ours = math.inf if row[what] is None else float(row[what])
    if what != "smallest_dose":
        return abs(abs(ours) - abs(theirs))
    scale = [entry["dose"] for entry in row["doses"]]
    return float(sum(theirs < dose <= ours for dose in [*scale, math.inf]))


def _unmeasurable(row: Mapping[str, Any], theirs: float) -> Finding | None:
    """Return the finding that more runs than there, beyond chance (2.5 %), were not measurable."""
    count, runs = sum(row["unmeasurable"].values()), int(row["runs"])
    # Two more runs of the table stand for its own chance where it has none.
    rate = min(1.0, (theirs + 2.0) / _THEIR_RUNS)
    if count <= float(binom.ppf(1.0 - _RARE, runs, rate)):
        return None
    table = np.array([[count, runs - count], [int(theirs), _THEIR_RUNS - int(theirs)]])
    beyond = bool(fisher_exact(table, alternative="greater").pvalue < _RARE)
    return Finding(row["name"], row["noise"], "unmeasurable", float(count), (None, None), theirs, beyond)


def markdown(findings: Sequence[Finding], compared: int, path: Path) -> str:
    """Return the comparison as a Markdown page."""
    beyond = sum(finding.beyond for finding in findings)
    lines = [
        f"# Against {path.name}",
        "",
        f"{compared} rows and levels compared; {len(findings)} numbers are worse, {beyond} of them beyond chance.",
        "",
        "Worse: the whole bootstrap interval of ours is on the bad side of theirs. Beyond chance: the difference is "
        "more than what two tables of such runs, both drawn from ours, differ by in 97.5 % of cases.",
    ]
    if findings:
        lines += ["", "| row | noise | number | ours | there | sampling error of both |", "|---|---|---|---|---|---|"]
        lines += ["| " + " | ".join(finding.cells()) + " |" for finding in findings]
    return "\n".join(lines) + "\n"
