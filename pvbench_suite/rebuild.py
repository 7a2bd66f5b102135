"""Reports without a run: rebuild them from journals, compare two, check a folder against its prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pvbench_suite.dimensions import load
from pvbench_suite.errors import UserError
from pvbench_suite.results import Row, not_applicable, settled
from pvbench_suite.stats.cells import Comparison
from pvbench_suite.suite import rooms_on_path

if TYPE_CHECKING:
    from pvbench_suite.prompts.loader import Suite


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


def rank(folders: Sequence[str], keys: Sequence[str], output: Path | None) -> list[str]:
    """Return the leaderboard over several folders of results as lines of Markdown; write it into `output`, if given.

    Parameters
    ----------
    folders : sequence of str
        ``[NAME=]PATH``; the name, else the folder's, is put in front of a model that several folders have.
    keys : sequence of str
        What to rank by: overall, L1 to L3, codes of domains, ids of dimensions; empty for overall and the layers.
    output : Path, optional
        Gets leaderboard.md and leaderboard.json.

    Raises
    ------
    UserError
        If a folder has no journal, two have one name, or a key is unknown.
    """
    rooms_on_path()
    from pvbench_suite.stats.ranking import KEYS
    from reports.build import write
    from reports.leaderboard import leaderboard_json, leaderboard_markdown, over_runs

    registry = load()
    known = ["overall", "L1", "L2", "L3", *registry.domains, *(d.id for d in registry.dimensions)]
    if unknown := [key for key in keys if key not in known]:
        raise UserError(f"--by {unknown[0]}: is unknown; choose overall, L1 to L3, a domain (MC) or a dimension (R22)")
    runs: dict[str, list[Row]] = {}
    for text in folders:
        name, mark, path = text.partition("=")
        folder = Path(path if mark else text)
        name = name if mark else folder.resolve().name
        if name in runs:
            raise UserError(f"{folder}: another folder is called {name!r}; give one another name: NAME={folder}")
        where = [j.resolve() for j in journals(folder)]
        names = _names(where)
        runs[name] = [{**row, "model": names.get(j, row["model"])} for j in where for row in settled(j)]
    boards = over_runs(runs, registry, keys or KEYS)
    if output is not None:
        write(output / "leaderboard.json", leaderboard_json(boards))
        write(output / "leaderboard.md", leaderboard_markdown(boards))
    return leaderboard_markdown(boards).splitlines()


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


def suite_of(directory: Path, prompts: Path | None) -> Suite:
    """Return the prompt groups in `prompts`, else of ``groups.jsonl`` in or beside `directory`, else the suite's."""
    from pvbench_suite.prompts.loader import load as load_prompts

    beside = [p for p in (directory / "groups.jsonl", directory.parent / "groups.jsonl") if p.is_file()]
    return load_prompts(prompts or (beside[0] if beside else None))


def check_folder(
    directory: Path, layout: str, prompts: Path | None, write: Path | None, references: Path | None = None
) -> tuple[list[str], bool]:
    """Return the lines of a check of a folder of videos, and whether nothing is wrong.

    `references` is a folder of reference images (``<group id>.png``) for the I2V videos.
    """
    from pvbench_suite.video import check
    from pvbench_suite.video.manifest import discover, write_manifest
    from pvbench_suite.video.reference import attach

    suite = suite_of(directory, prompts)
    if not directory.is_dir():
        raise UserError(f"{directory}: is no folder")
    manifest = discover(directory.name, directory, suite, layout=layout, strict=False)
    if references is not None:
        if not references.is_dir():
            raise UserError(f"--references {references}: is no folder of images <group id>.png")
        videos, notes = attach(manifest.videos, references)
        manifest = replace(manifest, videos=videos, notes=(*manifest.notes, *notes))
    report: Any = check.check(manifest, suite)
    lines = [f"layout {manifest.layout}: {manifest.why}", *report.lines()]
    if write is not None:
        write_manifest(manifest, write)
        lines.append(f"manifest written to {write}")
    return lines, report.clean
