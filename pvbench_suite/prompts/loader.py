"""Loads prompt suites: the shipped 600 groups, or a user's own JSONL or CSV file.

Conventions
-----------
A prompt file is untrusted.  Whatever is wrong with it is one `PromptError` that names file, line and key.  Ids are
unique also case-folded, since they become file names.
"""

from __future__ import annotations

import difflib
import hashlib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from pydantic import ValidationError

from pvbench_suite.errors import PromptError, UserError
from pvbench_suite.prompts.reading import csv_rows, fail, jsonl_objects, read_bytes, shown
from pvbench_suite.prompts.schema import Group

SUBSETS = ("mini", "core", "full")
CSV_COLUMNS = ("id", "file", "prompt", "dimensions", "tags")
_ID_HELP = "ids use A-Z a-z 0-9 _ . - only, 1 to 80 characters, no leading dot"
_SYMMETRY_HELP = "use none, axis, sphere, or a number and -fold (4-fold)"
_DATA = "pvbench_suite.prompts"


@dataclass(frozen=True)
class Suite:
    """Prompt groups in file order.

    `source` names where they come from; `files` maps ids to the video file names that a CSV gave, and is empty
    for JSONL, where the name follows from the id.
    """

    groups: tuple[Group, ...]
    source: str = "the shipped suite"
    files: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self.groups)

    def __iter__(self) -> Iterator[Group]:
        """Return an iterator over the groups in file order."""
        return iter(self.groups)

    @cached_property
    def _by_id(self) -> dict[str, Group]:
        return {group.id: group for group in self.groups}

    def get(self, group_id: str) -> Group | None:
        """Return the group of that exact id, or None."""
        return self._by_id.get(group_id)

    def nearest(self, text: str, n: int = 3) -> tuple[str, ...]:
        """Return up to `n` ids that look most like `text`, best first, for error messages."""
        return tuple(difflib.get_close_matches(text, self._by_id, n=n, cutoff=0.0))

    def subset(self, name: str) -> Suite:
        """Return the groups of subset `name` (mini, core or full) that are in this suite, in file order.

        Raises
        ------
        UserError
            If `name` is no subset, or if this suite has none of its groups.
        """
        if name not in SUBSETS:
            raise UserError(f"subset {shown(name)!r} is unknown; choose {', '.join(SUBSETS)}")
        if name == "full":
            return self
        wanted = subset_ids(name)
        kept = tuple(group for group in self.groups if group.id in wanted)
        if not kept:
            raise UserError(
                f"{shown(self.source, 200)} has none of the {len(wanted)} groups of subset {name!r} "
                f"(the first is {next(iter(wanted))}); use subset full"
            )
        names = {group.id: self.files[group.id] for group in kept if group.id in self.files}
        return replace(self, groups=kept, files=names)

    def absent(self, name: str) -> tuple[str, ...]:
        """Return the ids of subset `name` that this suite does not have (not written yet)."""
        return tuple(i for i in subset_ids(name) if i not in self._by_id) if name != "full" else ()

    def digest(self) -> str:
        """Return 12 hex digits that change when any group does; the order of the file does not matter."""
        lines = sorted(f"{group.id} {group.digest()}" for group in self.groups)
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def subset_ids(name: str) -> Mapping[str, None]:
    """Return the ids of subset `name` (mini or core) in order, from ``subsets.toml``; core contains mini."""
    table = tomllib.loads(files(_DATA).joinpath("subsets.toml").read_text("utf-8"))
    ids = list(table["mini"]["groups"])
    if name == "core":
        ids += table["core"]["groups"]
    return dict.fromkeys(ids)


def load(path: Path | None = None) -> Suite:
    """Return the suite in `path`, or the shipped one.

    Parameters
    ----------
    path : Path, optional
        A ``.csv`` with the columns `id` or `file`, `prompt` and optionally `dimensions` and `tags` (separated by
        spaces or semicolons); any other name is read as JSONL.  None: the shipped ``groups.jsonl``, which gives an
        empty suite when it is missing or empty.

    Raises
    ------
    PromptError
        If the file cannot be used; one line with file, line and key.
    """
    if path is None:
        shipped = files(_DATA).joinpath("groups.jsonl")
        raw = shipped.read_bytes() if shipped.is_file() else b""
        return Suite(_unique(_from_jsonl(raw, "groups.jsonl"), "groups.jsonl"))
    path, name = Path(path), str(path)
    raw = read_bytes(path)
    names: dict[str, str] = {}
    found = _from_csv(raw, name, names) if path.suffix.lower() == ".csv" else _from_jsonl(raw, name)
    groups = _unique(found, name)
    if not groups:
        fail(name, None, "", "holds no group; write one JSON object a line, or a CSV with a header")
    return Suite(groups, source=name, files=names)


def _from_jsonl(raw: bytes, file: str) -> Iterator[tuple[int, Group]]:
    """Yield (line, group) of a JSONL file."""
    for line, text in jsonl_objects(raw, file):
        try:
            # Strict, and from the text: "0.2" is no number, true is no mass, and arrays still become tuples.
            yield line, Group.model_validate_json(text, strict=True)
        except ValidationError as error:
            _explain(error, file, line)


def _from_csv(raw: bytes, file: str, names: dict[str, str]) -> Iterator[tuple[int, Group]]:
    """Yield (line, group) of a CSV file; fills `names` with the video file of each id."""
    for line, row in csv_rows(raw, file, CSV_COLUMNS):
        if "prompt" not in row or not ({"id", "file"} & row.keys()):
            fail(file, 1, "", f"the header needs prompt and one of id, file; known: {', '.join(CSV_COLUMNS)}")
        data: dict[str, Any] = {"prompt": row["prompt"]}
        video = row.get("file", "").strip()
        data["id"] = row.get("id", "").strip() or _id_from_file(video, file, line)
        for key in ("dimensions", "tags"):
            data[key] = tuple(part for part in re.split(r"[\s;,|]+", row.get(key, "")) if part)
        try:
            group = Group.model_validate(data)
        except ValidationError as error:
            _explain(error, file, line)
        if video:
            _id_from_file(video, file, line)
            names[group.id] = video
        yield line, group


def _id_from_file(video: str, file: str, line: int) -> str:
    """Return the id that a video's file name gives: its stem, with every other character made ``_``."""
    path = PurePosixPath(video.replace("\\", "/"))
    if not video or path.is_absolute() or ".." in path.parts or re.match(r"[A-Za-z]:", video):
        fail(file, line, "file", f"{shown(video)!r} is no path inside the model directory")
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", path.stem).lstrip(".")[:80]


def _unique(found: Iterable[tuple[int, Group]], file: str) -> tuple[Group, ...]:
    """Return the groups; PromptError when two ids are equal, also case-folded, or read as a seed of another."""
    lines: dict[str, int] = {}
    groups = []
    for line, group in found:
        key = group.id.casefold()
        if key in lines:
            fail(file, line, "id", f"{group.id!r} stands already in line {lines[key]} (upper and lower case are equal)")
        lines[key] = line
        groups.append(group)
    for group in groups:
        base, _, seed = group.id.rpartition(".s")
        if seed.isdecimal() and base.casefold() in lines:
            line = lines[group.id.casefold()]
            fail(file, line, "id", f"{group.id!r} is the file name of seed {seed} of {base!r}; rename one")
    return tuple(groups)


def _explain(error: ValidationError, file: str, line: int) -> NoReturn:
    """Raise the first fault that pydantic found as a `PromptError` in plain words."""
    faults = error.errors(include_url=False, include_context=True)
    first = faults[0]
    key = ".".join(str(part) for part in first["loc"])
    kind, message = first["type"], first["msg"].removeprefix("Value error, ")
    if kind == "extra_forbidden":
        message = "is no known key"
        near = difflib.get_close_matches(str(first["loc"][-1]), list(Group.model_fields), n=1)
        message += f" (did you mean {near[0]}?)" if near and len(first["loc"]) == 1 else ""
    elif kind == "string_pattern_mismatch":
        message = f"{shown(first['input'])!r}: {_SYMMETRY_HELP if key.endswith('symmetry') else _ID_HELP}"
    elif kind == "missing":
        message = "is required"
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    raise PromptError(f"{shown(file, 200)}:{line}: {shown(key) + ': ' if key else ''}{shown(message, 300)}{more}")
