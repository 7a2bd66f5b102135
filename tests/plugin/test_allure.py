"""Allure results, by allure-pytest while running and from the journal afterwards."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from pvbench_suite.dimensions import load
from pvbench_suite.planning import Planned, blank_row
from pvbench_suite.plugin.allure import KEPT, not_there
from pvbench_suite.results import STATES
from pvbench_suite.video.types import Video
from pvbench_suite.wording import line, title
from reports.allure import STATUS, categories, environment, result, settings, write_rows
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
    pytester.makepyfile(
        killer="""
        import os
        def pytest_runtest_call(item):
            if "r21" in item.name and "s002" in item.name:
                os._exit(9)
            if "r21" in item.name:
                1 / 0
    """
    )
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
    assert {p["name"]: p["value"] for p in entry["parameters"]}["score"] == "1 of 5", "as a person writes it"
    broken = found["R21 gravity: error (m t2v s001)"]
    assert broken["status"] == "broken"
    assert broken["statusDetails"]["message"] == "error: ZeroDivisionError: division by zero"
    assert "1 / 0" in broken["statusDetails"]["trace"], "an error keeps its traceback"
    containers = [path.read_text(encoding="utf-8") for path in (pytester.path / "allure").glob("*-container.json")]
    assert not any("lambda" in text for text in containers), "no nameless finalizers"
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


def test_a_resumed_run_writes_what_ran_before_once(pytester: pytest.Pytester) -> None:
    """A new folder gets every pair of the journal, a folder that has them gets none twice."""
    model = demo(pytester.path / "m", {"s001": 0.0, "s002": 3.0})
    once, later = pytester.path / "once", pytester.path / "later"
    pytester.runpytest_subprocess(*arguments(model), "-k", "R16", f"--alluredir={once}")
    for out in (later, once):
        pytester.runpytest_subprocess(*arguments(model), "-k", "R16 or R21", f"--alluredir={out}")
        tests = [e for e in results(out) if labels(e).get("epic") != "summary"]
        assert sorted(e["name"] for e in tests) == [
            "R16 trajectory continuity: 1 of 5 (m t2v s002)", "R16 trajectory continuity: 5 of 5 (m t2v s001)",
            "R21 gravity: 1 of 5 (m t2v s002)", "R21 gravity: 5 of 5 (m t2v s001)",
        ], out.name  # fmt: skip
        assert len({e["historyId"] for e in tests}) == 4


def test_a_torn_result_is_written_again(tmp_path: Path) -> None:
    """Only a whole result that says the same is not written again."""
    row = made(score=4)
    assert not_there([row], load(), tmp_path) == [row]
    (path,) = write_rows([row], load(), tmp_path, 0)
    assert not_there([row], load(), tmp_path) == []
    assert not_there([made(score=3)], load(), tmp_path) == [made(score=3)]
    path.write_text('{"historyId": ', encoding="utf-8")
    assert not_there([row], load(), tmp_path) == [row]


def test_the_journal_gives_the_same_as_the_run(pytester: pytest.Pytester) -> None:
    """`pvbench report --allure` writes one file per row, and the means: word for word what the run wrote."""
    model = demo(pytester.path / "m", {"s001": 0.0})
    while_running, out = pytester.path / "while-running", pytester.path / "from-journal"
    pytester.runpytest_subprocess(*arguments(model), f"--alluredir={while_running}")
    ran = pytester.run(sys.executable, "-m", "pvbench_suite.cli", "report", str(model), "--allure", str(out))
    assert ran.ret == 0
    found = pairs(out)
    assert len(found) == len(rows(model)) == 8
    assert found["R16 trajectory continuity: 5 of 5 (m t2v s001)"]["status"] == "passed"
    skipped = next(e for e in found.values() if e["name"].startswith("PTQ-01"))
    assert skipped["status"] == "skipped"
    assert skipped["statusDetails"] == {"message": skipped["statusDetails"]["message"]}, "no trace of a skip"
    assert skipped["statusDetails"]["message"].startswith("not_perceived: ")
    assert skipped["stop"] == round(1000 * journal(model).stat().st_mtime)
    assert comparable(out) == comparable(while_running)
    for name in ("environment.properties", "categories.json", "allurerc.json"):
        assert (out / name).read_text(encoding="utf-8") == (while_running / name).read_text(encoding="utf-8")
    assert ROOT.is_dir()


def comparable(folder: Path) -> list[dict]:
    """Return all results by their id in the history, without when and where they were made."""
    own = ("uuid", "start", "stop", "stage", "steps", "attachments", "links")
    entries = [{k: v for k, v in entry.items() if k not in own} for entry in results(folder)]
    for entry in entries:
        entry["labels"] = [label for label in entry["labels"] if label["name"] not in KEPT]
    assert len({entry["historyId"] for entry in entries}) == len(entries), "two equal ids are one test with a retry"
    return sorted(entries, key=lambda entry: str(entry["historyId"]))


def made(state: str = "scored", **changes: object) -> dict:
    """Return a row of R16 as a run would write it."""
    planned = Planned(Video("s001", Path("s001.mp4"), "m", "t2v"), None, ("R16",))
    blank = blank_row(
        planned, load().get("R16"), profile="simulator", providers={}, scorer="cuts", digest=None, suite="1"
    )
    return {**blank, "state": state, **changes}


HOSTILE = 'a\x1b[31m\u202e"\\ = <b>\nü 日 \U0001f600'


def test_every_state_has_its_status_and_its_category() -> None:
    """The message of a pair matches the category of its state alone, whatever else it says."""
    for state in (*STATES, "pending"):
        row = made(state, score=5 if state == "scored" else None, reason="error", message="not_perceived\nerror")
        entry = result(row, load(), 0)
        fits = [
            c["name"]
            for c in categories()
            if entry["status"] in c["matchedStatuses"]
            and re.search(c["messageRegex"], entry["statusDetails"]["message"])
        ]
        assert [name.split(":")[0] for name in fits] == ([] if state == "scored" else [state])
        assert entry["status"] == STATUS[state]


def test_expressions_are_those_of_java_and_of_javascript() -> None:
    """Allure 2 matches the whole message in Java, Allure 3 searches in JavaScript, which knows no inline flags."""
    assert settings()["categories"][: len(categories())] == categories()
    for category in categories():
        assert "(?" not in category["messageRegex"]
        assert category["messageRegex"].startswith("^")
        assert category["messageRegex"].endswith("$")


def test_hostile_text_stays_one_harmless_line() -> None:
    """Escape sequences and direction marks become question marks, in titles, messages, values and properties."""
    row = made("error", model=HOSTILE, video=HOSTILE, reason=HOSTILE, message=HOSTILE, warnings=[HOSTILE])
    row["providers"] = {"flow": HOSTILE}
    entry = result(row, load(), 0)
    texts = [title(row, "x"), line(row), entry["name"], *(str(p["value"]) for p in entry["parameters"])]
    assert all(text.isprintable() for text in texts)
    assert sum("ü 日 \U0001f600" in text for text in texts) == 8, "what can be printed stays as it is"
    properties = environment([row])
    assert properties.isascii(), "Allure 2 reads Latin-1"
    values = dict(text.split(" = ", 1) for text in properties.splitlines())
    assert json.loads(f'"{values["models"]}"') == 'a?[31m?"\\ = <b> ü 日 \U0001f600'
    assert len(values) == 7


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"score": 2, "value": 0.5}, "R16 0.5 diameters scores 2"),
        ({"score": 4, "message": "It rolls."}, "R16 scores 4: It rolls."),
        (
            {"score": 1, "reason": "event_absent: no_contact", "message": "no_contact: gap 0.4"},
            "R16 scores 1: event_absent: no_contact: gap 0.4",
        ),
        ({"state": "unmeasurable", "reason": "still", "message": "still: 2 px"}, "unmeasurable: still: 2 px"),
        ({"state": "unmeasurable", "reason": "no_motion", "message": "no_motion"}, "unmeasurable: no_motion"),
        ({"state": "error", "reason": "KeyError: 'x'", "message": "'x'"}, "error: KeyError: 'x'"),
        ({"state": "not_perceived", "reason": "no judge", "message": "set one"}, "not_perceived: no judge: set one"),
        ({"state": "pending"}, "pending"),
    ],
)  # fmt: skip
def test_a_line_says_a_reason_once(changes: dict, said: str) -> None:
    """What the message repeats of the reason is left out."""
    assert line(made(**changes)) == said
