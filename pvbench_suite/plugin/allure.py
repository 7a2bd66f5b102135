"""What Allure shows of a pair while the benchmark runs: the same as `reports.allure` makes of the journal's row.

allure-pytest knows nothing of rows: it would show Python's representation of values, a tuple as the trace of a skip,
and a title without a score.  So a pair's result is rewritten just before allure-pytest's logger writes it.  Everything
is inert without ``--alluredir``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import allure_commons
import pytest
from allure_commons.model2 import Label, Parameter, Status, StatusDetails

from pvbench_suite.dimensions import Dimension, Domain, Registry, load
from pvbench_suite.results import Row
from pvbench_suite.suite import rooms_on_path
from pvbench_suite.wording import SEVERITIES, places

#: Names the pair of a result on its way to the logger; never written.
TOKEN = "pvbench pair"

#: What allure-pytest adds that says where a result was made.
KEPT = ("host", "thread", "language", "package")


class Rewriter:
    """Allure's plugin that rewrites results; sits in front of the logger that writes files."""

    def __init__(self) -> None:
        self._rows: dict[str, Row] = {}

    def announce(self, token: str, row: Row) -> None:
        """Take the row of the pair that runs now."""
        import allure

        self._rows[token] = row
        allure.dynamic.label(TOKEN, token)  # type: ignore[no-untyped-call]

    @allure_commons.hookimpl(tryfirst=True)
    def report_result(self, result: Any) -> None:
        """Say in `result` what the row says; what timing and place allure-pytest saw stays."""
        token = next((label.value for label in result.labels if label.name == TOKEN), None)
        row = self._rows.pop(token, None) if token else None
        if row is None:
            return
        from reports.allure import result as said

        entry = said(row, load(), result.stop)
        for key in ("historyId", "testCaseId", "fullName", "name", "status", "description", "titlePath"):
            setattr(result, key, entry[key])
        # The trace of a skip or of a broken file is only where pytest was told so.
        trace = result.statusDetails.trace if result.statusDetails and row["state"] == "error" else None
        result.statusDetails = StatusDetails(trace=trace, **entry["statusDetails"])
        kept = [label for label in result.labels if label.name in KEPT]
        result.labels = [Label(**label) for label in entry["labels"]] + kept
        result.parameters = [Parameter(**parameter) for parameter in entry["parameters"]]

    @allure_commons.hookimpl(tryfirst=True)
    def report_container(self, container: Any) -> None:
        """Keep only finalizers that failed: the others are pytest's own, one per fixture and nameless."""
        container.afters = [after for after in container.afters if after.status in (Status.FAILED, Status.BROKEN)]


REWRITER = pytest.StashKey[Rewriter]()


def folder(config: pytest.Config) -> Path | None:
    """Return the folder of ``--alluredir``, or None."""
    text = config.getoption("allure_report_dir", None)
    return Path(text) if text else None


def not_there(rows: Sequence[Row], registry: Registry, out: Path) -> list[Row]:
    """Return the rows whose result is not in the folder of results already, as another run may have written it."""
    from reports.allure import result

    there: set[tuple[object, ...]] = set()
    for path in out.glob("*-result.json") if rows else ():
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
            there.add((known["historyId"], known["name"], known["statusDetails"]["message"]))
        except (OSError, ValueError, KeyError, TypeError):
            continue  # not a result of ours, or torn by a kill: ours is written
    entries = ((row, result(row, registry, 0)) for row in rows)
    return [row for row, e in entries if (e["historyId"], e["name"], e["statusDetails"]["message"]) not in there]


def mark(item: pytest.Item, dimension: Dimension, domain: Domain) -> None:
    """Label a pair for Allure's own selection (``--allure-features`` and the like)."""
    if folder(item.config) is None:
        return
    for kind, value in {**places(dimension, domain), "severity": SEVERITIES[domain.layer]}.items():
        item.add_marker(pytest.mark.allure_label(value, label_type=kind))


def show(item: pytest.Item, row: Row, dimension: Dimension) -> None:
    """Announce the row of the pair that runs now; `dimension` is the row's."""
    config = item.config
    if folder(config) is None:
        return
    rewriter = config.stash.get(REWRITER, None)
    if rewriter is None:
        rooms_on_path()
        rewriter = config.stash[REWRITER] = Rewriter()
        allure_commons.plugin_manager.register(rewriter)
        config.add_cleanup(lambda: allure_commons.plugin_manager.unregister(rewriter))
    rewriter.announce(item.nodeid, row)
