"""Judged dimensions in a run: a real server on loopback, the real client, rows, resume, workers, cost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.judge.server import MODEL, Reply, completion, serving, verdict
from tests.plugin.world import arguments, group, journal, prompts, rows, video

pytest.importorskip("openai", reason="needs pip install 'pvbench-suite[judge]'")


@pytest.fixture
def model(pytester: pytest.Pytester) -> Path:
    """Three clips with two judged targets each."""
    folder = pytester.path / "m"
    prompts(folder / "groups.jsonl", [group(f"s00{k}", ["IF-01", "BC-02"]) for k in (1, 2, 3)])
    for k in (1, 2, 3):
        video(folder / "t2v" / f"s00{k}.mp4", k)
    return folder


def judged(model: Path, url: str, *more: str) -> list[str]:
    """Return the arguments of a judged run."""
    judge = [f"--pv-judge-url={url}", f"--pv-judge-model={MODEL}"]
    return [*arguments(model), *judge, "-k", "IF-01 or BC-02", *more]


def test_verdicts_are_rows_and_resume_asks_nothing_twice(pytester: pytest.Pytester, model: Path) -> None:
    """Raw text, tokens and the judge's id stand in the row; a second run sends no request."""
    with serving() as server:
        assert pytester.runpytest_subprocess(*judged(model, server.url)).ret == 0
        asked = server.count
        assert asked >= 6
        again = pytester.runpytest_subprocess(*judged(model, server.url))
        assert again.ret == 0
        assert server.count == asked
    found = rows(model)
    row = found["s001", "IF-01"]
    assert (row["state"], row["score"]) == ("scored", 4)
    assert row["scorer"].startswith(f"http:{MODEL}")
    assert json.loads(row["judge"]["raw"])["score"] == 4
    assert row["judge"]["tokens_in"] == 1000


def test_two_workers_keep_the_totals(pytester: pytest.Pytester, model: Path) -> None:
    """With -n 2 every judgement is asked once."""
    with serving() as server:
        assert pytester.runpytest_subprocess(*judged(model, server.url, "-n", "2")).ret == 0
        assert len(list(server.texts)) == 6
    assert {r["state"] for r in rows(model).values()} == {"scored"}


def test_what_is_no_verdict_is_no_score(pytester: pytest.Pytester, model: Path) -> None:
    """A judge that answers 0 is asked again, and then the pair is judge_failed, never a default."""
    with serving(lambda body, count: Reply(completion(verdict(score=0)))) as server:
        assert pytester.runpytest_subprocess(*judged(model, server.url)).ret == 1
        assert server.count >= 18
    assert {r["state"] for r in rows(model).values()} == {"judge_failed"}
    with serving() as server:
        assert pytester.runpytest_subprocess(*judged(model, server.url)).ret == 0
    assert {r["state"] for r in rows(model).values()} == {"scored"}


def test_not_observable_is_unmeasurable(pytester: pytest.Pytester, model: Path) -> None:
    """A judge may say that there is nothing to see."""
    with serving(lambda body, count: Reply(completion(verdict(observable=False)))) as server:
        assert pytester.runpytest_subprocess(*judged(model, server.url)).ret == 0
    assert {(r["state"], r["reason"]) for r in rows(model).values()} == {("unmeasurable", "not_observable")}


def test_a_second_judge_is_a_second_scorer_and_is_never_mixed(pytester: pytest.Pytester, model: Path) -> None:
    """The report shows the judge of the last run alone; both stay in the journal."""
    with serving() as server:
        pytester.runpytest_subprocess(*judged(model, server.url))
        pytester.runpytest_subprocess(*judged(model, server.url), "--pv-judge-model=other/judge")
    scorers = {json.loads(line)["scorer"] for line in journal(model).read_text(encoding="utf-8").splitlines()}
    assert len({s.split("#")[0] for s in scorers}) >= 1
    summary = json.loads((journal(model).parent / "summary.json").read_text(encoding="utf-8"))
    (result,) = summary["results"]
    assert len(result["dimensions"]["IF-01"]["scorers"]) <= 1


def test_a_dry_run_asks_nothing(pytester: pytest.Pytester, model: Path) -> None:
    """The estimate is printed, no server is needed, no row is written."""
    result = pytester.runpytest_subprocess(*arguments(model), "--pv-judge-dry-run", "-k", "IF-01 or BC-02")
    assert result.ret == 0
    assert "6" in result.stdout.str()
    assert not journal(model).exists()


def test_a_dead_server_is_one_line(pytester: pytest.Pytester, model: Path) -> None:
    """Exit 4 before anything runs."""
    result = pytester.runpytest_subprocess(*judged(model, "http://127.0.0.1:9/v1"))
    assert result.ret == 4
    assert "INTERNALERROR" not in result.stdout.str() + result.stderr.str()


def test_the_key_never_shows(pytester: pytest.Pytester, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither rows nor reports nor the terminal hold it."""
    monkeypatch.setenv("PVBENCH_JUDGE_API_KEY", "sk-very-secret-key")
    with serving(lambda body, count: Reply({"error": "sk-very-secret-key"}, status=400)) as server:
        result = pytester.runpytest_subprocess(*judged(model, server.url), "-vv", "--tb=long")
    text = result.stdout.str() + result.stderr.str()
    written = "".join(
        p.read_text(encoding="utf-8", errors="replace")
        for p in model.rglob("*")
        if p.suffix in (".jsonl", ".json", ".md", ".csv", ".html")
    )
    assert "sk-very-secret-key" not in text + written
