"""Options become settings, or one line that says what is wrong; the key is none of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pvbench_suite.errors import UserError
from pvbench_suite.judge import Verdict, judge_name, settings_from
from pvbench_suite.judge.settings import DEFAULT_MODEL, Settings, api_key
from tests.judge.world import REGISTRY

URL = "http://host:8000/v1"


def made(**given: object) -> Settings:
    found = settings_from(url=URL, **given)  # type: ignore[arg-type]
    assert found is not None
    return found


def test_without_a_url_there_is_no_judge() -> None:
    assert settings_from() is None
    assert settings_from(url="", model=None) is None


def test_the_defaults_are_those_of_the_paper_and_the_spec() -> None:
    found = made()
    assert (found.model, found.frames, found.least_frames, found.max_requests) == (DEFAULT_MODEL, 32, 16, None)
    assert (found.kind, found.seed, found.tries) == ("http", 0, 3)


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("http://host:8000", "http://host:8000/v1"),
        ("http://host:8000/", "http://host:8000/v1"),
        ("https://api.host/openai/v1/", "https://api.host/openai/v1"),
        ("transformers", "transformers"),
    ],
)
def test_a_url_without_a_path_gets_the_usual_one(url: str, base: str) -> None:
    assert (settings_from(url=url) or made()).url == base


@pytest.mark.parametrize("url", ["host:8000", "ftp://host/v1", "http://", "http://host:port/", "file:///etc", "x"])
def test_what_is_no_url_is_refused_in_one_line(url: str) -> None:
    with pytest.raises(UserError, match="--pv-judge-url: needs http") as caught:
        settings_from(url=url)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    ["http://sk-secret@host/v1", "http://u:sk-secret@host/v1", "http://host/v1?key=sk-secret", "http://host/v1#sk-secret"],
)  # fmt: skip
def test_a_url_must_not_hold_a_key_and_the_message_does_not_show_it(url: str) -> None:
    with pytest.raises(UserError, match="PVBENCH_JUDGE_API_KEY") as caught:
        settings_from(url=url)
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("concurrency", "0", "must be 1 to 1024"),
        ("concurrency", "many", "is not a whole number"),
        ("max_requests", "-1", "must be 1 to"),
        ("frames", "1", "must be 2 to 256"),
        ("frames", "3.5", "is not a whole number"),
    ],
)
def test_a_wrong_number_is_one_line_that_names_the_option(option: str, value: str, message: str) -> None:
    with pytest.raises(UserError, match=f"--pv-judge-{option.replace('_', '-')} {value}: {message}"):
        made(**{option: value})


@pytest.mark.parametrize("model", ["", "a b", "a\nb", "x" * 201])
def test_a_model_is_a_name(model: str) -> None:
    if model:
        with pytest.raises(UserError, match="--pv-judge-model"):
            made(model=model)
    else:
        assert made(model=model).model == DEFAULT_MODEL


def test_how_without_whom_is_a_mistake() -> None:
    with pytest.raises(UserError, match="--pv-judge-model x: says how to ask, but not whom"):
        settings_from(model="x")


def test_a_dry_run_needs_no_server() -> None:
    found = settings_from(dry_run=True)
    assert found is not None
    assert found.dry_run


def test_the_id_names_backend_model_and_revision_and_changes_with_rubric_sampling_and_decoding() -> None:
    base, dimension = made(), REGISTRY.get("R04")
    assert base.id(dimension).startswith(f"http:{DEFAULT_MODEL}#")
    assert replace(base, revision="main").id(dimension).startswith(f"http:{DEFAULT_MODEL}@main#")
    ids = {
        base.id(dimension), base.id(REGISTRY.get("R10")), replace(base, frames=24).id(dimension),
        replace(base, seed=1).id(dimension), replace(base, max_tokens=64).id(dimension),
        replace(base, model="other").id(dimension), replace(base, url="transformers").id(dimension),
    }  # fmt: skip
    assert len(ids) == 7


def test_the_id_does_not_change_with_place_speed_or_limits() -> None:
    base, dimension = made(), REGISTRY.get("R04")
    for change in ({"url": "http://other/v1"}, {"concurrency": 99}, {"max_requests": 7}, {"timeout": 1.0}):
        assert replace(base, **change).id(dimension) == base.id(dimension)  # type: ignore[arg-type]


def test_a_rubric_of_other_words_is_another_judge() -> None:
    dimension = REGISTRY.get("R04")
    assert dimension.rubric is not None
    other = dimension.model_copy(update={"rubric": dimension.rubric.model_copy(update={"question": "Is it?"})})
    assert made().id(other) != made().id(dimension)


def test_the_judges_name_is_what_its_ids_have_in_common() -> None:
    names = {judge_name(made().id(REGISTRY.get(d))) for d in ("R04", "R10", "IF-01")}
    assert names == {f"http:{DEFAULT_MODEL}"}
    assert judge_name("cuts") == "cuts"


def test_an_odd_model_name_makes_a_plain_id() -> None:
    name = replace(made(), model="a#b|c\u202ed`e").id(REGISTRY.get("R04"))
    assert name.count("#") == 1
    assert name.isascii()
    assert "|" not in name


def test_the_suites_own_key_comes_before_the_general_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert api_key() is None
    monkeypatch.setenv("OPENAI_API_KEY", "general")
    assert api_key() == "general"
    monkeypatch.setenv("PVBENCH_JUDGE_API_KEY", " own \n")
    assert api_key() == "own"


def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PVBENCH_JUDGE_API_KEY", "sk-\u00e4secret")
    with pytest.raises(UserError, match="PVBENCH_JUDGE_API_KEY: holds characters") as caught:
        api_key()
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("score", [0, 6, 4.0, True, "4", None])
def test_a_verdict_holds_nothing_but_a_whole_score(score: object) -> None:
    with pytest.raises(ValueError, match="score is an integer"):
        Verdict(score, "why")  # type: ignore[arg-type]


def test_a_verdict_needs_no_more_than_score_and_reason() -> None:
    assert Verdict(3, "why").to_row() == {
        "raw": "", "tokens_in": None, "tokens_out": None, "seconds": None, "tries": 1, "expected": None,
        "entropy": None, "frames": [], "evidence": [], "cached": False,
    }  # fmt: skip
