"""A run's rows, states, resume, gates and exit status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.plugin.world import ROOT, arguments, demo, group, journal, prompts, rows, stable, truth, video

JUMPS = {"s001": 0.0, "s002": 3.0, "s003": 0.5}


def test_rows_scores_and_reports(pytester: pytest.Pytester) -> None:
    """Closed-form truth gives its closed-form scores, and every report is written."""
    model = demo(pytester.path / "m", JUMPS)
    result = pytester.runpytest_subprocess(*arguments(model))
    assert result.ret == 0, result.stdout.str()
    found = rows(model)
    assert [found[v, "R16"]["score"] for v in JUMPS] == [5, 1, 3]
    assert found["s002", "R16"]["value"] == pytest.approx(3.0, abs=0.01)
    assert found["s001", "R21"]["score"] == 5
    row = found["s001", "R16"]
    assert (row["unit"], row["scorer"], row["profile"], row["attempt"]) == ("diameters", "cuts", "simulator", 1)
    assert row["targeted"] is True
    assert set(row["providers"]) >= {"bodies", "contacts"}
    assert found["s001", "PTQ-01"]["state"] == "not_perceived"
    assert len(found) == 3 * 8
    for name in ("results.csv", "summary.json", "summary.md"):
        assert (journal(model).parent / name).stat().st_size > 100
    summary = json.loads((journal(model).parent / "summary.json").read_text(encoding="utf-8"))
    assert "NaN" not in json.dumps(summary)
    text = result.stdout.str()
    assert "3 t2v videos" in text
    assert "pvbench perception: simulator" in text


def test_two_workers_give_the_same_rows(pytester: pytest.Pytester) -> None:
    """Same inputs, same rows, in any order, with or without -n."""
    model = demo(pytester.path / "m", JUMPS)
    one, two = pytester.path / "one", pytester.path / "two"
    for out, more in ((one, []), (two, ["-n", "2"])):
        assert pytester.runpytest_subprocess(*arguments(model), f"--pv-report-dir={out}", *more).ret == 0

    def read(out: Path) -> list[str]:
        lines = (out / "m" / "simulator" / "results.jsonl").read_text(encoding="utf-8").splitlines()
        return sorted(json.dumps(stable(json.loads(line)), sort_keys=True) for line in lines)

    assert read(one) == read(two)
    summaries = [
        json.loads((out / "m" / "simulator" / "summary.json").read_text(encoding="utf-8")) for out in (one, two)
    ]
    for summary in summaries:
        for result in summary["results"]:
            result.pop("seconds")
    assert summaries[0] == summaries[1]


def test_resume_runs_again_what_has_no_result_and_nothing_else(pytester: pytest.Pytester) -> None:
    """Scored and unmeasurable pairs are kept; the rest is tried again; a changed video makes exactly its rows run."""
    model = demo(pytester.path / "m", JUMPS)
    pytester.runpytest_subprocess(*arguments(model))
    before = journal(model).read_text(encoding="utf-8").splitlines()
    result = pytester.runpytest_subprocess(*arguments(model), "-k", "R16 or R21")
    assert result.ret == 0
    assert "6 selected pairs had a result already" in result.stdout.str()
    assert journal(model).read_text(encoding="utf-8").splitlines() == before
    file = video(model / "t2v" / "s002.mp4", seed=99)
    truth(model, file, jump=0.0)
    assert pytester.runpytest_subprocess(*arguments(model), "-k", "R16 or R21").ret == 0
    new = [json.loads(line) for line in journal(model).read_text(encoding="utf-8").splitlines()[len(before) :]]
    assert {(r["video"], r["dimension"]) for r in new} == {("s002", "R16"), ("s002", "R21")}
    assert rows(model)["s002", "R16"]["score"] == 5


def test_no_resume_runs_everything(pytester: pytest.Pytester) -> None:
    """The attempt counts up."""
    model = demo(pytester.path / "m", {"s001": 0.0})
    for more in ([], ["--pv-no-resume"]):
        pytester.runpytest_subprocess(*arguments(model), "-k", "R16", *more)
    assert rows(model)["s001", "R16"]["attempt"] == 2


def test_a_changed_group_runs_its_rows_again(pytester: pytest.Pytester) -> None:
    """What the prompt says of the scene is part of a row's identity."""
    model = demo(pytester.path / "m", {"s001": 0.0, "s002": 0.0})
    pytester.runpytest_subprocess(*arguments(model), "-k", "R21")
    prompts(
        model / "groups.jsonl",
        [group("s001", ["R21"], "motion", tags=["clutter"]), group("s002", ["R16", "R21"], "motion")],
    )
    pytester.runpytest_subprocess(*arguments(model), "-k", "R21")
    lines = [json.loads(line) for line in journal(model).read_text(encoding="utf-8").splitlines()]
    assert [(r["video"]) for r in lines] == ["s001", "s002", "s001"]


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "n2"])
def test_a_red_gate_stays_red(pytester: pytest.Pytester, workers: tuple[str, ...]) -> None:
    """Gates are evaluated over the whole journal, also when nothing is left to run."""
    model = demo(pytester.path / "m", JUMPS)
    for _ in range(2):
        red = pytester.runpytest_subprocess(*arguments(model), "-k", "R16", "--pv-gate", "R16>=60", *workers)
        assert red.ret == 1
        red.stdout.fnmatch_lines(["gate failed: R16>=60 on m t2v (simulator): 50.0*smallest difference*"])
    green = pytester.runpytest_subprocess(*arguments(model), "-k", "R16", "--pv-gate", "R16>=40", *workers)
    assert green.ret == 0


def test_a_gate_on_an_incomplete_result_is_not_decidable(pytester: pytest.Pytester) -> None:
    """Missing perception never passes a gate."""
    model = demo(pytester.path / "m", JUMPS)
    result = pytester.runpytest_subprocess(*arguments(model), "--pv-gate", "PTQ>=0", "--pv-gate", "overall>=0")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["gate not decidable: PTQ>=0*", "gate not decidable: overall>=0*"])


def test_require_complete(pytester: pytest.Pytester) -> None:
    """Exit 1 while a planned pair has no result, with the count of each state."""
    model = demo(pytester.path / "m", {"s001": 0.0})
    result = pytester.runpytest_subprocess(*arguments(model), "--pv-require-complete", "-k", "R16")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["--pv-require-complete: 7 pending"])


def test_perceive_later(pytester: pytest.Pytester) -> None:
    """Rows that were not perceived are filled when the product is there."""
    model = pytester.path / "m"
    prompts(model / "groups.jsonl", [group("s001", ["R16"], "motion")])
    file = video(model / "t2v" / "s001.mp4")
    pytester.runpytest_subprocess(*arguments(model), "-k", "R16")
    row = rows(model)["s001", "R16"]
    assert (row["state"], "pvbench demo" in row["message"]) == ("not_perceived", True)
    truth(model, file)
    pytester.runpytest_subprocess(*arguments(model), "-k", "R16")
    assert (rows(model)["s001", "R16"]["state"], rows(model)["s001", "R16"]["score"]) == ("scored", 5)


def test_a_demanded_event_that_stays_away_scores_1(pytester: pytest.Pytester) -> None:
    """Stillness is unmeasurable, unless the prompt demands motion: then it is the worst score, with the reason kept."""
    model = pytester.path / "m"
    prompts(model / "groups.jsonl", [group("s001", ["R16"], "motion"), group("s002", ["R16"])])
    for k, name in enumerate(("s001", "s002")):
        truth(model, video(model / "t2v" / f"{name}.mp4", k), still=True)
    result = pytester.runpytest_subprocess(*arguments(model), "-k", "R16")
    result.assert_outcomes(passed=1, skipped=1)
    demanded, free = rows(model)["s001", "R16"], rows(model)["s002", "R16"]
    assert (demanded["state"], demanded["score"], demanded["value"]) == ("scored", 1, None)
    assert demanded["reason"] == "event_absent: no_motion"
    assert (free["state"], free["reason"]) == ("unmeasurable", "no_motion")


def test_a_broken_video_is_broken_in_every_dimension(pytester: pytest.Pytester) -> None:
    """A text file named .mp4 fails all its pairs with one line, and leaves the others alone."""
    model = demo(pytester.path / "m", {"s001": 0.0, "s002": 0.0})
    (model / "t2v" / "s002.mp4").write_text("this is no video")
    result = pytester.runpytest_subprocess(*arguments(model))
    assert result.ret == 1
    assert result.parseoutcomes()["failed"] == 8
    assert "errors" not in result.parseoutcomes()
    found = rows(model)
    assert {r["state"] for (v, _), r in found.items() if v == "s002"} == {"broken_video"}
    assert found["s001", "R16"]["state"] == "scored"
    assert "s002.mp4" in found["s002", "R16"]["message"]
    assert "Traceback" not in result.stdout.str()


def test_a_group_without_a_file_is_a_row(pytester: pytest.Pytester) -> None:
    """Missing videos are rows of their own, written once, and count in the worst case."""
    model = demo(pytester.path / "m", {"s001": 0.0, "s002": 0.0})
    (model / "t2v" / "s002.mp4").unlink()
    for _ in range(2):
        assert pytester.runpytest_subprocess(*arguments(model), "-k", "R16").ret == 0
    lines = [json.loads(line) for line in journal(model).read_text(encoding="utf-8").splitlines()]
    missing = [r for r in lines if r["state"] == "missing_video"]
    assert sorted(r["dimension"] for r in missing) == sorted(["R16", "R21", *(f"PTQ-0{k}" for k in range(1, 7))])
    assert "t2v/s002.mp4" in missing[0]["message"]


def test_limit_leaves_the_rest_open(pytester: pytest.Pytester) -> None:
    """The first N videos run; the others are pending in the report, not forgotten."""
    model = demo(pytester.path / "m", JUMPS)
    pytester.runpytest_subprocess(*arguments(model), "--pv-limit=1")
    assert {video for video, _ in rows(model)} == {"s001"}
    summary = (journal(model).parent / "summary.json").read_text(encoding="utf-8")
    assert '"pending": 16' in summary or '"pending":16' in summary


def test_a_dead_worker_leaves_a_row_of_state_error(pytester: pytest.Pytester) -> None:
    """The pair that killed its worker is an error, reported once; all other pairs are there."""
    model = demo(pytester.path / "m", JUMPS)
    pytester.makepyfile(
        killer="""
        import os
        def pytest_runtest_call(item):
            if "r16" in item.name and "s002" in item.name:
                os._exit(9)
    """
    )
    result = pytester.runpytest_subprocess("-p", "killer", *arguments(model), "-n", "2")
    assert result.ret == 1
    found = rows(model)
    assert (found["s002", "R16"]["state"], found["s002", "R16"]["reason"]) == ("error", "worker died")
    assert len(found) == 24
    assert pytester.runpytest_subprocess(*arguments(model), "-n", "2").ret == 0
    assert rows(model)["s002", "R16"]["state"] == "scored"


def test_an_error_in_a_test_is_a_row(pytester: pytest.Pytester) -> None:
    """Anything unexpected is state error with its type, and a failed test."""
    model = demo(pytester.path / "m", {"s001": 0.0})
    pytester.makepyfile(
        breaker="""
        import pytest
        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_call(item):
            if "r16" in item.name:
                raise ZeroDivisionError("half way")
    """
    )
    assert pytester.runpytest_subprocess("-p", "breaker", *arguments(model), "-k", "R16 or R21").ret == 1
    row = rows(model)["s001", "R16"]
    assert (row["state"], row["reason"]) == ("error", "ZeroDivisionError: half way")


def test_junit_carries_the_properties(pytester: pytest.Pytester) -> None:
    """Score, value, unit and state are properties of the test case (xunit1)."""
    model = demo(pytester.path / "m", {"s001": 0.0})
    pytester.runpytest_subprocess(*arguments(model), "-k", "R16", "--junitxml=junit.xml")
    case = ET.parse(pytester.path / "junit.xml").getroot().find(".//testcase")
    assert case is not None
    found = {p.get("name"): p.get("value") for p in case.iter("property")}
    assert (found["state"], found["score"], found["unit"], found["scorer"]) == ("scored", "5", "diameters", "cuts")


def test_two_models_in_one_run(pytester: pytest.Pytester) -> None:
    """Each model has its own journal; the common report compares them."""
    models = [demo(pytester.path / name, {"s001": jump}) for name, jump in (("lawful", 0.0), ("violating", 3.0))]
    prompts(pytester.path / "all.jsonl", [group("s001", ["R16", "R21"], "motion")])
    options = [*arguments(*models), f"--pv-prompts={pytester.path / 'all.jsonl'}", "-k", "R16"]
    assert pytester.runpytest_subprocess(*options).ret == 0
    assert [rows(m)["s001", "R16"]["score"] for m in models] == [5, 1]
    assert (pytester.path / "pvbench-report" / "leaderboard.md").is_file()


def test_kill_and_resume_give_the_rows_of_an_undisturbed_run(pytester: pytest.Pytester) -> None:
    """Kill -9 at any moment loses at most the pairs in flight."""
    jumps = {f"s{k:03}": 0.1 * k for k in range(1, 7)}
    model, other = demo(pytester.path / "m", jumps), demo(pytester.path / "undisturbed" / "m", jumps)
    pytester.makepyfile(slow="import time\ndef pytest_runtest_call(item):\n    time.sleep(0.05)\n")
    environment = {**os.environ, "PYTHONPATH": f"{pytester.path}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "pytest", "-p", "slow", *arguments(model), "-n", "2"]
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not journal(model).exists() or journal(model).stat().st_size < 4000):
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    half = len(rows(model))
    assert 0 < half < 48
    pytester.runpytest_subprocess(*arguments(model), "-n", "2")
    pytester.runpytest_subprocess(*arguments(other))
    assert {k: stable(r) for k, r in rows(model).items()} == {k: stable(r) for k, r in rows(other).items()}
