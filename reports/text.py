"""Text that is safe to show: what comes from videos, prompts, judges and manifests is never trusted.

Conventions
-----------
A number that does not exist is shown as ``-``.  `clean` is for terminals and the base of the others; `markdown` is for
Markdown cells. HTML is escaped by the template engine.
"""

from __future__ import annotations

import math
import re
import unicodedata

#: Shown where there is no number.
NONE = "-"

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+!|~$])")
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;"}


def clean(text: object, limit: int = 300) -> str:
    """Return `text` on one line of at most `limit` characters, without control and direction characters.

    Escape sequences could move the cursor of a terminal or rewrite what stands above, and direction marks could
    reorder a table; both become ``?``.
    """
    line = " ".join(str(text).split())
    # Categories C*: control, format (direction marks), surrogate, private use, unassigned.
    line = "".join("?" if unicodedata.category(c).startswith("C") else c for c in line)
    return line if len(line) <= limit else line[: max(0, limit - 3)] + "..."


def markdown(text: object, limit: int = 300) -> str:
    """Return `text` for a cell of a Markdown table: no markup, no HTML, no mention, no column break of it works."""
    line = "".join(_HTML.get(c, c) for c in clean(text, limit))
    return _MARKDOWN.sub(r"\\\1", line)


def number(value: float | None, digits: int = 1) -> str:
    """Return the number with that many decimals, or ``-`` if there is none."""
    if value is None or not math.isfinite(value):
        return NONE
    shown = f"{value:.{digits}f}"
    # -0.04 rounds to -0.0, which would look like a direction.
    return shown.lstrip("-") if float(shown) == 0 else shown


def signed(value: float | None, digits: int = 1) -> str:
    """Return the number with its sign, or ``-`` if there is none."""
    shown = number(value, digits)
    return f"+{shown}" if value is not None and shown != NONE and float(shown) > 0 else shown


def span(low: float | None, high: float | None, digits: int = 1) -> str:
    """Return ``[low, high]``, or ``-`` if there is no interval."""
    return NONE if low is None or high is None else f"[{number(low, digits)}, {number(high, digits)}]"


def share(part: int, whole: int) -> str:
    """Return ``part/whole``, or ``-`` if nothing is planned."""
    return f"{part}/{whole}" if whole else NONE


def percent(value: float | None) -> str:
    """Return a share in [0, 1] as a whole percentage that shows 100 % only for all and 0 % only for none."""
    if value is None:
        return NONE
    whole = round(value * 100)
    if 0 < value < 1:
        whole = min(99, max(1, whole))
    return f"{whole} %"


def table(head: list[str], rows: list[list[str]], left: int = 1) -> list[str]:
    """Return the lines of a Markdown table whose first `left` columns are left aligned; cells must be escaped."""
    rule = [":--" if k < left else "--:" for k in range(len(head))]
    return [f"| {' | '.join(cells)} |" for cells in (head, rule, *rows)]
