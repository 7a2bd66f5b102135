"""Reports without a run: rebuild them from journals, compare two, check a folder against its prompts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pvbench_suite.dimensions import load
from pvbench_suite.errors import UserError
from pvbench_suite.results import Row, settled
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
    from reports.build import build  # type: ignore[import-not-found]

    registry = load()
    where = list(dict.fromkeys(j.resolve() for folder in folders for j in journals(folder)))
    everything: list[Row] = []
    written: list[Path] = []
    for journal in where:
        rows = settled(journal)
        everything += rows
        written += build(rows, registry, journal)
    if len(where) > 1:
        written += build(everything, registry, output or folders[0] / "pvbench-report")
    elif output is not None:
        written += build(everything, registry, output)
    return written


def compare_folders(first: Path, second: Path) -> list[str]:
    """Return the lines of a comparison of the results in two folders.

    Raises
    ------
    UserError
        If a folder has no journal, or several, or the two cannot be compared (other scorers, profiles, thresholds).
    """
    from pvbench_suite.stats.compare import compare, lines

    sides: list[list[Row]] = []
    for folder in (first, second):
        found = journals(folder)
        if len(found) > 1:
            raise UserError(f"{folder}: holds several journals ({', '.join(p.name for p in found)}); pass one of them")
        sides.append(settled(found[0]))
    return list(lines(compare(sides[0], sides[1], load())))


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
