"""The suite's own layout: ``{t2v,i2v}/<group id>[.s<seed>].<extension>``, or such files directly in the folder."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from pvbench_suite.video.layouts.base import Context, Found, Layout, Reading
from pvbench_suite.video.match import Ambiguous, Matcher
from pvbench_suite.video.names import nfc
from pvbench_suite.video.tree import Tree, stem
from pvbench_suite.video.types import MODALITIES, Modality

_SEED = re.compile(r"(.+)\.s([0-9]{1,18})", re.DOTALL)


def readings_of(name: str) -> tuple[tuple[str, int | None], ...]:
    """Return the ways to read a stem: with a seed at its end, and as it stands."""
    match = _SEED.fullmatch(name)
    return ((match[1], int(match[2])), (name, None)) if match else ((name, None),)


def resolve(matcher: Matcher, readings: tuple[tuple[str, int | None], ...]) -> tuple[str, int | None] | None:
    """Return (group id, seed) for the first reading that matches, or None; `Ambiguous` when it fits several groups.

    An exact match wins over any other, and among exact ones the name as it stands: a trailing number may belong to it.
    """
    for text, seed in reversed(readings):
        if (group := matcher.exact(text)) is not None:
            return group, seed
    for text, seed in readings:
        if (group := matcher.find(text)) is not None:
            return group, seed
    return None


def places(tree: Tree, context: Context) -> dict[PurePosixPath, Modality]:
    """Return the folders in which native videos lie, with their modality: t2v and i2v, or else the root itself."""
    found: dict[PurePosixPath, Modality] = {}
    for folder in tree.folders:
        for modality in MODALITIES:
            if len(folder.parts) == 1 and folder.name.casefold() == modality:
                found[folder] = modality
    if found:
        return found
    named = tree.root.name.casefold()
    asked = context.modality if context.modality in MODALITIES else "t2v"
    return {PurePosixPath(): "i2v" if "i2v" in (named, asked) and named != "t2v" else "t2v"}


def _read(tree: Tree, context: Context) -> Reading:
    reading = Reading()
    where = places(tree, context)
    for path in (*tree.videos, *tree.frame_folders):
        listed = context.files.get(nfc(path.as_posix()))
        modality = where.get(path.parent) or next((where[p] for p in path.parents if p in where), None)
        if listed is None and path.parent not in where:
            reading.extra.append(path)
            continue
        reading.found.append(
            Found(
                path,
                stem(path),
                modality or "t2v",
                ((listed, None),) if listed else readings_of(stem(path)),
                fps=context.fps,
                must_match=True,
            )
        )
    for folder, modality in where.items():
        if folder.parts and not any(f.modality == modality for f in reading.found):
            reading.notes.append(f"{folder}/ holds no video")
    return reading


def _detect(tree: Tree, context: Context) -> str | None:
    if context.suite is None:
        return None
    reading = _read(tree, context)
    matched = 0
    for found in reading.found:
        try:
            matched += resolve(context.ids, found.readings) is not None
        except Ambiguous:
            matched += 1  # the error belongs to the reading, not to the choice
    if not matched:
        return None
    return f"{matched} of {len(reading.found) + len(reading.extra)} names match groups of the suite"


NATIVE = Layout("native", _detect, _read)
