"""Rows and the journal: one row per (video, dimension) pair, appended as it happens, last row per pair wins.

Documented in ``docs/results.md``.  The journal is JSON lines; a torn last line (a kill while writing) is ignored.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pvbench_suite.errors import UserError
from pvbench_suite.files import write_atomic

#: Version of the row's keys.
SCHEMA = 1

STATES = ("scored", "unmeasurable", "missing_video", "not_perceived", "judge_failed", "broken_video", "error")

#: States that resume does not try again.
DONE = frozenset({"scored", "unmeasurable"})

#: Under which a finished row counts as done; a change of any of them makes the row run again.
IDENTITY = (
    "model", "modality", "video", "video_sha256", "dimension", "profile", "providers", "scorer", "thresholds",
    "brief", "suite",
)  # fmt: skip

Row = dict[str, Any]


def coerce(value: Any, where: str = "row") -> Any:
    """Return `value` as the exact builtin types that JSON and execnet carry.

    Parameters
    ----------
    value : object
        None, bool, int, float, str, or lists, tuples and dicts of them; numpy scalars and small arrays are unpacked.
    where : str
        Named in the error.

    Raises
    ------
    TypeError
        For anything else, and for a number that is not finite.
    """
    if value is None or type(value) in (bool, int, str):
        return value
    if hasattr(value, "tolist") and not isinstance(value, type):
        return coerce(value.tolist(), where)
    if type(value) is float:
        if value != value or value in (float("inf"), float("-inf")):
            raise TypeError(f"{where}: {value!r} is not finite; a number that was not measured has a state instead")
        return value
    if isinstance(value, (list, tuple)):
        return [coerce(v, f"{where}[{k}]") for k, v in enumerate(value)]
    if isinstance(value, Mapping):
        return {str(k): coerce(v, f"{where}.{k}") for k, v in value.items()}
    raise TypeError(f"{where}: a {type(value).__name__} cannot be recorded; give int, float, str, bool, list or dict")


def identity(row: Mapping[str, Any]) -> str:
    """Return the canonical text of all that identifies a result (`IDENTITY`)."""
    return json.dumps([row.get(key) for key in IDENTITY], sort_keys=True)


class Journal:
    """The rows of one model and profile in ``results.jsonl``.

    Parameters
    ----------
    path : Path
        The file; it and its folder are made at the first append.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        #: Lines that could not be read, for the run's notes (a torn last line is one).
        self.torn = 0

    def read(self) -> list[Row]:
        """Return all rows in the order written; unreadable lines are counted in `torn` and left out."""
        self.torn = 0
        try:
            raw = self.path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise UserError(f"the journal {self.path} cannot be read: {error.strerror}; give --pv-report-dir") from None
        rows: list[Row] = []
        for line in raw.split(b"\n"):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                valid = isinstance(row, dict) and row.get("state") in STATES and row.get("schema") == SCHEMA
            except (ValueError, RecursionError):
                valid = False
            if valid:
                rows.append(row)
            else:
                self.torn += 1
        return rows

    def append(self, rows: Iterable[Row]) -> None:
        """Append rows with one write, so that a kill loses at most the row in flight."""
        text = "".join(json.dumps(coerce(row), ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
        if not text:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise UserError(
                f"the journal {self.path} cannot be written: {error.strerror}; give --pv-report-dir"
            ) from None
        try:
            size = os.fstat(handle).st_size
            # A torn last line must not swallow the first new one.
            if size and os.pread(handle, 1, size - 1) != b"\n":
                text = "\n" + text
            os.write(handle, text.encode())
        finally:
            os.close(handle)


def latest(rows: Iterable[Row]) -> list[Row]:
    """Return the rows that count: the last of each (model, modality, video, dimension, profile, scorer).

    Where a pair has a result of some scorer, rows of other scorers that are not results (no judge yet) are dropped.
    """
    last = _last(rows)
    results = {_pair(row)[:5] for row in last if row["state"] in DONE}
    return [row for row in last if row["state"] in DONE or _pair(row)[:5] not in results]


def _pair(row: Row) -> tuple[Any, ...]:
    return tuple(row.get(k) for k in ("model", "modality", "video", "dimension", "profile", "scorer"))


def _last(rows: Iterable[Row]) -> list[Row]:
    last: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        last.pop(_pair(row), None)
        last[_pair(row)] = row
    return list(last.values())


def write_plan(
    folder: Path, videos: Iterable[Any], profile: str, modality: str | None, scorers: Mapping[str, str]
) -> None:
    """Write ``plan.json`` beside the journal: every planned pair, so that what never ran is not forgotten.

    Only the modalities of this run are replaced, so that T2V and I2V can be scored in turn.  `scorers` says by
    dimension
    who scores in this run: a report shows that scorer's rows alone.
    """
    entries = [
        {
            "video": p.video.id,
            "modality": p.video.modality,
            "group": p.video.group,
            "seed": p.video.seed,
            "model": p.video.model,
            "tags": list(p.group.tags) if p.group else [],
            "targets": list(p.group.dimensions) if p.group else [],
            "dimensions": list(p.dimensions),
            "idle": list(p.idle),
            "scorers": {i: scorers[i] for i in p.dimensions},
        }
        for p in videos
    ]
    replaced = {modality} if modality in ("t2v", "i2v") else {e["modality"] for e in entries}
    kept = [e for e in read_plan(folder) if e["modality"] not in replaced]
    content = {"schema": SCHEMA, "profile": profile, "videos": kept + entries}
    write_atomic(folder / "plan.json", json.dumps(content, ensure_ascii=False).encode())


def read_plan(folder: Path) -> list[dict[str, Any]]:
    """Return the entries of ``plan.json`` in `folder`; empty where there is none that can be read."""
    try:
        content = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
        return list(content["videos"]) if content.get("schema") == SCHEMA else []
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []


def not_applicable(folders: Iterable[Path]) -> dict[str, int]:
    """Return, by dimension, how many pairs of the plans in `folders` were not planned because it does not apply."""
    counts = Counter(i for folder in folders for entry in read_plan(folder) for i in entry.get("idle", []))
    return dict(sorted(counts.items()))


def settled(folder: Path) -> list[Row]:
    """Return the rows that count in `folder`: the latest of each planned pair, and a `pending` row for what never ran.

    Rows of videos that are no longer planned (another subset, a deleted file of a plain folder) are left out; without a
    plan every latest row counts.
    """
    entries = read_plan(folder)
    written = Journal(folder / "results.jsonl").read()
    if not entries:
        return latest(written)
    rows = _last(written)
    planned = {(e["modality"], e["video"], d): e for e in entries for d in e["dimensions"]}
    kept = [row for row in rows if _counts(row, planned.get((row["modality"], row["video"], row["dimension"])))]
    there = {(row["modality"], row["video"], row["dimension"]) for row in kept}
    pending = [_pending(entry, pair[2], folder.name) for pair, entry in planned.items() if pair not in there]
    return kept + pending


def _counts(row: Row, entry: Mapping[str, Any] | None) -> bool:
    """Return whether a row belongs to a planned pair, and to the scorer that the plan names for it."""
    return entry is not None and entry.get("scorers", {}).get(row["dimension"], row["scorer"]) == row["scorer"]


def _pending(entry: Mapping[str, Any], dimension: str, profile: str) -> Row:
    return {
        **{key: entry[key] for key in ("video", "modality", "group", "seed", "model", "tags")},
        "schema": SCHEMA, "dimension": dimension, "profile": profile, "targeted": dimension in entry["targets"],
        "state": "pending", "reason": "not run yet", "value": None, "unit": None, "score": None, "n": None,
        "spread": None, "assumed": [], "scorer": "", "providers": {}, "thresholds": "", "attempt": 0, "seconds": None,
        "warnings": [], "message": "run again without -k and --pv-limit", "suite": "", "brief": None,
        "video_sha256": None,
    }  # fmt: skip
