"""Names: text for one-line messages, natural order, and ids that are safe in a test id.

Conventions
-----------
File names are untrusted: they may hold line breaks, terminal sequences, quotes, any script, and bytes that are no
UTF-8.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

MAX_ID = 80
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
#: What ``-k R22`` or ``-k IF-01`` would find inside a video's id.
DIMENSION_LIKE = re.compile(r"(?i)(r|ptq|if|bc)(?=[-_]?\d\d)")
_LETTERS = str.maketrans("0123456789abcdef", "abcdefghijklmnop")


def shown(value: object, limit: int = 120) -> str:
    """Return `value` as printable text of about `limit` characters at most, without line breaks."""
    text = str(value)
    safe = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[: limit + 1])
    return safe if len(text) <= limit else safe[:limit] + "..."


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key in which numbers count as numbers: "2" before "10", with the text itself as the last resort."""
    parts = re.split(r"([0-9]+)", text)
    key = [(0, int(part), "") if k % 2 else (1, 0, part.casefold()) for k, part in enumerate(parts) if part]
    return (*key, (2, 0, text))


def nfc(text: str) -> str:
    """Return `text` in Unicode form NFC, as names are compared (macOS stores NFD)."""
    return unicodedata.normalize("NFC", text)


def safe_id(label: str) -> str:
    """Return `label` in ``[A-Za-z0-9_.-]``, accents dropped, with a dot in whatever reads as a dimension's id.

    It may be empty (a name in another script) and longer than `MAX_ID`; `unique_ids` settles both.

    Examples
    --------
    >>> safe_id("A café car22 (v1)")
    'A_cafe_car.22_v1'
    """
    plain = "".join(c for c in unicodedata.normalize("NFKD", label) if not unicodedata.combining(c))
    return DIMENSION_LIKE.sub(r"\1.", _UNSAFE.sub("_", plain).strip("._-"))


def _tag(text: str) -> str:
    """Return eight letters that stand for `text`; letters only, since digits could make a dimension's id."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8].translate(_LETTERS)


def unique_ids(labels: Sequence[tuple[str, str]], taken: Sequence[str] = ()) -> list[str]:
    """Return one id for each (label, path): safe, at most `MAX_ID` characters, unique also when case is ignored.

    Every one of several labels that fall together gets a tag of letters made of its path, as do labels that are too
    long or have no safe character; so the ids do not depend on the order, and `taken` ids (of groups) are never given.
    """
    safe = [safe_id(label) for label, _ in labels]
    count = Counter(text.casefold() for text in safe)
    count.update(text.casefold() for text in taken)
    ids = []
    for text, (_, path) in zip(safe, labels, strict=True):
        if not text or len(text) > MAX_ID or count[text.casefold()] > 1:
            text = f"{(text or 'video')[: MAX_ID - 9].rstrip('._-')}-{_tag(path)}"
        ids.append(text)
    return ids
