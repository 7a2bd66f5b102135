"""Agreement, discriminability and health from journals of known rows; the check against a judge that knows."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from pvbench_suite.errors import UserError
from pvbench_suite.judge import check as checking
from pvbench_suite.judge.agree import agree
from pvbench_suite.judge.cli import app
from pvbench_suite.judge.discriminability import discriminability, read_ratings
from pvbench_suite.judge.journals import rank_correlation
from pvbench_suite.results import Journal
from tests.judge.server import MODEL, Body, Reply, Server, completion, verdict
from tests.judge.world import REGISTRY

A, B = "http:a/judge", "http:b/judge"


def row(dimension: str, k: int, score: int | None, scorer: str, **changes: Any) -> dict[str, Any]:
    """Return a row as a run writes it."""
    found = {
        "schema": 1, "suite": "0", "dimension": dimension, "model": "m", "modality": "t2v", "group": f"g{k}",
        "video": f"v{k}", "seed": None, "video_sha256": f"{k:064d}", "targeted": True, "tags": [], "brief": None,
        "state": "scored" if score else "judge_failed", "reason": "", "value": None, "unit": None, "score": score,
        "n": None, "spread": None, "assumed": [], "scorer": scorer, "providers": {}, "thresholds": "t",
        "profile": "embedded", "attempt": 1, "seconds": 0.1, "warnings": [], "message": "",
    }  # fmt: skip
    return found | changes


def judged(dimension: str, scores: list[int], judge: str, **changes: Any) -> list[dict[str, Any]]:
    return [row(dimension, k, s, f"{judge}#{dimension}", **changes) for k, s in enumerate(scores)]


def journal(folder: Path, rows: list[dict[str, Any]]) -> Path:
    Journal(folder / "pvbench" / "embedded" / "results.jsonl").append(rows)
    return folder


# -- agreement -----------------------------------------------------------------------------------------------------


def test_two_judges_that_agree_have_a_coefficient_of_one() -> None:
    rows = judged("R04", [1, 2, 3, 4, 5], A) + judged("R04", [1, 2, 3, 4, 5], B)
    (found,) = agree(rows, REGISTRY)
    assert (found.first, found.second, found.n) == (A, B, 5)
    assert (found.rho, found.equal, found.apart) == (pytest.approx(1.0), 1.0, 0.0)


def test_two_judges_that_disagree_have_one_of_minus_one_and_a_known_distance() -> None:
    (found,) = agree(judged("R04", [1, 2, 3, 4, 5], A) + judged("R04", [5, 4, 3, 2, 1], B), REGISTRY)
    assert found.rho == pytest.approx(-1.0)
    assert (found.equal, found.apart) == (0.2, 2.4)


def test_ties_count_by_their_mean_ranks() -> None:
    """Ranks 1.5 1.5 3 4 against 1 2 3 4: rho = 1 - 6 * 0.5 / 60 without ties' correction, Pearson of ranks with it."""
    assert rank_correlation([1, 1, 3, 4], [1, 2, 3, 4]) == pytest.approx(4.5 / np.sqrt(4.5 * 5.0))


def test_only_pairs_that_both_scored_under_the_same_rubric_count() -> None:
    rows = judged("R04", [1, 2, 3, 4], A) + judged("R04", [1, 2, 3], B) + judged("R10", [5, 5], A)
    rows += judged("R10", [5, 5], B, thresholds="another rubric")
    (found,) = agree(rows, REGISTRY)
    assert found.n == 3
    assert [d for d, _, _ in found.by_domain] == ["GS"]


def test_a_constant_judge_has_no_coefficient() -> None:
    (found,) = agree(judged("R04", [1, 2, 3], A) + judged("R04", [4, 4, 4], B), REGISTRY)
    assert found.rho is None
    assert found.apart == 2.0


def test_expected_scores_have_a_coefficient_of_their_own() -> None:
    rows = judged("R04", [4, 4, 4], A) + judged("R04", [4, 4, 4], B)
    for k, one in enumerate(rows):
        one["judge"] = {"expected": 3.9 + 0.05 * (k % 3)}
    (found,) = agree(rows, REGISTRY)
    assert (found.rho, found.rho_expected) == (None, pytest.approx(1.0))


def test_a_failed_or_absent_event_is_no_score_of_a_judge() -> None:
    rows = judged("R04", [1, 2, 3], A) + judged("R04", [1, 2, 3], B)
    rows += [row("R04", 9, None, f"{A}#R04"), row("R04", 9, 5, f"{B}#R04")]
    rows += [row("R08", 9, 1, f"{j}#R08", reason="event_absent: no_motion") for j in (A, B)]
    assert agree(rows, REGISTRY)[0].n == 3


def test_one_judge_alone_is_a_mistake_that_says_who_is_there() -> None:
    with pytest.raises(UserError, match=f"needs rows of two judges, there are: {A}"):
        agree([*judged("R04", [1, 2], A), row("R22", 0, 3, "cuts")], REGISTRY)


# -- discriminability ----------------------------------------------------------------------------------------------


def numbers(dimension: str, scores: list[int]) -> list[dict[str, Any]]:
    return [row(dimension, k, s, "cuts", value=1.0) for k, s in enumerate(scores)]


def test_entropy_variance_and_share_are_those_of_the_scores() -> None:
    rows = numbers("R22", [1, 2, 3, 4, 5]) + numbers("R21", [1, 1, 1, 1, 1]) + judged("R04", [5, 5, 5, 4], A)
    own, common = discriminability(rows, REGISTRY)
    cuts, judge = own
    assert (cuts.scorer, cuts.n, judge.scorer, judge.n) == ("cuts", 10, A, 4)
    shares = np.array([0.6, 0.1, 0.1, 0.1, 0.1])
    assert cuts.entropy == pytest.approx(-(shares * np.log2(shares)).sum())
    assert judge.entropy == pytest.approx(0.8112781)
    assert cuts.variance == pytest.approx(np.var([3.0, 1.0], ddof=1))
    assert judge.variance is None
    assert (cuts.share_at_5, judge.share_at_5) == (0.1, 0.75)
    assert common == []


def test_scorers_are_compared_on_the_dimensions_that_both_have() -> None:
    rows = numbers("R22", [1, 2, 3]) + numbers("R15", [1, 3, 5]) + judged("R15", [4, 5, 5], A) + judged("R04", [5], A)
    _, common = discriminability(rows, REGISTRY)
    assert [(r.scorer, r.dimensions, r.n) for r in common] == [("cuts", ("R15",), 3), (A, ("R15",), 3)]


def test_only_the_physical_layer_counts() -> None:
    own, _ = discriminability(judged("IF-01", [1, 2, 3], A) + numbers("PTQ-03", [1, 2]) + numbers("R22", [3]), REGISTRY)
    assert [r.scorer for r in own] == ["cuts"]
    with pytest.raises(UserError, match="no physical dimension is scored"):
        discriminability(judged("IF-01", [1, 2, 3], A), REGISTRY)


def test_people_tell_who_is_right(tmp_path: Path) -> None:
    rows = numbers("R15", [1, 2, 3, 4, 5]) + judged("R15", [5, 4, 3, 2, 1], A)
    table = tmp_path / "ratings.csv"
    lines = ["video,dimension,rating", *[f"v{k},R15,{k}" for k in range(5)], "v4,R15,8", "v9,R15,1"]
    table.write_text("\n".join(lines))
    ratings = read_ratings(table)
    assert ratings["", "v4", "R15"] == 6.0
    own, _ = discriminability(rows, REGISTRY, ratings)
    assert {r.scorer: (r.rho, r.rated) for r in own} == {
        "cuts": (pytest.approx(1.0), 5), A: (pytest.approx(-1.0), 5),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("video,rating\nv,1\n", "has no column 'dimension'"),
        ("video,dimension,rating\nv,R15,good\n", "line 2: rating 'good' is not a number"),
        ("video,dimension,rating\nv,R15,nan\n", "line 2: rating 'nan' is not a number"),
        ("video,dimension,rating\nv,R15\n", "line 2: rating '' is not a number"),
        ("", "has no column"),
        ("\udcff", "cannot be read"),
    ],
)
def test_a_wrong_table_of_ratings_is_one_line(tmp_path: Path, text: str, match: str) -> None:
    table = tmp_path / "ratings.csv"
    table.write_text(text, errors="surrogateescape")
    with pytest.raises(UserError, match=match):
        read_ratings(table)


# -- check and the command line ------------------------------------------------------------------------------------


def knowing(body: Body, n: int) -> Reply:
    """Answer each known clip rightly, by its dimension and by whether its frames change as they should."""
    text = "\n".join(p["text"] for p in body["messages"][1]["content"] if p["type"] == "text")
    pictures = tuple(p["image_url"]["url"] for p in body["messages"][1]["content"] if p["type"] == "image_url")
    found = re.search(r"Dimension ([A-Z0-9-]+):", text)
    assert found
    for case in checking.known():
        if case.dimension == found[1] and case.prompt in text and pictures == FRAMES[case.name]:
            best = max(case.answers)
            return Reply(completion(verdict(best or 1, bool(best), "known", frames=())))
    raise AssertionError("an unknown clip was sent")


FRAMES: dict[str, tuple[str, ...]] = {}


@pytest.fixture(scope="module")
def _known_frames() -> None:
    import base64

    from pvbench_suite.judge.sampling import frames_of
    from tests.judge.world import settings

    for case in checking.known():
        shown = frames_of(case.clip(), settings("http://host", concurrency=8)).pictures
        FRAMES[case.name] = tuple(f"data:{p.mime};base64,{base64.b64encode(p.data).decode()}" for p in shown)


@pytest.mark.usefixtures("_known_frames")
def test_a_judge_that_knows_gets_a_dozen_right(server: Server) -> None:
    server.behave = knowing
    ran = CliRunner().invoke(app, ["check", f"--url={server.url}", f"--model={MODEL}"])
    assert "agreement: 12 of 12 known answers" in ran.output
    assert ran.exit_code == 0
    assert server.count == 12


@pytest.mark.usefixtures("_known_frames")
def test_a_judge_that_always_says_five_gets_the_good_ones_right(server: Server) -> None:
    server.behave = lambda body, n: Reply(completion(verdict(5)))
    ran = CliRunner().invoke(app, ["check", f"--pv-judge-url={server.url}", f"--pv-judge-model={MODEL}"])
    assert "agreement: 4 of 12 known answers" in ran.output
    assert ran.output.count("<- wrong") == 8
    assert ran.exit_code == 1


@pytest.mark.usefixtures("_known_frames")
def test_the_known_clips_show_what_they_are_said_to_show() -> None:
    """The ball of the vanishing clip is gone at the end, that of the growing one is larger, the light changes."""
    clips = {case.name: case.clip() for case in checking.known()}
    assert len(checking.known()) == 12
    assert len({case.dimension for case in checking.known()}) == 8

    def red(clip: Any, t: int) -> int:
        frame = clip.frames[t].astype(int)
        return int(((frame[..., 0] > 140) & (frame[..., 1] < 0.5 * frame[..., 0])).sum())

    assert red(clips["ball vanishes"], 0) > 100
    assert red(clips["ball vanishes"], -1) < 0.2 * red(clips["ball vanishes"], 0)
    assert red(clips["ball grows"], -1) > 1.8 * red(clips["ball grows"], 0)
    assert red(clips["three of three"], 0) > 2.2 * red(clips["one of three"], 0)
    assert abs(red(clips["ball stays"], -1) / red(clips["ball stays"], 0) - 1) < 0.35
    jumped = np.abs(clips["light jumps"].frames.astype(int) - clips["ball stays"].frames).mean(axis=(1, 2, 3))
    assert jumped[0] == 0.0
    assert jumped[-1] > 3.0


def test_health_calls_out_a_judge_that_says_one_thing(tmp_path: Path) -> None:
    run = journal(tmp_path, judged("R04", [4] * 31, A) + judged("R10", [1, 2, 3, 4, 5], A))
    ran = CliRunner().invoke(app, ["health", str(run)])
    assert (
        f"{A}#R04 R04: 31 verdicts, 0 of 31 without one, share at 5 0.00, entropy 0.00 bit; COLLAPSED: 4" in ran.output
    )
    assert f"{A}#R10 R10: 5 verdicts, 0 of 5 without one, share at 5 0.20, entropy 2.32 bit\n" in ran.output
    assert ran.exit_code == 1


def test_the_studies_run_on_journals(tmp_path: Path) -> None:
    rows = judged("R15", [1, 2, 3], A) + judged("R15", [1, 2, 2], B) + numbers("R15", [1, 3, 5])
    run = journal(tmp_path / "one", rows)
    agreed = CliRunner().invoke(app, ["agree", str(run)])
    assert f"{A} and {B}: 3 common pairs" in agreed.output
    table = CliRunner().invoke(app, ["discriminability", str(run)])
    assert "all on the 1 dimensions that every scorer has:" in table.output
    assert agreed.exit_code == table.exit_code == 0


@pytest.mark.parametrize(
    "command", [["agree", "RUN"], ["discriminability", "RUN"], ["health", "RUN"], ["check"], ["check", "--url=x"]]
)
def test_what_cannot_be_used_is_one_line_and_status_four(tmp_path: Path, command: list[str]) -> None:
    journal(tmp_path, [row("PTQ-03", 0, 3, "cuts")])
    ran = CliRunner().invoke(app, [str(tmp_path) if part == "RUN" else part for part in command])
    assert ran.exit_code == 4
    assert ran.output.startswith("pvbench judge: ")
    assert len(ran.output.strip().split("\n")) == 1
    assert json.dumps(ran.output)
