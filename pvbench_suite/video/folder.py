"""Folders of frames (PNG or JPEG) as a source of frames; their rate must be given, since no file states it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import av

from pvbench_suite.errors import BrokenVideo, UserError
from pvbench_suite.video.container import open_container
from pvbench_suite.video.faults import FAULTS, broken, cause_of
from pvbench_suite.video.names import natural_key, shown
from pvbench_suite.video.types import Limits

SUFFIXES = frozenset({".png", ".jpg", ".jpeg"})


def frame_files(folder: Path) -> list[Path]:
    """Return the PNG and JPEG files directly in `folder` in natural order of their names, hidden ones left out."""
    files = [p for p in folder.iterdir() if p.suffix.lower() in SUFFIXES and not p.name.startswith(".") and p.is_file()]
    return sorted(files, key=lambda p: natural_key(p.name))


@dataclass(slots=True)
class FolderSource:
    """The images of one folder in natural order, the k-th at k / fps."""

    path: Path
    limits: Limits
    files: list[Path]
    fps: float
    codec: str = "frames"
    aspect: Fraction | None = None
    tick: float | None = None
    warnings: list[str] = field(default_factory=list)
    corrupt: int = 0

    @property
    def nominal_step(self) -> float | None:
        """Return the duration of a frame [s]."""
        return 1.0 / self.fps

    @property
    def end(self) -> float:
        """Return the end of the last frame [s]."""
        return len(self.files) / self.fps

    def frames(self) -> Iterator[tuple[av.VideoFrame, float | None]]:
        """Yield (frame, timestamp [s]) in order."""
        for k, file in enumerate(self.files):
            yield self._one(file), k / self.fps

    def _one(self, file: Path) -> av.VideoFrame:
        try:
            with open_container(file, self.limits) as source:
                for frame, _ in source.frames():
                    return frame
        except BrokenVideo as error:
            raise BrokenVideo(f"{shown(self.path.name)}/{error}") from error
        except (*FAULTS, OSError) as error:
            raise broken(self.path, f"{file.name}: {cause_of(error)}") from error
        raise broken(self.path, f"{file.name}: no image in it")

    def declared(self) -> int:
        """Return the number of files."""
        return len(self.files)

    expected = declared

    def verify(self, frames: int, step: float | None) -> None:
        """Raise `BrokenVideo` if the folder has no images."""
        if frames == 0:
            raise broken(self.path, "the folder holds no PNG or JPEG image")


def open_folder(path: Path, limits: Limits, fps: float | None) -> FolderSource:
    """Return a folder of frames as a `FolderSource`.

    Raises
    ------
    UserError
        If no rate is given.
    BrokenVideo
        If there are more frames than `limits` allow, or the folder cannot be read.
    """
    if fps is None or not 0 < fps < float("inf"):
        raise UserError(f'{shown(path.name)}: a folder of frames needs its rate; write "fps" in manifest.jsonl')
    try:
        files = frame_files(path)
    except OSError as error:
        raise broken(path, f"cannot be read: {cause_of(error)}") from error
    source = FolderSource(path, limits, files, fps)
    numbers = [int(m[-1]) for m in (re.findall(r"[0-9]+", file.stem) for file in files) if m]
    steps = {b - a for a, b in pairwise(numbers)}
    if len(numbers) == len(files) and len(steps) > 1:
        source.warnings.append("gaps in the numbers of the frames")
    return source
