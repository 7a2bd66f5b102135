"""``summary.json`` and ``summary.md``.

The keys of ``summary.json`` are documented in ``docs/results.md``; `pvbench_suite.stats.cells.SCHEMA` is their version.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from pvbench_suite.stats.cells import Cell, Contrast, Difference, Summary
from pvbench_suite.stats.sample import STATES
from reports.text import NONE, markdown, number, percent, share, signed, span, table
from reports.view import Block, blocks, dimension_lines, kept, outline

#: How many warnings, remedies and assumptions are listed before "and N more".
LISTED = 10


def summary_json(summary: Summary) -> str:
    """Return ``summary.json``: strict JSON, without NaN, the same bytes for the same rows."""
    return json.dumps(summary.to_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def summary_markdown(summary: Summary) -> str:
    """Return ``summary.md``: one section for each profile and model, T2V and I2V side by side."""
    lines = ["# PVBench summary", ""]
    if not summary.results:
        lines += ["No rows: nothing is planned or scored yet.", ""]
    for block in blocks(summary):
        lines += block_lines(block)
    if summary.not_applicable:
        counts = ", ".join(f"{markdown(key)} {n}" for key, n in summary.not_applicable.items())
        lines += [
            "## Not applicable",
            "",
            f"Pairs that are not planned because the dimension does not apply: {counts}.",
            "",
        ]
    lines += _legend()
    return "\n".join(lines) + "\n"


def block_lines(block: Block) -> list[str]:
    """Return the section of one model in one profile."""
    lines = [f"## {markdown(block.model)}, profile {markdown(block.profile)}", ""]
    lines += [*_signature(block), ""]
    lines += ["### Layers and domains", "", *_cells_table(block, _outline_names(block)), ""]
    lines += _notes(block)
    lines += ["### Dimensions", "", *_cells_table(block, [(k, f"{k} {n}") for k, n in dimension_lines(block)]), ""]
    lines += _scorer_lines(block)
    lines += ["### States", "", *_states(block), ""]
    for title, body in (
        ("High-difficulty subset", _difficulty(block)),
        ("Judges", _judges(block)),
        ("Not perceived", _listing(block, "remedies", "pairs")),
        ("Warnings", _listing(block, "warnings", "rows")),
        ("Assumed", _listing(block, "assumed", "rows")),
    ):
        if body:
            lines += [f"### {title}", "", *body, ""]
    return lines


def _outline_names(block: Block) -> list[tuple[str, str]]:
    return [(key, f"{'&emsp;' * depth}{key if depth else ''} {name}".strip()) for depth, key, name in outline(block)]


def _signature(block: Block) -> list[str]:
    """Return what can change a number, one line for each modality."""
    lines = []
    for r in block.results:
        scorers = ", ".join(markdown(s) for s in r.overall.scorers[:4]) or "none"
        more = len(r.overall.scorers) - 4
        lines.append(
            f"- {r.modality.upper()}: suite {', '.join(map(markdown, r.suites)) or NONE}; thresholds {r.thresholds}; "
            f"scored by {scorers}{f' and {more} more' if more > 0 else ''}; {r.videos} videos; {number(r.seconds)} s"
            + (f"; **incomplete, not ranked: {', '.join(r.incomplete)}**" if r.incomplete else "")
        )
    return lines


def _cells_table(block: Block, names: Iterable[tuple[str, str]]) -> list[str]:
    many = len(block.results) > 1
    head = ["cell"]
    for r in block.results:
        tag = f"{r.modality.upper()} " if many else ""
        head += [f"{tag}score", "95 % interval", "scored", "worst case", "measured only"]
    head += ["I2V - T2V"] if block.gap else []
    rows = []
    for key, name in names:
        line = [name]
        for cell in block.cells(key):
            line += _cell(cell)
        rows.append(line + ([_gap(block.difference(key))] if block.gap else []))
    return table(head, rows)


def _cell(cell: Cell | None) -> list[str]:
    if cell is None or not cell.planned:
        return [NONE] * 5
    mean = cell.by_dimension
    return [
        f"{number(mean.score)}{f' ({cell.evaluated} of {cell.of})' if cell.partial and mean.score is not None else ''}",
        span(mean.low, mean.high),
        f"{share(cell.scored, cell.planned)} ({percent(cell.coverage)})",
        number(mean.worst_case),
        number(mean.measured_only),
    ]


def _gap(difference: Difference | None) -> str:
    if difference is None or difference.difference is None:
        return NONE
    return f"{signed(difference.difference)} {span(difference.low, difference.high)} {difference.verdict}"


def _notes(block: Block) -> list[str]:
    """Return the flags of layers and domains, the means by domain, and what the gap could not say."""
    lines = []
    for r in block.results:
        tag = r.modality.upper()
        for cell in (r.overall, *r.layers.values()):
            mean = cell.by_domain
            if mean.score is not None:
                lines.append(
                    f"- {tag} {cell.key} as the mean of domains: {number(mean.score)} {span(mean.low, mean.high)}, "
                    f"worst case {number(mean.worst_case)}"
                )
        for cell in (r.overall, *r.layers.values(), *r.domains.values()):
            lines += [f"- {tag} {cell.key}: {markdown(flag)}" for flag in cell.flags]
        if r.not_planned:
            lines.append(f"- {tag}: no pair is planned for {', '.join(r.not_planned)}")
    lines += [f"- I2V - T2V: {markdown(note, 500)}" for note in (block.gap.notes if block.gap else ())]
    return [*lines, ""] if lines else []


def _scorer_lines(block: Block) -> list[str]:
    """Return the flags of dimensions, and the cells of each scorer where a dimension has several."""
    lines = []
    for r in block.results:
        for cell in r.dimensions.values():
            shown = [flag for flag in cell.flags if not flag.startswith("not planned")]
            if cell.still_share is not None:
                shown.append(f"still clips: {percent(cell.still_share)}")
            if shown:
                lines.append(f"- {r.modality.upper()} {cell.key}: {'; '.join(markdown(flag) for flag in shown)}")
            for name, own in cell.by_scorer.items():
                mean = own.by_dimension
                lines.append(
                    f"  - by {markdown(name)}: {number(mean.score)} {span(mean.low, mean.high)}, "
                    f"{own.scored}/{own.planned} scored, worst case {number(mean.worst_case)}"
                )
    return [*lines, ""] if lines else []


def _states(block: Block) -> list[str]:
    head = ["state", *(r.modality.upper() for r in block.results)]
    rows = [[state, *(str(r.overall.states[state]) for r in block.results)] for state in STATES]
    rows.append(["scored 1 because the event was absent", *(str(r.overall.event_absent) for r in block.results)])
    lines = table(head, rows)
    for r in block.results:
        if r.overall.reasons:
            reasons = ", ".join(f"{markdown(reason)} {n}" for reason, n in r.overall.reasons.items())
            lines += ["", f"{r.modality.upper()}, why unmeasurable: {reasons}"]
    return lines


def _difficulty(block: Block) -> list[str]:
    head = ["cell", "modality", "tagged", "scored", "untagged", "scored", "drop", "95 % interval", "relative"]
    rows = [
        [f"{c.key} {c.name}", r.modality.upper(), *_contrast(c)]
        for r in kept(block, lambda r: r.difficulty)
        for c in r.difficulty
    ]
    return table([*head, "dimensions"], rows, left=2) if rows else []


def _contrast(c: Contrast) -> list[str]:
    return [
        number(c.tagged),
        share(c.tagged_scored, c.tagged_planned),
        number(c.untagged),
        share(c.untagged_scored, c.untagged_planned),
        signed(c.drop),
        span(c.low, c.high),
        NONE if c.relative is None else f"{number(c.relative)} %",
        str(c.dimensions),
    ]


def _judges(block: Block) -> list[str]:
    head = ["judge", "modality", "dimension", "verdicts", "failed", "share at 5", "entropy [bit]", "note"]
    rows = []
    for r in kept(block, lambda r: r.judges):
        for h in r.judges:
            note = f"collapsed: {percent(h.mode_share)} are {h.mode}" if h.collapsed else ""
            counts = [str(h.n), str(h.failed), percent(h.share_at_5), number(h.entropy, 2)]
            rows.append([markdown(h.judge), r.modality.upper(), h.dimension or "all", *counts, note])
    return table(head, rows, left=3) if rows else []


def _listing(block: Block, what: str, unit: str) -> list[str]:
    lines = []
    for r in block.results:
        found: dict[str, int] = dict(getattr(r, what))
        lines += [f"- {r.modality.upper()}: {markdown(text)} ({n} {unit})" for text, n in list(found.items())[:LISTED]]
        if len(found) > LISTED:
            lines.append(f"- {r.modality.upper()}: and {len(found) - LISTED} more, see summary.json")
    return lines


def _legend() -> list[str]:
    return [
        "---",
        "",
        "Scores are percentiles, (mean of 1 to 5 - 1) / 4 * 100, with every evaluated dimension weighted alike. "
        "Worst case: missing and broken videos, and what could not be measured where it is targeted, count as 1. "
        "Measured only: without the pairs whose demanded event did not happen. "
        '"-" means that there is no number. See docs/results.md.',
    ]
