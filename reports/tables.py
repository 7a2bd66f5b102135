"""Rows -> CSV, with every key, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from typing import Any

from pvbench_suite.results import Row

#: The columns that come first, in this order; further keys follow in alphabetical order.
COLUMNS = (
    "suite", "dimension", "model", "modality", "group", "video", "seed", "state", "reason", "value", "unit", "score",
    "n", "spread", "assumed", "scorer", "providers", "thresholds", "profile", "attempt", "seconds", "targeted", "tags",
    "warnings", "message",
)  # fmt: skip

# A spreadsheet takes text that starts with one of these for a formula, also in their full-width forms.
_FORMULA = (*"=+-@\t\r\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def cell(value: Any) -> str | int | float:
    """Return what a CSV cell shows: blank for nothing, JSON for lists and dicts, text that is no formula.

    Numbers stay numbers, a negative one too; only text can be a formula, and gets an apostrophe in front.
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    text = text.replace("\x00", "")
    # Blanks in front do not stop a spreadsheet.
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) or text.startswith(_FORMULA) else text


def csv_text(rows: Sequence[Row]) -> str:
    """Return the rows as CSV: one line a row, one column for every key that any row has."""
    known = {key for row in rows for key in row}
    columns = [*COLUMNS, *sorted(known - set(COLUMNS))]
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([cell(str(column)) for column in columns])
    writer.writerows([cell(row.get(column)) for column in columns] for row in rows)
    return out.getvalue()
