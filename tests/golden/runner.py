"""Run golden vectors: read the files, call the kernels, compare.

Conventions
-----------
A case passes when its value is within its tolerance, or when the kernel gives the expected reason.  Anything else,
an exception included, is one line of text that says what was wanted and what came.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pvbench_suite.errors import Unmeasurable
from tests.golden.mapping import CALLS

Case = dict[str, Any]


def load(path: Path) -> tuple[str, list[Case]]:
    """Return the function name and the cases of one vector file."""
    content = json.loads(path.read_text(encoding="utf-8"))
    return str(content["fn"]), list(content["cases"])


def failure(fn: str, case: Case) -> str | None:
    """Return why `case` fails, or None when it passes."""
    wanted = wish(case["expect"])
    try:
        result = CALLS[fn](case["kwargs"])
        value = float(getattr(result, "value", float("nan")))
        came = f"value {value!r}"
    except Unmeasurable as error:
        value, came = float("nan"), f"reason {error.reason} ({error.detail})"
        if case["expect"].get("reason") == error.reason:
            return None
    except Exception as error:  # a kernel that breaks on one case must not end the run
        value, came = float("nan"), f"{type(error).__name__}: {error}"
    if "value" in case["expect"] and abs(value - case["expect"]["value"]) <= case["expect"]["tol"] + 1e-12:
        return None
    return f"{case['id']}: wanted {wanted}, came {came} [{case.get('closed_form', '')}]"


def wish(expect: dict[str, Any]) -> str:
    """Return what a case expects, in words."""
    if "reason" in expect:
        return f"reason {expect['reason']}"
    return f"value {expect['value']!r} +- {expect['tol']:.3g}"


def run(folder: Path) -> Iterator[str | None]:
    """Yield one item per case of every ``*.json`` in `folder`: None when it passed, else why not.

    A file that is no vector file counts as one failed case.
    """
    for path in sorted(folder.glob("*.json")):
        try:
            fn, cases = load(path)
        except (OSError, ValueError, KeyError, TypeError) as error:
            yield f"{path.name}: not a vector file ({type(error).__name__}: {error})"
            continue
        for case in cases:
            yield failure(fn, case)
