"""The life of one pair in pytest: prepared, run, settled as a row, attached to the report that decides it.

What a pair's outcome means is settled where the exception passes, in wrappers round setup and call, which raise
pytest's own skip or
fail in its place: formatting a traceback for each of thousands of expected outcomes costs ten times the run.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest

from pvbench_suite.dimensions import Dimension
from pvbench_suite.errors import BrokenVideo, JudgeFailed, NotPerceived, Unmeasurable
from pvbench_suite.plugin import allure, record
from pvbench_suite.plugin.keys import DIMENSION, RESULT, ROW, RUN, WARNINGS
from pvbench_suite.plugin.run import Job, Run
from pvbench_suite.results import Row
from pvbench_suite.wording import line

OUTCOMES = (Unmeasurable, NotPerceived, BrokenVideo, JudgeFailed)


def job_of(item: pytest.Item) -> Job | None:
    """Return the job of a dimension test's item, or None for any other item."""
    callspec = getattr(item, "callspec", None)
    job = callspec.params.get("video") if callspec is not None else None
    return job if isinstance(job, Job) else None


def dimension_of(item: pytest.Item, run: Run) -> Dimension:
    """Return the dimension of a dimension test's item."""
    found = item.stash.get(DIMENSION, None)
    if found is None:
        mark = item.get_closest_marker("dimension")
        assert mark is not None
        found = item.stash[DIMENSION] = run.registry.get(mark.args[0])
    return found


def new_row(item: pytest.Item, run: Run, job: Job) -> Row:
    """Return the row of a pair before its outcome, with the video's warnings and the profile's assumptions."""
    dimension = dimension_of(item, run)
    row = run.row(job.planned, dimension, job.digest)
    row["warnings"] = item.stash.get(WARNINGS, [])
    if row["scorer"] == "cuts":
        unstated = dimension.assumes if job.planned.group is None and dimension.expectation == "assumed" else ()
        row["assumed"] = sorted({*run.profile.assumed, *unstated})
    return row


def prepare(item: pytest.Item, run: Run, job: Job) -> None:
    """Decode the video once, so that a broken file is broken for each of its dimensions.

    Then check its reference image, and the profile's claim.
    """
    if job.digest is None:
        return
    dimension, folder = dimension_of(item, run), run.folders_of(job.video)[0]
    warnings = run.clips.warnings(job.video, job.digest, folder, write=True)
    item.stash[WARNINGS] = warnings + run.references.warnings(job.video, job.digest, folder)
    if run.judge is not None:
        run.references.require(job.video, dimension)
    run.require_claim(dimension)


def guarded(item: pytest.Item, phase: str) -> Generator[None, object, object]:
    """Run one phase of an item; settle the pair where its outcome shows."""
    run, job = item.config.stash.get(RUN, None), job_of(item)
    if run is None or job is None:
        return (yield)
    outcome: BaseException | None = None
    result: object = None
    try:
        if phase == "setup":
            prepare(item, run, job)
        result = yield
    except OUTCOMES as error:
        outcome = error
    if outcome is not None:
        row = new_row(item, run, job)
        record.fail(row, dimension_of(item, run), job.planned, outcome)
        item.stash[ROW] = row
        # Raised out here, so that the chain of tracebacks behind it is not walked for the report.
        _raise(row)
        return None
    if phase == "call" and RESULT in item.stash:
        row = new_row(item, run, job)
        record.fill(row, dimension_of(item, run), item.stash[RESULT])
        item.stash[ROW] = row
    return result


def _raise(row: Row) -> None:
    """Raise pytest's skip or fail, without a traceback, for a pair that is not scored."""
    __tracebackhide__ = True
    outcome = record.OUTCOMES[row["state"]]
    if outcome == "skipped":
        raise pytest.skip.Exception(line(row), _use_item_location=True)
    if outcome == "failed":
        raise pytest.fail.Exception(line(row), pytrace=False)


def report(item: pytest.Item, call: pytest.CallInfo[None], found: pytest.TestReport) -> None:
    """Attach the pair's row to the report of the phase that decides it."""
    run, job = item.config.stash.get(RUN, None), job_of(item)
    deciding = call.when == "call" or (call.when == "setup" and call.excinfo is not None)
    if run is None or job is None or not deciding:
        return
    if call.excinfo and call.excinfo.errisinstance((KeyboardInterrupt, pytest.exit.Exception)):
        return
    row = item.stash.get(ROW, None)
    if row is None:
        dimension = dimension_of(item, run)
        row = new_row(item, run, job)
        error = call.excinfo.value if call.excinfo else RuntimeError(f"the test of {dimension.id} never called grade()")
        record.fail(row, dimension, job.planned, error)
    row["seconds"] = round(call.duration, 4)
    record.finish(item, found, row)
    allure.show(item, row, dimension_of(item, run))
