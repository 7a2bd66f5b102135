"""The summary on a terminal: one compact table for each model and modality.

Conventions
-----------
Plain ASCII apart from names that users gave, no color, no line longer than the width.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pvbench_suite.stats.cells import Cell, Result, Summary
from pvbench_suite.stats.sample import STATES
from reports.text import NONE, clean, number, percent, share, span
from reports.view import blocks, outline

#: Narrower terminals get lines of this width all the same.
NARROWEST = 60
#: How many different remedies are shown.
REMEDIES = 5
# Columns after the name: score 7, interval 15, worst case 8, scored 18.
_FIXED = 48


def terminal_lines(summary: Summary, width: int, journals: Sequence[Path] = ()) -> list[str]:
    """Return the lines to print.

    Parameters
    ----------
    summary : Summary
        What to show.
    width : int
        Columns of the terminal.
    journals : sequence of Path
        Journals that the summary was made from; named at the end.
    """
    width = max(width, NARROWEST)
    lines: list[str] = []
    for block in blocks(summary):
        names = outline(block)
        for result in block.results:
            lines += _result(result, names, width)
    if not lines:
        lines = ["no rows: nothing is planned or scored yet"]
    lines += [f"journal: {clean(path, 4096)}" for path in journals]
    return lines


def _result(r: Result, names: Sequence[tuple[int, str, str]], width: int) -> list[str]:
    title = f"{r.model} | {r.modality} | profile {r.profile} | suite {', '.join(r.suites) or NONE} | {r.videos} videos"
    room = width - _FIXED
    lines = [clean(title, width), _line("", ("score", "95 % interval", "worst", "scored"), room)]
    for depth, key, name in names:
        cell = r.cell(key)
        shown = name if key == "overall" else f"{key} {name}"
        lines.append(_line("  " * depth + clean(shown, room - 2 * depth), _columns(cell), room))
    lines += [clean(f"note: {note}", width) for note in _notes(r)]
    states = [f"{state} {r.overall.states[state]}" for state in STATES if r.overall.states[state]]
    if r.overall.event_absent:
        states.append(f"of these scored 1 for an absent event {r.overall.event_absent}")
    lines += _wrapped("states: ", states, width)
    lines += _remedies(r, width)
    return [line.rstrip() for line in [*lines, ""]]


def _line(name: str, columns: tuple[str, str, str, str], room: int) -> str:
    score, interval, worst, scored = columns
    return f"{name:<{room}}{score:>7}{interval:>15}{worst:>8}{scored:>18}"


def _columns(cell: Cell) -> tuple[str, str, str, str]:
    mean = cell.by_dimension
    if not cell.planned:
        return NONE, NONE, NONE, "not planned"
    scored = f"{share(cell.scored, cell.planned)} {percent(cell.coverage)}"
    return number(mean.score), span(mean.low, mean.high), number(mean.worst_case), scored


def _notes(r: Result) -> list[str]:
    """Return what keeps the cells from being whole: of the whole, the layers and the domains, each once."""
    cells = [r.overall, *r.layers.values()]
    notes = [f"{cell.key}: {flag}" for cell in cells for flag in cell.flags if not flag.startswith("not planned")]
    few = [cell.key for cell in r.dimensions.values() if any(flag.startswith("few:") for flag in cell.flags)]
    if few:
        notes.append(f"fewer than 5 scored pairs in {len(few)} dimensions: {', '.join(few)}")
    notes += [f"{cell.key}: {f}" for cell in r.dimensions.values() for f in cell.flags if f.startswith("collapse:")]
    return notes


def _remedies(r: Result, width: int) -> list[str]:
    """Return what was not perceived with the line that says how to get it."""
    found = list(r.remedies.items())
    lines = [clean(f"not perceived ({n}): {text}", max(width, 400)) for text, n in found[:REMEDIES]]
    if len(found) > REMEDIES:
        rest = sum(n for _, n in found[REMEDIES:])
        lines.append(f"not perceived ({rest}): {len(found) - REMEDIES} other causes, see summary.md")
    return [part for line in lines for part in _wrapped("", line.split(" "), width, " ", "  ")]


def _wrapped(head: str, parts: Sequence[str], width: int, joint: str = ", ", indent: str = "  ") -> list[str]:
    """Return `parts` joined and broken between parts at `width`."""
    lines, line = [], head
    for place, part in enumerate(parts):
        text = clean(part, width - len(indent)) + (joint if place + 1 < len(parts) else "")
        if len(line) + len(text.rstrip()) > width and line.strip():
            lines.append(line.rstrip())
            line = indent
        line += text
    return [*lines, line.rstrip()]
