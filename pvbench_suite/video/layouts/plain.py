"""Plain folders: every video file, or every folder of frames, with no prompt and no group."""

from __future__ import annotations

from pathlib import PurePosixPath

from pvbench_suite.video.layouts.base import Context, Found, Layout, Reading, label_of, modality_of
from pvbench_suite.video.tree import Tree


def _read_plain(tree: Tree, context: Context) -> Reading:
    reading = Reading([Found(path, label_of(path), modality_of(path)) for path in tree.videos])
    if tree.frame_folders and tree.videos:
        reading.notes.append(f"{len(tree.frame_folders)} folders of images not read; use layout frames for them")
    return reading


def _detect_plain(tree: Tree, context: Context) -> str | None:
    return "no other layout fits" if tree.videos else None


def _detect_frames(tree: Tree, context: Context) -> str | None:
    count = len(tree.frame_folders)
    return f"{count} folders of numbered images and no video file" if count and not tree.videos else None


def _frames_label(folder: PurePosixPath) -> str:
    """Return the label of a folder of frames: a folder that is only called "frames" goes by its parent."""
    return label_of(folder.parent if folder.name == "frames" and len(folder.parts) > 1 else folder)


def _read_frames(tree: Tree, context: Context) -> Reading:
    folders = tree.frame_folders
    found = [Found(path, _frames_label(path), modality_of(path), fps=context.fps) for path in folders]
    return Reading(found, extra=list(tree.videos))


FRAMES = Layout("frames", _detect_frames, _read_frames)
PLAIN = Layout("plain", _detect_plain, _read_plain)
