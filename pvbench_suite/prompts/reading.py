"""Reads untrusted prompt files into raw records; knows JSONL and CSV, nothing of what a group means.

Conventions
-----------
Lines are counted from 1.  Every fault is a `PromptError` of one line: ``file:line: key: what is wrong``.  Text from
the file is shown escaped and cut, so that a message cannot hold a line break or a terminal sequence.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from pvbench_suite.errors import PromptError

MAX_FILE = 64 * 1024 * 1024  # [byte]; 600 groups take about 1.5 MB
MAX_LINE = 256 * 1024  # [byte]; a group takes 2 to 4 kB


def shown(value: object, limit: int = 60) -> str:
    """Return `value` as printable text of at most about `limit` characters, without line breaks."""
    text = value if isinstance(value, str) else str(value)
    safe = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[: limit + 1])
    return safe if len(text) <= limit else safe[:limit] + "..."


def fail(file: str, line: int | None, key: str, problem: str) -> NoReturn:
    """Raise the `PromptError` that names file, line and key in one line."""
    place = shown(file, 200) + (f":{line}" if line is not None else "")
    raise PromptError(": ".join(part for part in (place, shown(key), shown(problem, 400)) if part))


def read_bytes(path: Path) -> bytes:
    """Return the content of a regular file of at most `MAX_FILE` bytes; PromptError otherwise."""
    name = str(path)
    try:
        if not path.is_file():
            fail(name, None, "", "is no file" if path.exists() else "does not exist; give a .jsonl or .csv file")
        with path.open("rb") as stream:
            raw = stream.read(MAX_FILE + 1)
    except (OSError, ValueError) as error:
        fail(name, None, "", f"cannot be read: {error.__class__.__name__}: {error}")
    if len(raw) > MAX_FILE:
        fail(name, None, "", f"is larger than {MAX_FILE >> 20} MiB; split it")
    return raw


def _lines(raw: bytes, file: str) -> Iterator[tuple[int, str]]:
    """Yield (number, text) of every line that is not blank, without BOM and carriage return."""
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if len(line) > MAX_LINE:
            fail(file, number, "", f"the line has {len(line)} bytes, more than {MAX_LINE}")
        try:
            text = line.decode("utf-8").strip()
        except UnicodeDecodeError as error:
            fail(file, number, "", f"byte {error.start + 1} of the line is not UTF-8; save the file as UTF-8")
        if text:
            yield number, text


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs as a dict; ValueError when a key stands twice, which JSON readers settle differently."""
    data: dict[str, Any] = {}
    for key, value in pairs:
        if key in data:
            raise ValueError(f"key {key!r} stands twice in one object")
        data[key] = value
    return data


def _no_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which are not JSON."""
    raise ValueError(f"{name} is not JSON; leave the key out when there is no number")


def jsonl_objects(raw: bytes, file: str) -> Iterator[tuple[int, str]]:
    """Yield (line, JSON text of one object) per line that is not blank; PromptError names file and line."""
    for number, text in _lines(raw, file):
        try:
            data = json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
        except json.JSONDecodeError as error:
            fail(file, number, "", f"is not JSON at column {error.colno}: {error.msg}; write one object a line")
        except RecursionError:
            fail(file, number, "", "is nested too deeply")
        except ValueError as error:
            fail(file, number, "", str(error))
        if not isinstance(data, dict):
            fail(file, number, "", f"holds a {type(data).__name__}, not an object; write one object a line")
        yield number, text


def csv_rows(raw: bytes, file: str, columns: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (line, cells by column) of a CSV with a header; only `columns` are known, blank rows are skipped."""
    for _ in _lines(raw, file):
        pass
    text = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    start = 1
    try:
        for row in reader:
            line, start = start, reader.line_num + 1
            if not any(cell.strip() for cell in row):
                continue
            if header is None:
                header = _header(row, file, line, columns)
            elif len(row) != len(header):
                fail(file, line, "", f"has {len(row)} cells, the header {len(header)}; quote texts that hold commas")
            else:
                yield line, dict(zip(header, row, strict=True))
    except csv.Error as error:
        fail(file, reader.line_num, "", f"is not CSV: {error}")


def _header(row: list[str], file: str, line: int, columns: tuple[str, ...]) -> list[str]:
    """Return the column names of the header row; PromptError when one is unknown or stands twice."""
    names = [cell.strip() for cell in row]
    for index, name in enumerate(names):
        if name not in columns:
            fail(file, line, shown(name), f"is no known column; known: {', '.join(columns)}")
        if name in names[:index]:
            fail(file, line, name, "the column stands twice")
    return names
