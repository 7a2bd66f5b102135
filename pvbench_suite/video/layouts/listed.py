"""Layouts with a list in the folder: ``manifest.jsonl``, or ``prompts.csv`` of (file, prompt)."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from pvbench_suite.errors import ModelDirError
from pvbench_suite.video.layouts.base import Context, Found, Layout, Reading, label_of, modality_of
from pvbench_suite.video.layouts.native import readings_of
from pvbench_suite.video.match import nearest
from pvbench_suite.video.names import shown
from pvbench_suite.video.records import Record, inside, read_list
from pvbench_suite.video.tree import Tree, stem

MANIFEST_NAME = "manifest.jsonl"
CSV_NAMES = ("prompts.csv", "videos.csv")


def found_of(record: Record, root: Path, where: str, context: Context) -> Found:
    """Return the video of one record of a list in `root`.

    Raises
    ------
    ModelDirError
        If a path leads out of `root`, or the record names a group that the suite does not have.
    """
    path = PurePosixPath(inside(root, record.path, where).relative_to(root).as_posix())
    if record.group is not None and context.suite is not None and context.suite.get(record.group) is None:
        near = ", ".join(nearest([record.group], [group.id for group in context.suite.groups]))
        raise ModelDirError(f"{where}: group: the suite has no {shown(record.group)!r} (nearest: {near})")
    name = record.id or stem(path)
    return Found(
        path,
        record.id or label_of(path),
        record.modality or modality_of(path),
        () if record.group else readings_of(name),
        prompt=record.prompt,
        seed=record.seed,
        group=record.group,
        reference=inside(root, record.reference, f"{where}: reference") if record.reference else None,
        fps=record.fps if record.fps is not None else context.fps,
        dimensions=record.dimensions,
    )


def _own(rows: list[tuple[int, Record]], name: str, context: Context) -> tuple[list[tuple[int, Record]], list[str]]:
    """Return the rows of this model, and notes; a list with one model's name is taken whatever the name."""
    models = sorted({record.model for _, record in rows if record.model})
    if len(models) > 1:
        own = [(line, record) for line, record in rows if record.model in (None, context.model)]
        if not any(record.model for _, record in own):
            raise ModelDirError(
                f"{name}: has the models {', '.join(models[:5])}, none named {shown(context.model)!r}; use NAME=DIR"
            )
        return own, [f"{name}: {len(own)} of {len(rows)} rows are of {context.model}"]
    if models and models[0] != context.model:
        return rows, [f"{name}: calls the model {shown(models[0])!r}"]
    return rows, []


def read_rows(path: Path, tree: Tree, context: Context) -> Reading:
    """Return the videos that a list in the folder names.

    Raises
    ------
    ModelDirError
        If the list is wrong, or names a file that is not there and no group that could be missing instead.
    """
    rows, notes = _own(read_list(path), shown(path.name), context)
    reading = Reading(notes=notes)
    present = {*tree.videos, *tree.images, *tree.others, *tree.folders}
    lost = []
    for line, record in rows:
        where = f"{shown(path.name)}:{line}"
        found = found_of(record, tree.root, where, context)
        there = found.path in present or (tree.root / found.path).exists()
        if there:
            reading.found.append(found)
        else:
            lost.append((where, found))
    known = [item for item in lost if item[1].group or _group_of(item[1], context)]
    unknown = [item for item in lost if item not in known]
    if unknown or (lost and not reading.found):
        where, found = (unknown or lost)[0]
        near = ", ".join(shown(p, 60) for p in nearest([str(found.path)], map(str, tree.videos)))
        raise ModelDirError(
            f"{where}: {shown(found.path)!r} is not there ({len(lost)} of {len(rows)} rows)"
            + (f"; nearest: {near}" if near else "")
        )
    if known:
        reading.notes.append(
            f"{len(known)} of {len(rows)} files of {shown(path.name)} are not there: their groups are missing"
        )
    listed = {found.path for found in reading.found}
    reading.extra = [p for p in tree.videos if p not in listed]
    return reading


def _group_of(found: Found, context: Context) -> bool:
    return any(context.ids.exact(text) is not None for text, _ in found.readings)


def _detect_manifest(tree: Tree, context: Context) -> str | None:
    return f"{MANIFEST_NAME} is there" if tree.has(MANIFEST_NAME) else None


def _read_manifest(tree: Tree, context: Context) -> Reading:
    if not tree.has(MANIFEST_NAME):
        raise ModelDirError(f"{shown(tree.root)}: has no {MANIFEST_NAME}")
    return read_rows(tree.root / MANIFEST_NAME, tree, context)


def _csv(tree: Tree) -> str | None:
    return next((name for name in CSV_NAMES if tree.has(name)), None)


def _detect_csv(tree: Tree, context: Context) -> str | None:
    name = _csv(tree)
    return f"{name} is there" if name else None


def _read_csv(tree: Tree, context: Context) -> Reading:
    name = _csv(tree)
    if name is None:
        raise ModelDirError(f"{shown(tree.root)}: has no {' or '.join(CSV_NAMES)} with the columns file, prompt")
    return read_rows(tree.root / name, tree, context)


MANIFEST = Layout("manifest", _detect_manifest, _read_manifest)
CSV = Layout("csv", _detect_csv, _read_csv)
