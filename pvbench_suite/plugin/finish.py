"""The controller's end of a run: rows into journals, reports, gates, the terminal summary and the exit status."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from pvbench_suite import __version__
from pvbench_suite.perception.cache import Cache
from pvbench_suite.planning import pair_of
from pvbench_suite.plugin import allure
from pvbench_suite.plugin.build import Controller, test_id
from pvbench_suite.plugin.keys import DONE, ESTIMATE
from pvbench_suite.results import Row, not_applicable, settled
from pvbench_suite.suite import rooms_on_path


def header(controller: Controller) -> list[str]:
    """Return the lines at the top of a run: models, videos by modality, profile, cache, judge, versions."""
    run = controller.run
    lines = []
    for book in controller.books.values():
        counts = Counter(v.modality for v in book.manifest.videos)
        shown = ", ".join(f"{n} {modality}" for modality, n in sorted(counts.items()))
        missing = f", {len(book.manifest.missing)} missing" if book.manifest.missing else ""
        lines.append(
            f"pvbench model {book.model.name}: {shown} videos{missing} in {book.model.path} "
            f"(layout {book.manifest.layout}: {book.manifest.why})"
        )
    prompts = f"{len(run.suite)} groups of {run.suite.source}" if len(run.suite) else "no prompt groups"
    lines.append(f"pvbench prompts: {prompts}; scope {run.options.scope}, subset {run.options.subset}")
    lines.append(f"pvbench perception: {run.profile.name} ({run.profile.limits}); cache: {_cached(controller)}")
    judge = run.judge.settings.name if run.judge else "none (judged pairs will be not_perceived)"
    lines.append(f"pvbench judge: {judge}")
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "av", "opencv-python-headless"))
    lines.append(f"pvbench suite {__version__}, Python {sys.version.split()[0]}, {packages}")
    return lines + [f"pvbench note: {note}" for note in controller.notes]


def _cached(controller: Controller) -> str:
    """Return how many products of the open videos are in the cache already."""
    run = controller.run
    there = wanted = 0
    for book in controller.books.values():
        cache = Cache(run.cache_folders(book.model))
        for job in run.jobs.values():
            if job.video.model != book.model.name or job.digest is None or not job.todo:
                continue
            needed = {p: i for d in job.todo for p, i in run.providers(run.registry.get(d)).items()}
            wanted += len(needed)
            there += sum(cache.find(job.digest, product, who) is not None for product, who in needed.items())
    return f"{there} of {wanted} products of the open videos are there"


class Recorder:
    """Takes rows as reports arrive, and ends the run."""

    def __init__(self, config: pytest.Config, controller: Controller) -> None:
        self.config = config
        self.controller = controller
        self.selected_done = 0
        self._ran: set[tuple[str, ...]] = set()
        self._lines: list[str] = []
        self._failures: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Append the row of the deciding report; a worker that died leaves a row of state `error`."""
        row = getattr(report, "pvbench", None)
        if row is not None:
            self.controller.record(dict(row))
            self._ran.add(pair_of(row))
        elif report.when == "???":  # type: ignore[comparison-overlap]
            self._record_crash(report)

    def _record_crash(self, report: pytest.TestReport) -> None:
        run = self.controller.run
        name = report.nodeid.split("/")[-1]
        for job in run.jobs.values():
            if not name.endswith(f"[{test_id(job.video)}]"):
                continue
            for identifier in job.planned.dimensions:
                if name.startswith(run.registry.get(identifier).stem + ".py"):
                    row = run.row(job.planned, run.registry.get(identifier), job.digest)
                    row.update(state="error", reason="worker died", message=str(report.longrepr))
                    self.controller.record(row)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Take from a worker how many selected pairs had a result already (each worker saw the same)."""
        output = getattr(node, "workeroutput", None) or {}
        self.selected_done = max(self.selected_done, int(output.get("pvbench_done", 0)))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Write reports, check gates, and set the exit status."""
        if self.config.option.collectonly:
            return
        estimate = self.config.stash.get(ESTIMATE, None)
        if estimate is not None:
            self._lines += estimate
            session.exitstatus = pytest.ExitCode.OK
            return
        done = max(self.selected_done, self.config.stash[DONE])
        self.controller.resumed = done
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and done:
            session.exitstatus = pytest.ExitCode.OK
        if exitstatus in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.INTERNAL_ERROR):
            return
        self._report()
        self._judge_usage()
        if self._failures and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _report(self) -> None:
        rooms_on_path()
        from pvbench_suite.stats.aggregate import summarize
        from reports.build import build
        from reports.terminal import terminal_lines

        run = self.controller.run
        everything: list[Row] = []
        for book in self.controller.books.values():
            rows = settled(book.folder)
            everything += rows
            build(rows, run.registry, book.folder, not_applicable([book.folder]))
        summary = summarize(everything, run.registry)
        width = self.config.get_terminal_writer().fullwidth
        self._lines += terminal_lines(summary, width)
        if len(self.controller.books) > 1 and (out := self._common_folder()) is not None:
            build(everything, run.registry, out, not_applicable(b.folder for b in self.controller.books.values()))
            self._lines.append(f"models compared: {out / 'leaderboard.md'}")
        for book in self.controller.books.values():
            self._lines.append(
                f"{book.model.name}: {book.folder / 'summary.md'} (journal {book.journal.path.name} beside it)"
            )
        self._check(summary, everything)
        self._write_allure(summary, everything)

    def _write_allure(self, summary: Any, rows: list[Row]) -> None:
        """Add to ``--alluredir`` what allure-pytest cannot know: environment, categories, means, and other pairs.

        Those are the pairs that did not run now: missing videos, pairs of a worker that died, and what the journal has
        from earlier runs, as far as the folder does not have it already.
        """
        if (out := allure.folder(self.config)) is None:
            return
        from reports.allure import write_frame, write_rows

        registry, now = self.controller.run.registry, round(1000 * time.time())
        write_frame(rows, summary, registry, out, now)
        others = [row for row in rows if row["state"] != "pending" and pair_of(row) not in self._ran]
        write_rows(allure.not_there(others, registry, out), registry, out, now)

    def _judge_usage(self) -> None:
        """Say what judging took, and remove what the workers shared."""
        judge = self.controller.run.judge
        if judge is not None:
            self._lines += judge.lines()
            judge.close()
            judge.remove()

    def _common_folder(self) -> Path | None:
        """Return where the report over all models goes: the report folder, else beside models that share a folder."""
        options = self.controller.run.options
        if options.report_dir:
            return options.report_dir
        parents = {m.path.parent for m in options.models}
        parent = parents.pop()
        return parent / "pvbench-report" if not parents and os.access(parent, os.W_OK) else None

    def _check(self, summary: Any, rows: list[Row]) -> None:
        from pvbench_suite.stats.gates import evaluate, parse

        run = self.controller.run
        for found in evaluate(parse(run.options.gates, run.registry), summary):
            self._lines.append(f"gate {found.line}")
            if not found.passed:
                self._failures.append(found.line)
        if run.options.require_complete:
            open_states = Counter(row["state"] for row in rows if row["state"] not in ("scored", "unmeasurable"))
            if open_states:
                shown = ", ".join(f"{n} {state}" for state, n in sorted(open_states.items()))
                self._failures.append(f"--pv-require-complete: {shown}")
                self._lines.append(self._failures[-1])

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the summary."""
        if self.config.option.collectonly:
            return
        terminalreporter.section("pvbench")
        if self.controller.resumed:
            terminalreporter.write_line(
                f"{self.controller.resumed} selected pairs had a result already (--pv-no-resume runs them again)"
            )
        for line in self._lines:
            terminalreporter.write_line(line)
