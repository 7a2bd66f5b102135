"""From a folder to a `Manifest`: which videos a model has, which prompt groups they answer, and which are missing.

Conventions
-----------
A layout finds files (`pvbench_suite.video.layouts`); here, for all layouts alike, names are matched to groups, ids are
given, and whatever is ambiguous or doubled is a `ModelDirError` of one line.  Nothing is decoded and nothing is hashed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from pvbench_suite.errors import ModelDirError
from pvbench_suite.files import write_atomic
from pvbench_suite.video.layouts import ALIASES, BY_NAME, LAYOUTS
from pvbench_suite.video.layouts.base import Context, Layout
from pvbench_suite.video.layouts.gather import Gathered, gather
from pvbench_suite.video.match import SuiteLike, nearest
from pvbench_suite.video.names import shown
from pvbench_suite.video.selection import read_videos_file, restrict
from pvbench_suite.video.tree import Tree, scan, stem
from pvbench_suite.video.types import MODALITIES, Modality, Video

__all__ = ["Manifest", "discover", "layout_names", "read_videos_file", "restrict", "write_manifest"]


@dataclass(frozen=True)
class Manifest:
    """The videos of one model.

    `layout` and `why` say how the folder was read; `missing` are the (group, modality) pairs of the suite that have no
    file, only where the folder answers the suite at all; `extra` are files that were not taken; `faults` are ambiguous
    or doubled names, one line each, and empty unless `discover` was asked not to raise; `notes` are for the user.
    """

    model: str
    root: Path
    layout: str
    why: str
    videos: tuple[Video, ...]
    missing: tuple[tuple[str, Modality], ...] = ()
    extra: tuple[PurePosixPath, ...] = ()
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    suite: SuiteLike | None = field(default=None, repr=False, compare=False)


def layout_names() -> tuple[str, ...]:
    """Return the names that `discover` takes as a layout."""
    return ("auto", *BY_NAME)


def discover(
    model: str,
    root: Path,
    suite: SuiteLike | None,
    *,
    layout: str = "auto",
    modality: str = "both",
    fps: float | None = None,
    strict: bool = True,
) -> Manifest:
    """Return the manifest of a model's folder.

    Parameters
    ----------
    model : str
        The model's name in results.
    root : Path
        The folder.
    suite : SuiteLike or None
        The prompt groups that the videos may answer.
    layout : str
        One of `layout_names`; ``auto`` takes the first that fits, and a plain folder when none does.
    modality : str
        t2v, i2v, or both; with one of them, videos of the other are left out.
    fps : float, optional
        Rate of folders of frames [frame/s] where nothing else states it.
    strict : bool
        False collects ambiguous and doubled names in `Manifest.faults` instead of raising.

    Raises
    ------
    ModelDirError
        If the folder cannot be read, holds no video of that modality, does not have the layout asked for, or a name is
        ambiguous or doubled.
    """
    if modality not in (*MODALITIES, "both"):
        raise ModelDirError(f"modality {shown(modality)!r} is unknown; choose t2v, i2v or both")
    tree = scan(Path(root))
    context = Context(model, suite, modality, fps)
    chosen, why = _choose(tree, context, layout)
    reading = chosen.read(tree, context)
    result = gather(reading, tree.root, context)
    if result.faults and strict:
        more = f" (and {len(result.faults) - 1} more)" if len(result.faults) > 1 else ""
        raise ModelDirError(f"{shown(tree.root)}: {result.faults[0]}{more}")
    videos = tuple(v for v in result.videos if modality in ("both", v.modality))
    if not videos and (strict or not result.faults):
        raise ModelDirError(_nothing(tree, context, chosen, result))
    return Manifest(
        model=model,
        root=tree.root,
        layout=chosen.name,
        why=why,
        videos=videos,
        missing=_missing(videos, context, always=chosen.name == "native"),
        extra=tuple(dict.fromkeys((*reading.extra, *result.extra))),
        faults=tuple(result.faults),
        notes=(*tree.notes, *reading.notes, *result.notes),
        suite=suite,
    )


def _choose(tree: Tree, context: Context, name: str) -> tuple[Layout, str]:
    """Return the layout to read a folder by, and why."""
    name = ALIASES.get(name.casefold(), name.casefold())
    if name != "auto":
        if name not in BY_NAME:
            raise ModelDirError(f"layout {shown(name)!r} is unknown; choose {', '.join(layout_names())}")
        if name == "native" and context.suite is None:
            raise ModelDirError("layout native needs a prompt suite; give --pv-prompts or another layout")
        return BY_NAME[name], "as asked for"
    for layout in LAYOUTS:
        if why := layout.detect(tree, context):
            return layout, why
    places = f"a folder of videos ({len(tree.images)} images)" if tree.images else "a folder of videos"
    why = "; ".join([f"name {places}", *tree.notes])
    raise ModelDirError(f"{shown(tree.root)}: holds no video (.mp4, .webm, .mov, .gif, ...); {why}")


def _nothing(tree: Tree, context: Context, layout: Layout, result: Gathered) -> str:
    """Return the message for a folder in which a layout finds no video of the modality asked for."""
    where = shown(tree.root)
    if result.videos:
        return f"{where}: has no {context.modality} video ({len(result.videos)} of the other modality)"
    names = [stem(path) for path in (*tree.videos, *tree.frame_folders)]
    if layout.name == "native" and context.suite is not None and names:
        near = ", ".join(nearest(names[:20], [group.id for group in context.suite.groups]))
        return (
            f"{where}: none of {len(names)} names matches a group of the suite (the first is {shown(names[0], 60)!r}; "
            f"nearest groups: {near})"
        )
    return f"{where}: holds no video that layout {layout.name} knows ({len(tree.videos)} video files)"


def _missing(videos: Sequence[Video], context: Context, *, always: bool) -> tuple[tuple[str, Modality], ...]:
    """Return the groups without a file, for the modality asked for or those that have videos.

    A folder that answers no group owes none; one that answers any owes all, so that leaving out hard prompts never
    pays.
    """
    answered = {(v.group, v.modality) for v in videos if v.group is not None}
    if context.suite is None or not (answered or always):
        return ()
    there = {v.modality for v in videos}
    asked = [m for m in MODALITIES if context.modality == m or (context.modality == "both" and m in there)]
    return tuple((g.id, m) for m in asked for g in context.suite.groups if (g.id, m) not in answered)


def write_manifest(manifest: Manifest, path: Path) -> None:
    """Write the videos as ``manifest.jsonl``, atomically; paths are relative to the file's folder.

    Raises
    ------
    ModelDirError
        If a video does not lie below that folder, or the file cannot be written.
    """
    base = path.absolute().parent.resolve()
    lines = []
    for video in manifest.videos:
        if not video.path.is_relative_to(base):
            raise ModelDirError(
                f"{shown(path)}: a manifest lies in the model's folder ({shown(manifest.root)}) or above it"
            )
        reference = video.reference
        if reference is not None and not reference.resolve().is_relative_to(base):
            reference = None  # an image elsewhere is found again by --pv-references, not by the manifest
        entry = {
            "id": video.id,
            "path": video.path.relative_to(base).as_posix(),
            "group": video.group,
            "prompt": video.prompt,
            "modality": video.modality,
            "seed": video.seed,
            "model": video.model,
            "reference": None if reference is None else reference.resolve().relative_to(base).as_posix(),
            "fps": video.fps,
            "dimensions": video.dimensions,
        }
        lines.append(json.dumps({k: v for k, v in entry.items() if v is not None}, ensure_ascii=True) + "\n")
    try:
        write_atomic(path, "".join(lines).encode("ascii"))
    except OSError as error:
        raise ModelDirError(f"{shown(path)}: cannot be written: {error.strerror or error}") from error
