"""Lists of videos that a person or a generator wrote: JSONL, CSV, plain text, or VBench's JSON of {file: prompt}.

Conventions
-----------
Lists are untrusted.  Each record is validated; whatever is wrong is one `ModelDirError` that names file, line and key.
Paths are relative to the list's folder or the model directory, and may not lead out of it, links included.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, NoReturn

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from pvbench_suite.errors import ModelDirError
from pvbench_suite.files import holds
from pvbench_suite.video.match import nearest
from pvbench_suite.video.names import shown
from pvbench_suite.video.types import Modality

MAX_BYTES = 64 * 1024 * 1024
_DIMENSION = re.compile(r"(?i)(R|IF|BC|PTQ)[-_]?(\d\d)")
#: The names that other benchmarks give to our columns.
ALIASES = {
    "path": ("path", "file", "video", "videopath", "video_path", "filename"),
    "prompt": ("prompt", "caption", "text"),
    "reference": ("reference", "reference_image", "ref_image", "image"),
    "dimensions": ("dimensions", "dims"),
}


def _dimension_list(value: Any) -> Any:
    """Return ids in our spelling, from a list or from text separated by spaces, commas or semicolons."""
    parts = re.split(r"[\s,;|]+", value.strip()) if isinstance(value, str) else value
    if not isinstance(parts, list | tuple):
        return value
    ids = []
    for part in parts:
        found = _DIMENSION.fullmatch(str(part))
        if not found:
            raise ValueError(f"{shown(part, 40)!r} is no dimension id such as R22 or IF-01")
        prefix = found[1].upper()
        ids.append(f"{prefix}{'' if prefix == 'R' else '-'}{found[2]}")
    return tuple(dict.fromkeys(ids)) or None


def _field(name: str, **limits: Any) -> Any:
    return Field(default=None, validation_alias=AliasChoices(*ALIASES[name]), **limits)


Text = Annotated[str, Field(min_length=1, max_length=20_000)]


class Record(BaseModel):
    """One video of a list; `extra` is the place for whatever else a generator wants to keep."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: Annotated[str, Field(min_length=1, max_length=4096, validation_alias=AliasChoices(*ALIASES["path"]))]
    id: Annotated[str, Field(min_length=1, max_length=400)] | None = None
    group: Annotated[str, Field(min_length=1, max_length=80)] | None = None
    prompt: Text | None = _field("prompt")
    modality: Modality | None = None
    seed: Annotated[int, Field(ge=0)] | None = None
    model: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    reference: Text | None = _field("reference")
    fps: Annotated[float, Field(gt=0, le=10_000, allow_inf_nan=False)] | None = None
    dimensions: Annotated[tuple[str, ...] | None, BeforeValidator(_dimension_list)] = _field("dimensions")
    extra: dict[str, Any] | None = None

    @property
    def posix(self) -> PurePosixPath:
        """Return the path as written."""
        return PurePosixPath(self.path)


def read_list(path: Path) -> list[tuple[int, Record]]:
    """Return (line, record) of a list; its kind follows from the extension: .jsonl, .json, .csv, else one path a line.

    Raises
    ------
    ModelDirError
        If the list cannot be read or a record is wrong; one line with file, line and key.
    """
    name = shown(path.name)
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
        text = raw.decode("utf-8-sig")
    except OSError as error:
        raise ModelDirError(f"{name}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ModelDirError(f"{name}: is not UTF-8 (byte {error.start + 1}); save it as UTF-8") from error
    if len(raw) > MAX_BYTES:
        raise ModelDirError(f"{name}: is larger than {MAX_BYTES >> 20} MiB")
    kind = path.suffix.lower()
    rows = {".jsonl": _jsonl, ".json": _json, ".csv": _csv}.get(kind, _lines)(text, name)
    return [(line, _record(data, name, line)) for line, data in rows]


def _fail(name: str, line: int, problem: str) -> NoReturn:
    raise ModelDirError(f"{name}:{line}: {shown(problem, 400)}")


def _lines(text: str, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, entry in enumerate(text.split("\n"), start=1):
        if entry.strip():
            yield line, {"path": entry.strip("\r")}


def _loads(text: str, name: str, line: int) -> Any:
    """Return the JSON value; NaN and Infinity are no JSON."""
    try:
        return json.loads(text, parse_constant=lambda constant: _fail(name, line, f"{constant} is not JSON"))
    except json.JSONDecodeError as error:
        _fail(name, line, f"is not JSON at column {error.colno}: {error.msg}")
    except (RecursionError, ValueError) as error:
        _fail(name, line, f"is not JSON: {error}")


def _jsonl(text: str, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, entry in enumerate(text.split("\n"), start=1):
        if not entry.strip():
            continue
        data = _loads(entry, name, line)
        if not isinstance(data, dict):
            _fail(name, line, f"holds a {type(data).__name__}, not an object; write one object a line")
        yield line, data


def _json(text: str, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the entries of a JSON list of objects, or of VBench's map of file names to prompts."""
    data = _loads(text, name, 1)
    if isinstance(data, dict):
        data = [{"path": key, "prompt": value} for key, value in data.items()]
    for entry in data if isinstance(data, list) else [data]:
        if not isinstance(entry, dict):
            _fail(name, 1, "is neither a list of objects nor a map of file names to prompts")
        yield 1, entry


def _csv(text: str, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    known = {*Record.model_fields, *(alias for names in ALIASES.values() for alias in names)} - {"extra"}
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    try:
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if header is None:
                header = [cell.strip().casefold() for cell in row]
                if not set(header) & set(ALIASES["path"]):
                    _fail(name, reader.line_num, "the header needs a column 'file' (and 'prompt')")
                continue
            if len(row) != len(header):
                _fail(name, reader.line_num, f"has {len(row)} cells, the header {len(header)}; quote texts with commas")
            cells = dict(zip(header, row, strict=True))
            yield reader.line_num, {k: v for k, v in cells.items() if k in known and v.strip()}
    except csv.Error as error:
        _fail(name, reader.line_num, f"is not CSV: {error}")


def _record(data: dict[str, Any], name: str, line: int) -> Record:
    """Return the validated record; ModelDirError names the first wrong key."""
    try:
        return Record.model_validate(data)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in fault["loc"])
        problem = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            near = nearest([key], [*Record.model_fields])[0]
            problem = f"is no known key (nearest: {near}); your own data may stand under 'extra'"
        elif fault["type"] == "missing":
            problem = "is required"
        _fail(name, line, f"{key}: {problem}")


def inside(root: Path, path: str, where: str) -> Path:
    """Return `path`, taken relative to `root`, with links resolved.

    Raises
    ------
    ModelDirError
        If it leads out of `root`, by ``..``, by being absolute, or by a link.
    """
    try:
        found = (root / path).resolve()
        escapes = not holds(root, root / path)
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelDirError(f"{where}: {shown(path)!r} is no path ({error.__class__.__name__})") from error
    if escapes:
        raise ModelDirError(f"{where}: {shown(path)!r} leads out of {shown(root)}; paths are relative to it")
    return found
