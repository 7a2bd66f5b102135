"""Kept judgements: one JSON file per (video, judge, question), with the rules of the perception cache.

Conventions
-----------
The key is the sha256 of the video's bytes, the judge's id and the digest of all that is asked; never a path or a name.
A file is written atomically, checked by its digest, and its answer is read again by the same parser when it is used:
what a file says of itself is never believed.  Only valid answers are kept.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pvbench_suite.files import write_atomic
from pvbench_suite.judge.backend import Exchange
from pvbench_suite.judge.verdict import InvalidAnswer, parse

SCHEMA = 1
PRODUCT = "judgement"


def key(digest: str, judge: str, question: str) -> str:
    """Return the cache key (sha256 hex) of one judgement."""
    return hashlib.sha256("\n".join([digest, PRODUCT, judge, question]).encode()).hexdigest()


def relative(digest: str, identifier: str) -> Path:
    """Return where a judgement stands inside a cache folder."""
    return Path(digest[:2]) / digest / f"{PRODUCT}-{identifier[:24]}.json"


def _seal(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


class Store:
    """Folders that are read in order; the first is written."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = tuple(folders)
        #: One line per file that could not be read or written, for the run's notes.
        self.notes: list[str] = []

    def load(self, digest: str, judge: str, question: str) -> Exchange | None:
        """Return the kept conversation, or None where there is none or its file does not hold (noted)."""
        identifier = key(digest, judge, question)
        for folder in self.folders:
            path = folder / relative(digest, identifier)
            try:
                raw = path.read_bytes()
            except OSError:
                continue
            try:
                return _read(raw, identifier)
            except (ValueError, TypeError, KeyError, InvalidAnswer, RecursionError) as error:
                self.notes.append(f"cache file {path} does not hold ({str(error)[:80]}); it is asked again")
        return None

    def save(self, digest: str, judge: str, question: str, found: Exchange, frames: int) -> bool:
        """Write a conversation into the first folder; return whether that could be done (noted otherwise)."""
        if not self.folders:
            return False
        identifier = key(digest, judge, question)
        content = {
            "schema": SCHEMA, "product": PRODUCT, "key": identifier, "video": digest, "judge": judge,
            "question": question, "raw": found.text, "frames": frames, "tries": found.tries,
            "seconds": found.seconds, "tokens_in": found.tokens_in, "tokens_out": found.tokens_out,
            "expected": found.expected, "entropy": found.entropy, "served": found.served, "run": found.run,
        }  # fmt: skip
        path = self.folders[0] / relative(digest, identifier)
        try:
            write_atomic(path, json.dumps({**content, "digest": _seal(content)}).encode())
        except OSError as error:
            self.notes.append(f"judgement not kept in {path.parent}: {error.strerror}")
            return False
        return True


def _read(raw: bytes, identifier: str) -> Exchange:
    content = json.loads(raw)
    if not isinstance(content, dict):
        raise ValueError("no object")
    digest = content.pop("digest", None)
    if digest != _seal(content):
        raise ValueError("its digest is wrong")
    if content["schema"] != SCHEMA or content["product"] != PRODUCT or content["key"] != identifier:
        raise ValueError("it is another judgement")
    if type(content["raw"]) is not str or type(content["frames"]) is not int:
        raise ValueError("it has no answer")
    parsed = parse(content["raw"], "stop", content["frames"])
    return Exchange(
        content["raw"],
        parsed,
        _number(content["tries"], int, 1, 99) or 1,
        _number(content["seconds"], float, 0.0, 1e9) or 0.0,
        _number(content["tokens_in"], int, 0, 10**9),
        _number(content["tokens_out"], int, 0, 10**9),
        _number(content["expected"], float, 1.0, 5.0),
        _number(content["entropy"], float, 0.0, 3.0),
        str(content["served"])[:300],
        str(content["run"])[:300],
    )


def _number(value: Any, kind: Any, least: float, most: float) -> Any:
    """Return `value` as `kind` if it is a number in range, None if it is null."""
    if value is None:
        return None
    if type(value) not in (int, float) or not math.isfinite(value) or not least <= value <= most:
        raise ValueError(f"{value!r} is out of range")
    return kind(value)
