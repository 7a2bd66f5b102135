"""Rows and the journal: coercion, torn lines, last row wins, what is planned and never ran."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path

import numpy as np
import pytest

from pvbench_suite.results import Journal, coerce, latest, settled


def row(**keys: object) -> dict[str, object]:
    """Return a row with the keys that matter here."""
    base = {
        "schema": 1, "model": "m", "modality": "t2v", "video": "v", "dimension": "R16", "profile": "embedded",
        "scorer": "cuts", "state": "scored", "score": 5, "value": 0.0,
    }  # fmt: skip
    return {**base, **keys}


def test_numpy_becomes_builtin_exactly() -> None:
    """Execnet accepts exact builtin types only."""
    clean = coerce({"a": np.float32(0.5), "b": np.int64(3), "c": np.array([1.0, 2.0]), "d": (np.bool_(True), None)})
    assert clean == {"a": 0.5, "b": 3, "c": [1.0, 2.0], "d": [True, None]}
    assert [type(clean[k]) for k in "ab"] == [float, int]
    assert type(clean["d"][0]) is bool


@pytest.mark.parametrize("value", [float("nan"), float("inf"), np.nan, Path("x"), Enum("E", "A").A, object(), b"x"])
def test_what_cannot_be_recorded_is_refused_with_its_place(value: object) -> None:
    """An unknown type or a number that is not finite raises, and says where."""
    with pytest.raises(TypeError, match=r"row\.evidence\[1\]"):
        coerce({"evidence": [1, value]})


def test_a_torn_last_line_is_left_out_and_does_not_swallow_the_next(tmp_path: Path) -> None:
    """A kill while writing loses that row only."""
    journal = Journal(tmp_path / "m" / "results.jsonl")
    journal.append([row(video="a"), row(video="b")])
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole[:-25])
    assert [r["video"] for r in journal.read()] == ["a"]
    assert journal.torn == 1
    journal.append([row(video="c")])
    assert [r["video"] for r in journal.read()] == ["a", "c"]


@pytest.mark.parametrize("line", [b"{}", b"[1]", b"\xff\xfe", b'{"schema": 1, "state": "fine"}', b"[" * 100_000])
def test_lines_that_are_no_rows_are_counted_and_left_out(tmp_path: Path, line: bytes) -> None:
    """A journal is untrusted."""
    journal = Journal(tmp_path / "results.jsonl")
    journal.path.write_bytes(line + b"\n" + json.dumps(row()).encode() + b"\n")
    assert len(journal.read()) == 1
    assert journal.torn == 1


def test_the_last_row_of_a_pair_wins() -> None:
    """A retried pair counts once, with its last state."""
    rows = latest([row(state="error"), row(video="w"), row(state="scored", score=2)])
    assert [(r["video"], r["state"], r["score"]) for r in rows] == [("w", "scored", 5), ("v", "scored", 2)]


def test_two_scorers_of_a_pair_are_kept_apart_and_no_judge_gives_way_to_a_judge() -> None:
    """Scorers are never averaged; a pair that waited for a judge is settled by one."""
    rows = latest([
        row(dimension="IF-01", scorer="no-judge", state="not_perceived"),
        row(dimension="IF-01", scorer="judge-a"),
        row(dimension="IF-01", scorer="judge-b"),
    ])  # fmt: skip
    assert [r["scorer"] for r in rows] == ["judge-a", "judge-b"]


def test_a_report_shows_the_scorer_of_the_plan_alone(tmp_path: Path) -> None:
    """A judge that is added later neither blanks the numbers nor hides behind them."""
    entry = {
        "video": "v", "modality": "t2v", "group": None, "seed": None, "model": "m", "tags": [], "targets": [],
        "dimensions": ["R15"], "scorers": {"R15": "judge-a"},
    }  # fmt: skip
    Journal(tmp_path / "results.jsonl").append(
        [row(dimension="R15"), row(dimension="R15", scorer="judge-a", state="error")]
    )
    for scorer, state in (("cuts", "scored"), ("judge-a", "error"), ("judge-b", "pending")):
        entry["scorers"] = {"R15": scorer}
        (tmp_path / "plan.json").write_text(json.dumps({"schema": 1, "videos": [entry]}))
        (found,) = settled(tmp_path)
        assert found["state"] == state


def test_planned_pairs_without_a_row_are_pending_and_unplanned_rows_are_left_out(tmp_path: Path) -> None:
    """The plan decides what counts."""
    entry = {
        "video": "v", "modality": "t2v", "group": "s001", "seed": None, "model": "m", "tags": [],
        "targets": ["R21"], "dimensions": ["R16", "R21"],
    }  # fmt: skip
    (tmp_path / "plan.json").write_text(json.dumps({"schema": 1, "videos": [entry]}))
    Journal(tmp_path / "results.jsonl").append([row(), row(video="deleted")])
    found = {(r["video"], r["dimension"]): r for r in settled(tmp_path)}
    assert set(found) == {("v", "R16"), ("v", "R21")}
    assert found["v", "R21"]["state"] == "pending"
    assert found["v", "R21"]["targeted"] is True
