"""One place turns what happened in a test into the row of its pair."""

from __future__ import annotations

from typing import Any

import pytest

from pvbench_suite.dimensions import Dimension
from pvbench_suite.errors import (
    EVENT_REASONS,
    BrokenVideo,
    JudgeFailed,
    NotPerceived,
    Unmeasurable,
    UserError,
)
from pvbench_suite.judge import Verdict
from pvbench_suite.measurement import Measurement
from pvbench_suite.planning import Planned
from pvbench_suite.results import Row, coerce
from pvbench_suite.scoring import grade
from pvbench_suite.wording import line

#: pytest's outcome for each state.
OUTCOMES = {
    "scored": "passed",
    "unmeasurable": "skipped",
    "not_perceived": "skipped",
    "judge_failed": "failed",
    "broken_video": "failed",
    "error": "failed",
}


def fill(row: Row, dimension: Dimension, result: Measurement | Verdict) -> None:
    """Write a measurement or a verdict into `row` as scored."""
    row["state"] = "scored"
    if isinstance(result, Verdict):
        row.update(score=result.score, message=result.reason, judge=result.to_row())
        return
    assert dimension.cuts is not None
    assert dimension.direction is not None
    row.update(
        value=float(result.value),
        score=grade(result.value, dimension.cuts, dimension.direction),
        n=int(result.n),
        spread=None if result.spread is None else float(result.spread),
        assumed=sorted({*row["assumed"], *result.assumed}),
    )


def fail(row: Row, dimension: Dimension, planned: Planned, error: BaseException) -> None:
    """Write what `error` means into `row`."""
    row["message"] = str(error)[:1000]
    row["judge"] = getattr(error, "judge", None)
    if isinstance(error, Unmeasurable):
        row["reason"] = error.reason
        row["state"] = "unmeasurable"
        if error.reason in EVENT_REASONS and planned.brief.demands(dimension.id):
            if error.detectable:
                row.update(state="scored", score=1, reason=f"event_absent: {error.reason}")
            else:
                row["reason"] = "too_noisy"
    elif isinstance(error, NotPerceived):
        row.update(state="not_perceived", reason=error.what, message=error.remedy)
    elif isinstance(error, BrokenVideo):
        row.update(state="broken_video", reason="broken")
    elif isinstance(error, JudgeFailed):
        row.update(state="judge_failed", reason="no valid verdict")
    elif isinstance(error, UserError):
        row.update(state="error", reason=str(error))
    else:
        row.update(state="error", reason=f"{type(error).__name__}: {error}"[:300])


def finish(item: pytest.Item, report: pytest.TestReport, row: Row) -> None:
    """Attach `row` to the deciding report, set its outcome, and add the properties that JUnit shows."""
    clean: dict[str, Any] = coerce(row)
    report.outcome = OUTCOMES[clean["state"]]  # type: ignore[assignment]
    if report.outcome == "passed":
        report.longrepr = None
    elif report.outcome == "failed" and report.when == "setup":
        # The pair failed, whichever phase showed it; pytest would count a failed set-up as an error of the test.
        report.when = "call"
    if report.outcome != "passed" and report.longrepr is None:
        report.longrepr = line(clean)
    shown = ("state", "score", "value", "unit", "n", "reason", "scorer", "profile")
    properties: list[tuple[str, object]] = [(k, clean[k]) for k in shown if clean[k] not in (None, "")]
    item.user_properties.extend(properties)
    report.user_properties = list(item.user_properties)
    report.pvbench = clean  # type: ignore[attr-defined]
