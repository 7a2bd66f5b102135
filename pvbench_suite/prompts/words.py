"""Words of prompts: tokens, 5-grams, and the word lists of ``vocabulary.toml``.

Conventions
-----------
A word is a run of letters and digits, with inner apostrophes, hyphens, points and commas kept (``close-up``, ``0.5``).
Comparisons are in lower case; a hyphen equals a space in the word lists.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from itertools import combinations, pairwise
from typing import Any

GRAM = 5

_WORD = re.compile("[^\\W_]+(?:['\u2019.,-][^\\W_]+)*")
_IRREGULAR = {
    "men": "man",
    "women": "woman",
    "children": "child",
    "people": "person",
    "feet": "foot",
    "teeth": "tooth",
    "geese": "goose",
    "mice": "mouse",
    "dice": "die",
    "dominoes": "domino",
}


def words(text: str) -> tuple[str, ...]:
    """Return the words of `text` as written, in order."""
    return tuple(_WORD.findall(text))


def tokens(text: str) -> tuple[str, ...]:
    """Return the words of `text` in lower case, split at hyphens and without possessive endings."""
    flat = text.lower().replace("\u2019", "'").replace("-", " ")
    return tuple(word.removesuffix("'s") for word in _WORD.findall(flat))


def singulars(token: str) -> frozenset[str]:
    """Return `token` and every singular that it may be the plural of."""
    found = {token, _IRREGULAR.get(token, token)}
    if len(token) > 3 and token.endswith("s") and not token.endswith("ss"):
        found.add(token[:-1])
        if token.endswith("ies"):
            found.add(token[:-3] + "y")
        if token.endswith("es"):
            found.add(token[:-2])
        if token.endswith("ves"):
            found |= {token[:-3] + "f", token[:-3] + "fe"}
    return frozenset(found)


def mentions(text: str, phrase: str) -> bool:
    """Return whether the words of `phrase` stand in `text` side by side, singular and plural alike."""
    wanted = [singulars(token) for token in tokens(phrase)]
    have = [singulars(token) for token in tokens(text)]
    starts = range(len(have) - len(wanted) + 1)
    return bool(wanted) and any(all(have[k + i] & want for i, want in enumerate(wanted)) for k in starts)


def grams(text: str, n: int = GRAM) -> frozenset[tuple[str, ...]]:
    """Return the set of runs of `n` tokens of `text`; empty for a shorter text."""
    flat = tokens(text)
    return frozenset(flat[k : k + n] for k in range(len(flat) - n + 1))


def gram_counts(texts: Iterable[str]) -> Counter[str]:
    """Return in how many of the texts each 5-gram stands."""
    return Counter(" ".join(gram) for text in texts for gram in grams(text))


def overlaps(texts: Sequence[str]) -> list[tuple[float, int, int]]:
    """Return (share, i, j) of all pairs with a common 5-gram, largest share first.

    The share is the number of common 5-grams over that of the text with fewer.
    """
    sets = [grams(text) for text in texts]
    holders: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, found in enumerate(sets):
        for gram in found:
            holders[gram].append(index)
    shared = Counter(pair for indices in holders.values() for pair in combinations(indices, 2))
    rated = [(count / min(len(sets[i]), len(sets[j])), i, j) for (i, j), count in shared.items()]
    return sorted(rated, key=lambda item: (-item[0], item[1], item[2]))


def sentences(text: str) -> int:
    """Return how many sentences `text` has, counting ends followed by space or by nothing."""
    return len(re.findall(r"[.!?]+(?=\s|$)", text.strip())) or 1


def inner_capitals(text: str) -> tuple[str, ...]:
    """Return the capitalized words that do not begin a sentence and are not written in capitals only."""
    found = list(_WORD.finditer(text))
    return tuple(
        word[0]
        for before, word in pairwise(found)
        if word[0][0].isupper()
        and not word[0].isupper()
        and not re.search(r"[.!?:\n\"\u201c]", text[before.end() : word.start()])
    )


@cache
def vocabulary() -> dict[str, Any]:
    """Return the word lists of ``vocabulary.toml``."""
    return tomllib.loads(files("pvbench_suite.prompts").joinpath("vocabulary.toml").read_text("utf-8"))


def _entry(text: str) -> str:
    """Return the regular expression of one entry."""
    body = re.escape(text.removesuffix("*").lower()).replace(r"\ ", r"[\s-]+")
    return body + (r"[a-z]*" if text.endswith("*") else r"(?:e?s)?")


@cache
def _pattern(table: str, row: str | None = None) -> re.Pattern[str]:
    """Return the compiled list `table`, or its `row` where it is a table of lists."""
    entries = vocabulary()[table] if row is None else vocabulary()[table][row]
    return re.compile(r"(?<![^\W_])(?:" + "|".join(map(_entry, entries)) + r")(?![^\W_])")


def found(text: str, table: str) -> frozenset[str]:
    """Return the distinct words of `text` that list `table` holds, in lower case."""
    return frozenset(_pattern(table).findall(text.lower().replace("\u2019", "'")))


def kinds(text: str, table: str) -> tuple[str, ...]:
    """Return the rows of `table` (indoors, outdoors, agents, phenomena) of which `text` has a word."""
    low = text.lower().replace("\u2019", "'")
    return tuple(row for row in vocabulary()[table] if _pattern(table, row).search(low))
