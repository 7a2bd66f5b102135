"""Matching: from a file's name to the prompt group it answers, never by "first wins".

Conventions
-----------
Steps, in this order, each on Unicode form NFC: exact; case folded; a prefix where names were cut (VBench-2.0 cuts
prompts to 180 characters, PhyGround to 80); sanitized, with every run of other characters made one ``_``.  The first
step with a candidate decides; several candidates are an error that lists them.
"""

from __future__ import annotations

import difflib
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from pvbench_suite.errors import ModelDirError
from pvbench_suite.video.names import nfc, shown

#: Shorter texts are no cut names: 80 characters, less what a generator strips from the end.
MIN_PREFIX = 72


class Ambiguous(ModelDirError):
    """A name fits several groups; the message lists them."""

    def __init__(self, text: str, candidates: Iterable[str]) -> None:
        self.candidates = tuple(sorted(candidates))
        named = ", ".join(self.candidates[:5]) + (", ..." if len(self.candidates) > 5 else "")
        super().__init__(
            f"{shown(text)!r} fits {len(self.candidates)} groups: {named}; rename it or write a manifest.jsonl"
        )


class GroupLike(Protocol):
    """What is needed of a prompt group."""

    @property
    def id(self) -> str:
        """Return the group's id."""

    @property
    def prompt(self) -> str:
        """Return the text that the generator got."""


class SuiteLike(Protocol):
    """What is needed of a prompt suite (`pvbench_suite.prompts.loader.Suite`)."""

    @property
    def groups(self) -> Sequence[GroupLike]:
        """Return the groups in order."""

    def get(self, group_id: str, /) -> GroupLike | None:
        """Return the group of that exact id, or None."""


def sanitized(text: str, *, ascii_only: bool) -> str:
    """Return `text` with each run of characters that are no letters or digits made one ``_``, case folded.

    Names that hold letters of other scripts keep them, lest two of them become the same underscores.
    """
    return re.sub(r"[^A-Za-z0-9]+" if ascii_only else r"[\W_]+", "_", nfc(text)).strip("_").casefold()


class Matcher:
    """Finds the value that belongs to a name among many keys.

    Parameters
    ----------
    keys : iterable of (str, str)
        (key, value); several keys may lead to one value.
    """

    def __init__(self, keys: Iterable[tuple[str, str]]) -> None:
        self._exact: dict[str, set[str]] = {}
        self._folded: dict[str, set[str]] = {}
        self._plain: dict[str, set[str]] = {}
        self._wide: dict[str, set[str]] = {}
        for key, value in keys:
            text = nfc(key)
            self._exact.setdefault(text, set()).add(value)
            self._folded.setdefault(text.casefold(), set()).add(value)
            self._plain.setdefault(sanitized(text, ascii_only=True), set()).add(value)
            self._wide.setdefault(sanitized(text, ascii_only=False), set()).add(value)
        self._sorted = sorted(self._folded)
        self._sorted_plain = sorted(self._plain)

    def exact(self, text: str) -> str | None:
        """Return the value of the key equal to `text` in form NFC, or None; `Ambiguous` when keys are equal."""
        return self._one(text, self._exact.get(nfc(text), set()))

    def find(self, text: str) -> str | None:
        """Return the value that `text` stands for, or None.

        Raises
        ------
        Ambiguous
            If the first step that gives a candidate gives several.
        """
        folded = nfc(text).casefold()
        alike = sanitized(text, ascii_only=text.isascii())
        for candidates in (
            self._exact.get(nfc(text), set()),
            self._folded.get(folded, set()),
            self._begins(folded, self._sorted, self._folded),
            (self._plain if text.isascii() else self._wide).get(alike, set()) if alike else set(),
            self._begins(alike, self._sorted_plain, self._plain) if text.isascii() else set(),
        ):
            if candidates:
                return self._one(text, candidates)
        return None

    @staticmethod
    def _one(text: str, candidates: set[str]) -> str | None:
        if len(candidates) > 1:
            raise Ambiguous(text, candidates)
        return next(iter(candidates), None)

    @staticmethod
    def _begins(text: str, ordered: list[str], keys: Mapping[str, set[str]]) -> set[str]:
        """Return the values of the keys that begin with `text`, if it is long enough to be a cut name."""
        found: set[str] = set()
        if len(text) >= MIN_PREFIX:
            for key in ordered[bisect_left(ordered, text) :]:
                if not key.startswith(text):
                    break
                found |= keys[key]
        return found


def nearest(texts: Iterable[str], names: Iterable[str], n: int = 3) -> tuple[str, ...]:
    """Return up to `n` of `names` that look most like any of `texts`, best first."""
    pool = list(dict.fromkeys(names))
    folded = {name: name.casefold() for name in pool}
    scores: dict[str, float] = {}
    for text in texts:
        matcher = difflib.SequenceMatcher(b=text.casefold())
        for name in pool:
            matcher.set_seq1(folded[name])
            scores[name] = max(scores.get(name, 0.0), matcher.ratio())
    return tuple(sorted(pool, key=lambda name: (-scores.get(name, 0.0), name))[:n])
