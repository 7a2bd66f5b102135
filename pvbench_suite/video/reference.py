"""Reference images of I2V videos: found, read, and compared with the first frame.

Conventions
-----------
What is found is a remark for people; no score depends on it.  Image and video are untrusted, and decoded in the worker
process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pvbench_suite.errors import BrokenVideo, UserError
from pvbench_suite.video.isolate import first_isolated
from pvbench_suite.video.names import shown
from pvbench_suite.video.types import DEFAULT_LIMITS, First, Limits, Video

if TYPE_CHECKING:
    from pvbench_suite.video.placing import Match

#: Version of the comparison; what was found under another is found again.
SPEC = "reference-ncc@1"


def find(folder: Path, group: str) -> Path | None:
    """Return the reference image of a prompt group, or None where there is none.

    Raises
    ------
    UserError
        If it is no regular file, or a link that leads out of the folder.
    """
    path = folder / f"{group}.png"
    if path.parent != folder or not (path.exists() or path.is_symlink()):
        return None
    if not path.is_file():
        raise UserError(f"reference {shown(path.name)}: is no regular file")
    if not path.resolve().is_relative_to(folder.resolve()):
        raise UserError(f"reference {shown(path.name)}: is a link out of {shown(folder)}; copy the image")
    return path


def attach(videos: Sequence[Video], folder: Path) -> tuple[tuple[Video, ...], tuple[str, ...]]:
    """Return `videos` with the references that `folder` has for the I2V ones, and notes on those that it has not."""
    out: list[Video] = []
    notes: list[str] = []
    missing: list[str] = []
    for video in videos:
        path = None
        if video.modality == "i2v" and video.group is not None:
            try:
                path = find(folder, video.group)
                missing += [video.group] if path is None and video.reference is None else []
            except UserError as error:
                notes.append(str(error))
        out.append(video if path is None else replace(video, reference=path))
    if missing:
        few = ", ".join(shown(f"{group}.png", 60) for group in list(dict.fromkeys(missing))[:3])
        notes.append(f"references: {len(missing)} I2V videos have no image in {shown(folder)} ({few} ...)")
    return tuple(out), tuple(dict.fromkeys(notes))


def read_image(path: Path, limits: Limits = DEFAULT_LIMITS) -> First:
    """Return a reference image.

    Raises
    ------
    BrokenVideo
        If it is no image, cannot be decoded, or is larger than `limits` allow.
    """
    try:
        found = first_isolated(path, limits=limits)
    except BrokenVideo as error:
        raise BrokenVideo(str(error).replace(": is no video that", ": is no image that")) from error
    if not found.still:
        raise BrokenVideo(f"{shown(path.name)}: is no still image")
    return found


def look(video: Video, limits: Limits = DEFAULT_LIMITS) -> Match:
    """Return how the first frame of `video` relates to its reference image.

    Raises
    ------
    BrokenVideo
        If either cannot be decoded; the message names the file.
    UserError
        If the video has no reference, or is a folder of frames without a rate.
    """
    from pvbench_suite.video.placing import match  # OpenCV is loaded only where there are references

    if video.reference is None:
        raise UserError(f"{video.id}: has no reference image")
    try:
        reference = read_image(video.reference, limits)
    except (BrokenVideo, OSError) as error:
        raise BrokenVideo(f"reference {error}") from error
    return match(reference, first_isolated(video.path, limits=limits, fps=video.fps))
