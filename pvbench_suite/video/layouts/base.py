"""What a layout is: a look that says whether a folder is of its kind, and a reading that finds the videos.

Conventions
-----------
A layout only produces `Found` entries; ids, groups, duplicates and what is missing are settled for all layouts alike in
`pvbench_suite.video.manifest`.  Texts from files beside the videos are untrusted and read with a limit.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from pvbench_suite.errors import ModelDirError
from pvbench_suite.video.match import Matcher, SuiteLike
from pvbench_suite.video.names import nfc, shown
from pvbench_suite.video.records import MAX_BYTES
from pvbench_suite.video.tree import Tree, stem
from pvbench_suite.video.types import Modality


@dataclass(frozen=True, slots=True)
class Found:
    """One video as a layout sees it.

    `label` becomes the id; `readings` are (text, seed) ways to read the name, tried in order against the suite; `group`
    is set only where a list states it; `must_match` means that without a group the file is no video of the run.
    """

    path: PurePosixPath
    label: str
    modality: Modality = "t2v"
    readings: tuple[tuple[str, int | None], ...] = ()
    prompt: str | None = None
    seed: int | None = None
    group: str | None = None
    reference: Path | None = None
    fps: float | None = None
    dimensions: tuple[str, ...] | None = None
    must_match: bool = False
    by_prompt: bool = False


@dataclass(slots=True)
class Reading:
    """What a layout found: videos, files that belong to none, and notes for the user."""

    found: list[Found] = field(default_factory=list)
    extra: list[PurePosixPath] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Context:
    """What a layout may want to know beside the folder."""

    model: str
    suite: SuiteLike | None = None
    modality: str = "both"
    fps: float | None = None

    @cached_property
    def files(self) -> dict[str, str]:
        """Return the group ids by the file that a prompt CSV names for them."""
        named: dict[str, str] = dict(getattr(self.suite, "files", None) or {})
        return {nfc(PurePosixPath(file.replace("\\", "/")).as_posix()): group for group, file in named.items()}

    @cached_property
    def ids(self) -> Matcher:
        """Return the matcher of names against group ids, and against the file names that a prompt CSV gives."""
        groups = self.suite.groups if self.suite else ()
        named = [(stem(PurePosixPath(file)), group) for file, group in self.files.items()]
        return Matcher([*((group.id, group.id) for group in groups), *named])

    @cached_property
    def texts(self) -> Matcher:
        """Return the matcher of names against group ids and prompts, for layouts that name files by the prompt."""
        groups = self.suite.groups if self.suite else ()
        return Matcher([(key, group.id) for group in groups for key in (group.id, group.prompt)])


@dataclass(frozen=True, slots=True)
class Layout:
    """A named layout: `detect` says why a folder is of this kind, or nothing; `read` finds the videos."""

    name: str
    detect: Callable[[Tree, Context], str | None]
    read: Callable[[Tree, Context], Reading]


def label_of(path: PurePosixPath) -> str:
    """Return what an id is made from: the relative path without extension, joined by ``-``, without t2v/ or i2v/."""
    parts = [*path.parts[:-1], stem(path)]
    if len(parts) > 1 and parts[0].casefold() in ("t2v", "i2v"):
        parts = parts[1:]
    return "-".join(parts)


def modality_of(path: PurePosixPath) -> Modality:
    """Return i2v for a video inside a folder of that name, else t2v."""
    return "i2v" if any(part.casefold() == "i2v" for part in path.parts[:-1]) else "t2v"


def read_json(path: Path) -> Any:
    """Return the JSON value of a file beside the videos, or None if there is none; ModelDirError if it is damaged."""
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise ValueError(f"larger than {MAX_BYTES >> 20} MiB")
        return json.loads(raw)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise ModelDirError(f"{shown(path.name)}: cannot be read as JSON: {shown(error)}") from error


def read_lines(path: Path) -> list[str]:
    """Return the lines of a prompt list, blank ones at the end left out; ModelDirError if it cannot be read."""
    try:
        with path.open("rb") as stream:
            text = stream.read(MAX_BYTES).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise ModelDirError(f"{shown(path.name)}: cannot be read: {shown(error)}") from error
    return [line.strip() for line in text.rstrip().split("\n")]


def string(data: Any, *keys: str) -> str | None:
    """Return the first of `keys` that holds a text that is not blank in an untrusted object, or None."""
    if isinstance(data, dict):
        for key in keys:
            value = data.get(key)
            if isinstance(value, str) and value.strip():
                return value.strip()
    return None


def share(paths: Iterable[bool]) -> float:
    """Return the share of true answers, 0 for none."""
    answers = list(paths)
    return sum(answers) / len(answers) if answers else 0.0
