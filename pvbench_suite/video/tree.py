"""The content of a model directory, listed once and looked at by every layout.

Conventions
-----------
Paths are relative to the root, with ``/``.  Left out: hidden files and folders, the suite's own ``pvbench`` folder, and
links that lead out of the root, of which a note tells.  Links to folders are never followed, so there are no loops.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from pvbench_suite.errors import ModelDirError
from pvbench_suite.files import holds
from pvbench_suite.video.folder import SUFFIXES as IMAGES
from pvbench_suite.video.names import natural_key, shown

VIDEOS = frozenset(
    f".{suffix}"
    for suffix in "mp4 m4v mov webm mkv avi gif webp flv 3gp mpg mpeg m2ts mts ts ogv wmv apng y4m".split()  # noqa: SIM905
)
OWN_FOLDER = "pvbench"
MAX_FILES = 500_000


def stem(path: PurePosixPath) -> str:
    """Return the name without its extension; a folder of frames keeps its whole name."""
    return path.stem if path.suffix.lower() in VIDEOS else path.name


@dataclass(frozen=True)
class Tree:
    """Files of a model directory in natural order: `videos`, `images`, and `others` (lists, prompts, ...)."""

    root: Path
    videos: tuple[PurePosixPath, ...]
    images: tuple[PurePosixPath, ...] = ()
    others: tuple[PurePosixPath, ...] = ()
    folders: tuple[PurePosixPath, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @cached_property
    def frame_folders(self) -> dict[PurePosixPath, int]:
        """Return the folders that hold two or more images and no video directly, with the number of images."""
        count: dict[PurePosixPath, int] = {}
        for image in self.images:
            count[image.parent] = count.get(image.parent, 0) + 1
        with_video = {video.parent for video in self.videos}
        return {p: n for p, n in count.items() if n > 1 and p not in with_video and p != PurePosixPath()}

    @cached_property
    def images_by_stem(self) -> dict[str, PurePosixPath]:
        """Return the images by name without extension, the first in natural order where several are alike."""
        found: dict[str, PurePosixPath] = {}
        for image in self.images:
            found.setdefault(image.stem, image)
        return found

    def has(self, name: str) -> bool:
        """Return whether the root itself holds a list or prompt file of that name."""
        return PurePosixPath(name) in self.others


def _ordered(paths: Iterable[PurePosixPath]) -> tuple[PurePosixPath, ...]:
    return tuple(sorted(paths, key=lambda path: [natural_key(part) for part in path.parts]))


def scan(root: Path) -> Tree:
    """Return the content of a model directory.

    Raises
    ------
    ModelDirError
        If `root` is no folder, cannot be read, or holds more than `MAX_FILES` files.
    """
    if not root.is_dir():
        raise ModelDirError(f"{shown(root)}: {'is no folder' if root.exists() else 'does not exist'}")
    root = root.resolve()
    kinds: dict[str, list[PurePosixPath]] = {"videos": [], "images": [], "others": [], "folders": []}
    outside: list[str] = []
    unreadable: list[OSError] = []
    total = 0
    for folder, names, files in os.walk(root, onerror=unreadable.append):
        here = PurePosixPath(Path(folder).relative_to(root).as_posix())
        links = [n for n in names if (Path(folder) / n).is_symlink() and not n.startswith(".")]
        outside += [str(here / n) + "/" for n in links]
        names[:] = [n for n in names if n not in links and not n.startswith(".") and n != OWN_FOLDER]
        kinds["folders"] += [here / n for n in names]
        total += len(files)
        if total > MAX_FILES:
            raise ModelDirError(
                f"{shown(root)}: holds more than {MAX_FILES:,} files; name a folder of one model's videos"
            )
        for name in files:
            if name.startswith("."):
                continue
            path = Path(folder) / name
            if path.is_symlink() and not holds(root, path):
                outside.append(str(here / name))
                continue
            if not path.is_file():
                continue  # a pipe, a device, or a link to nothing
            suffix = path.suffix.lower()
            kind = "videos" if suffix in VIDEOS else "images" if suffix in IMAGES else "others"
            kinds[kind].append(here / name)
    if unreadable:
        raise ModelDirError(f"{shown(root)}: cannot be read: {shown(unreadable[0].strerror or unreadable[0])}")
    notes = []
    if outside:
        notes.append(
            f"{len(outside)} links not followed ({shown(outside[0])} ...): copy the files or name the real folder"
        )
    return Tree(root, **{kind: _ordered(paths) for kind, paths in kinds.items()}, notes=tuple(notes))
