"""Lists of videos (``--pv-videos FILE``): they restrict a manifest to what they name, and may tell more about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pvbench_suite.errors import ModelDirError
from pvbench_suite.video.layouts.base import Context
from pvbench_suite.video.layouts.gather import gather
from pvbench_suite.video.layouts.listed import found_of
from pvbench_suite.video.match import nearest
from pvbench_suite.video.names import nfc, shown
from pvbench_suite.video.records import Record, inside, read_list
from pvbench_suite.video.types import Modality, Video

if TYPE_CHECKING:
    from pvbench_suite.video.manifest import Manifest


def read_videos_file(path: Path) -> list[Record]:
    """Return the records of a list of videos: CSV with a column `file`, JSONL, VBench's JSON map, or one path a line.

    Raises
    ------
    ModelDirError
        If the list cannot be read or is wrong; one line with file, line and key.
    """
    return [record for _, record in read_list(path)]


def restrict(manifest: Manifest, file: Path) -> Manifest:
    """Return the manifest with only the videos that a list names, and with what the list says of them.

    An entry names a file by its path in the model's folder, or a video by its id or its group's id.  A file that the
    layout did not take is added.  Groups that the list does not name are not missing any more.

    Raises
    ------
    ModelDirError
        If the list is wrong, empty, or names something that is neither there nor a group without a file.
    """
    kept: list[Video] = []
    missing: list[tuple[str, Modality]] = []
    added = []
    context = Context(manifest.model, manifest.suite)
    for line, record in read_list(file):
        where = f"{shown(file.name)}:{line}"
        named = _named(manifest, record, file.parent, where)
        lost = [m for m in manifest.missing if m[0] == record.path and record.modality in (None, m[1])]
        if named:
            kept += [_told(video, record, manifest.root, where) for video in named]
        elif lost:
            missing += lost
        elif (path := _path_in(manifest.root, record.path, file.parent, where)) is not None:
            relative = path.relative_to(manifest.root).as_posix()
            added.append(found_of(record.model_copy(update={"path": relative}), manifest.root, where, context))
        else:
            names = [*(v.id for v in manifest.videos), *(p.as_posix() for p in manifest.extra)]
            near = ", ".join(shown(n, 60) for n in nearest([record.path], names))
            raise ModelDirError(f"{where}: {shown(record.path)!r} is not there; nearest: {near}")
    result = gather(added, manifest.root, context, taken=[v.id for v in kept])
    if result.faults:
        raise ModelDirError(f"{shown(file.name)}: {result.faults[0]}")
    videos = tuple(dict.fromkeys((*kept, *result.videos)))
    if not videos and not missing:
        raise ModelDirError(f"{shown(file.name)}: names no video")
    note = f"{len(videos)} of {len(manifest.videos)} videos, by {shown(file.name)}"
    return replace(manifest, videos=videos, missing=tuple(dict.fromkeys(missing)), notes=(*manifest.notes, note))


def _named(manifest: Manifest, record: Record, beside: Path, where: str) -> list[Video]:
    """Return the videos of the manifest that a record of a list means."""
    path = _path_in(manifest.root, record.path, beside, where)
    text = nfc(record.path)
    found = [v for v in manifest.videos if path is not None and v.path == path]
    found = found or [v for v in manifest.videos if text == v.id] or [v for v in manifest.videos if text == v.group]
    return [v for v in found if record.modality in (None, v.modality)]


def _path_in(root: Path, path: str, beside: Path, where: str) -> Path | None:
    """Return the existing file that `path` means inside `root`, relative to it or to the list's own folder, or None."""
    found = inside(root, path, where)
    if found.exists():
        return found
    other = (beside / path).resolve()
    return other if other.is_relative_to(root) and other.exists() and other != root else None


def _told(video: Video, record: Record, root: Path, where: str) -> Video:
    """Return a video with what a list says of it."""
    told: Mapping[str, Any] = {
        "prompt": record.prompt,
        "seed": record.seed,
        "fps": record.fps,
        "dimensions": record.dimensions,
        "reference": inside(root, record.reference, f"{where}: reference") if record.reference else None,
    }
    return replace(video, **{key: value for key, value in told.items() if value is not None})
