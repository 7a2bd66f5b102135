"""Allure results, by allure-pytest while running and from the journal afterwards."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.plugin.world import ROOT, arguments, demo, journal, rows


def results(folder: Path) -> list[dict]:
    """Return the result files of an Allure folder."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*-result.json"))]


def labels(entry: dict) -> dict[str, str]:
    """Return the labels of a result by name."""
    return {label["name"]: label["value"] for label in entry["labels"]}


def pairs(folder: Path) -> dict[str, dict]:
    """Return the results of pairs (not the summary entries) by title."""
    return {e["name"]: e for e in results(folder) if labels(e).get("epic") != "summary"}


def test_a_run_with_alluredir(pytester: pytest.Pytester) -> None:
    """Layer, domain, dimension, severity, the score in view, values excluded from the history, means beside."""
    model = demo(pytester.path / "m", {"s001": 0.0, "s002": 3.0})
    pytester.makepyfile(killer="""
        import os
        def pytest_runtest_call(item):
            if "r21" in item.name and "s002" in item.name:
                os._exit(9)
    """)
    options = [*arguments(model), "-k", "R16 or R21", "--alluredir=allure", "-n", "2", "-p", "killer"]
    pytester.runpytest_subprocess(*options)
    found = pairs(pytester.path / "allure")
    entry = found["R16 trajectory continuity: 1 of 5 (m t2v s002)"]
    assert entry["status"] == "passed"
    assert {k: labels(entry)[k] for k in ("epic", "feature", "story", "severity")} == {
        "epic": "L3 physical", "feature": "KP kinematic persistence", "story": "R16 trajectory continuity",
        "severity": "critical",
    }  # fmt: skip
    excluded = {p["name"] for p in entry["parameters"] if p.get("excluded")}
    assert {"score", "value", "n"} <= excluded
    assert "R21 gravity: error (m t2v s002)" in found, "the pair of the dead worker is there"
    means = [e["name"] for e in results(pytester.path / "allure") if labels(e).get("epic") == "summary"]
    assert any(name.startswith("KP kinematic persistence: 50.0") for name in means)
    environment = (pytester.path / "allure" / "environment.properties").read_text(encoding="utf-8")
    assert "profiles = simulator" in environment
    categories = json.loads((pytester.path / "allure" / "categories.json").read_text(encoding="utf-8"))
    assert any(c["name"].startswith("not_perceived") for c in categories)


def test_history_ids_are_stable_over_scores(pytester: pytest.Pytester) -> None:
    """Another value is the same test: the history is kept."""
    ids = []
    for jump in (0.0, 3.0):
        model = demo(pytester.path / f"run{jump}" / "m", {"s001": jump})
        out = pytester.path / f"allure{jump}"
        pytester.runpytest_subprocess(*arguments(model), "-k", "R16", f"--alluredir={out}")
        ids.append({e["historyId"] for e in pairs(out).values()})
    assert ids[0] == ids[1]
    assert len(ids[0]) == 1


def test_the_journal_gives_the_same_without_a_run(pytester: pytest.Pytester) -> None:
    """`pvbench report --allure` writes one file per row, and the means."""
    model = demo(pytester.path / "m", {"s001": 0.0})
    pytester.runpytest_subprocess(*arguments(model))
    out = pytester.path / "from-journal"
    ran = pytester.run(sys.executable, "-m", "pvbench_suite.cli", "report", str(model), "--allure", str(out))
    assert ran.ret == 0
    found = pairs(out)
    assert len(found) == len(rows(model)) == 8
    assert found["R16 trajectory continuity: 5 of 5 (m t2v s001)"]["status"] == "passed"
    skipped = next(e for e in found.values() if e["name"].startswith("PTQ-01"))
    assert skipped["status"] == "skipped"
    assert skipped["statusDetails"]["message"].startswith("not_perceived: ")
    assert skipped["stop"] == round(1000 * journal(model).stat().st_mtime)
    assert ROOT.is_dir()
