"""Reports without a run: rebuild them from journals, compare two, check a folder against its prompts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pvbench_suite.dimensions import load
from pvbench_suite.errors import UserError
from pvbench_suite.results import Row, not_applicable, settled
from pvbench_suite.stats.cells import Comparison
from pvbench_suite.suite import rooms_on_path


def journals(folder: Path) -> list[Path]:
    """Return the folders with a journal at or below `folder`, sorted.

    Raises
    ------
    UserError
        If there is none.
    """
    if not folder.is_dir():
        raise UserError(
            f"{folder}: is no folder; pass a model folder, a report folder or the folder of a results.jsonl"
        )
    found = sorted({path.parent for path in folder.rglob("results.jsonl")})
    if not found:
        raise UserError(f"{folder}: holds no results.jsonl; score it first: pvbench run {folder}")
    return found


def rebuild(folders: Sequence[Path], output: Path | None) -> list[Path]:
    """Rebuild the reports of every journal below `folders`, and one over all of them; return what was written."""
    rooms_on_path()
    from reports.build import build

    registry = load()
    where = list(dict.fromkeys(j.resolve() for folder in folders for j in journals(folder)))
    everything: list[Row] = []
    written: list[Path] = []
    names = _names(where)
    for journal in where:
        rows = settled(journal)
        everything += [{**row, "model": names[journal]} for row in rows] if journal in names else rows
        written += build(rows, registry, journal, not_applicable([journal]))
    if len(where) > 1:
        written += build(everything, registry, output or folders[0] / "pvbench-report", not_applicable(where))
    elif output is not None:
        written += build(everything, registry, output, not_applicable(where))
    return written


def _names(where: Sequence[Path]) -> dict[Path, str]:
    """Return a name of its own for each journal whose model and profile another journal has as well."""
    owners: dict[tuple[str, str], list[Path]] = {}
    for journal in where:
        for key in {(row["model"], row["profile"]) for row in settled(journal)}:
            owners.setdefault(key, []).append(journal)
    clashing = {journal for found in owners.values() if len(found) > 1 for journal in found}
    return {journal: "_".join(journal.parts[-4:-1]) for journal in clashing}


def write_allure(folders: Sequence[Path], out: Path) -> int:
    """Write Allure results of every journal below `folders` into `out`; return the number of files."""
    rooms_on_path()
    from pvbench_suite.stats.aggregate import summarize
    from reports.allure import write_frame, write_rows

    registry = load()
    where = list(dict.fromkeys(j.resolve() for folder in folders for j in journals(folder)))
    written = 0
    everything: list[Row] = []
    stop = 0
    for journal in where:
        rows = settled(journal)
        everything += rows
        stop = round(1000 * (journal / "results.jsonl").stat().st_mtime)
        written += len(write_rows(rows, registry, out, stop))
    return written + len(write_frame(everything, summarize(everything, registry), registry, out, stop))


def compare_folders(first: Path, second: Path) -> list[str]:
    """Return the lines of a comparison of the results in two folders.

    Raises
    ------
    UserError
        If a folder has no journal, or several, or the two cannot be compared (other scorers, profiles, thresholds).
    """
    from pvbench_suite.stats.compare import compare

    sides: list[list[Row]] = []
    for folder in (first, second):
        found = journals(folder)
        if len(found) > 1:
            raise UserError(f"{folder}: holds several journals ({', '.join(p.name for p in found)}); pass one of them")
        sides.append(settled(found[0]))
    return [line for found in compare(sides[0], sides[1], load()) for line in comparison_lines(found)]


def comparison_lines(found: Comparison) -> list[str]:
    """Return a comparison as lines: overall, layers, domains, then the dimensions that both sides scored."""
    out = [f"{found.second} minus {found.first}, {found.modality}, profile {found.profile} (points of 100)"]
    for cell in found.cells.values():
        if cell.kind == "dimension" and not cell.pairs:
            continue
        indent = {"overall": "", "layer": "  ", "domain": "    ", "dimension": "      "}[cell.kind]
        number = "-" if cell.difference is None else f"{cell.difference:+.1f}"
        if cell.low is not None and cell.high is not None:
            number += f" [{cell.low:+.1f}, {cell.high:+.1f}]"
        worst = "-" if cell.worst_case is None else f"{cell.worst_case:+.1f}"
        why = f" ({cell.why})" if cell.why else ""
        out.append(
            f"{indent}{cell.key} {cell.name}: {number}, worst case {worst}, {cell.pairs} pairs: {cell.verdict}{why}"
        )
    return out + [f"note: {note}" for note in found.notes]


def check_folder(directory: Path, layout: str, prompts: Path | None, write: Path | None) -> tuple[list[str], bool]:
    """Return the lines of a check of a folder of videos, and whether nothing is wrong."""
    from pvbench_suite.prompts.loader import load as load_prompts
    from pvbench_suite.video import check
    from pvbench_suite.video.manifest import discover, write_manifest

    beside = [p for p in (directory / "groups.jsonl", directory.parent / "groups.jsonl") if p.is_file()]
    suite = load_prompts(prompts or (beside[0] if beside else None))
    if not directory.is_dir():
        raise UserError(f"{directory}: is no folder")
    manifest = discover(directory.name, directory, suite, layout=layout, strict=False)
    report: Any = check.check(manifest, suite)
    lines = [f"layout {manifest.layout}: {manifest.why}", *report.lines()]
    if write is not None:
        write_manifest(manifest, write)
        lines.append(f"manifest written to {write}")
    return lines, report.clean
