"""Answers are read by their schema alone; the known failures of other suites are cases here."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.judge.verdict import LONGEST_REASON, InvalidAnswer, Parsed, Token, expectation, parse, schema

FRAMES = 16
GOOD: dict[str, Any] = {"observable": True, "score": 4, "reason": "a gap in frame 3", "frames": [3]}


def answer(**changes: Any) -> str:
    return json.dumps(GOOD | changes)


def read(text: str | None, finish: str | None = "stop") -> Parsed:
    return parse(text, finish, FRAMES)


def tried(text: str, finish: str | None = "stop") -> tuple[Parsed | None, str]:
    """Return the verdict and no words, or None and the words that say what is wrong."""
    try:
        return read(text, finish), ""
    except InvalidAnswer as invalid:
        return None, str(invalid)


def test_a_complete_answer_is_read() -> None:
    assert read(answer()) == Parsed(True, 4, "a gap in frame 3", (3,))


@pytest.mark.parametrize(("text", "score"), [("4.0", 4), ("5", 5), ("1", 1), ("2e0", 2), ("3.000", 3)])
def test_a_whole_number_is_a_score_however_it_is_written(text: str, score: int) -> None:
    """VideoPhy-2 (B1) reads "4.0" as 0, since "0" is searched for first."""
    assert read(answer(score=0).replace(": 0,", f": {text},")).score == score


@pytest.mark.parametrize(
    "score",
    [4.5, "4", "4/5", "4/5 of 5", 0, 6, 10, -1, True, False, None, [4], {"a": 4}, "none", "five", "", 1e400, 5.0001],
)
def test_anything_else_is_no_score(score: Any) -> None:
    """Elsewhere "10" is read as 0, "none" as 1 ("one"), "3 - one object" as 1 (B1): here they are invalid."""
    text = json.dumps(GOOD | {"score": score}).replace("Infinity", "1e400")
    with pytest.raises(InvalidAnswer, match="score was"):
        read(text)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_json_number_is_no_score(number: str) -> None:
    with pytest.raises(InvalidAnswer, match="no JSON number"):
        read(answer(score=0).replace(": 0,", f": {number},"))


@pytest.mark.parametrize(
    "text",
    [
        "I know that nothing is normal now.",
        "yes, nothing is wrong, score 5",
        "no",
        "Yes.",
        "3 - one object",
        "The score is 4.0",
        "4",
        '"4"',
        "[4]",
        "null",
        "5 " + answer(),
        answer() + answer(score=1),
        answer() + "\nScore: 5",
        '{"observable": true, "score": 5',
        "{'observable': True, 'score': 5, 'reason': 'x', 'frames': []}",
        '{"observable": true, "score": 5, "reason": "x", "frames": [],}',
        "\ufeff" + answer(),
        "{" * 100_000,
        "{gold}",
    ],
)
def test_words_are_not_searched_for_scores(text: str) -> None:
    """Elsewhere "no" is found in "now", "know" and "nothing" (B2), "yes, nothing..." is wrong there (B11)."""
    with pytest.raises(InvalidAnswer):
        read(text)


@pytest.mark.parametrize("key", list(GOOD))
def test_a_missing_key_never_passes(key: str) -> None:
    """PhyWorldBench (B12) lets a truncated answer pass when its keys are missing."""
    with pytest.raises(InvalidAnswer, match=f"the key {key} was missing"):
        read(json.dumps({k: v for k, v in GOOD.items() if k != key}))


@pytest.mark.parametrize("finish", ["length", "content_filter", "tool_calls", None, "", "Stop", "eos"])
def test_an_answer_that_did_not_end_by_stop_is_invalid_even_if_it_parses(finish: str | None) -> None:
    """An answer that was cut at max_tokens is scored 0 elsewhere."""
    with pytest.raises(InvalidAnswer, match=r"cut at the token limit|not by stop"):
        read(answer(), finish)


@pytest.mark.parametrize("text", [None, "", "  \n"])
def test_an_empty_answer_is_invalid(text: str | None) -> None:
    with pytest.raises(InvalidAnswer, match="empty"):
        read(text)


def test_a_key_that_stands_twice_is_invalid() -> None:
    with pytest.raises(InvalidAnswer, match="twice"):
        read('{"observable": true, "score": 5, "score": 1, "reason": "r", "frames": []}')


def test_a_key_beyond_the_schema_is_invalid() -> None:
    with pytest.raises(InvalidAnswer, match='"confidence" is none of'):
        read(answer(confidence=1))


@pytest.mark.parametrize("observable", ["true", 1, None, "yes"])
def test_observable_is_a_boolean(observable: Any) -> None:
    with pytest.raises(InvalidAnswer, match="observable was"):
        read(answer(observable=observable))


def test_what_cannot_be_observed_has_no_score() -> None:
    assert read(answer(observable=False)).score is None
    assert read(answer(observable=False, score=None)).score is None
    with pytest.raises(InvalidAnswer, match="score was"):
        read(answer(observable=False, score="n/a"))


def test_the_reason_has_at_most_400_characters_and_some() -> None:
    assert len(read(answer(reason="x" * LONGEST_REASON)).reason) == LONGEST_REASON
    for reason in ("x" * (LONGEST_REASON + 1), "", "  ", 5, None, ["x"]):
        with pytest.raises(InvalidAnswer, match="reason"):
            read(answer(reason=reason))


def test_the_reason_loses_what_would_disturb_a_terminal_or_a_page() -> None:
    assert read(answer(reason="red\x1b[31m\u202e\u2028x\n\x00")).reason == "red [31m x"


def test_a_template_in_the_reason_stays_as_it_is() -> None:
    """EvalScope expanded {gold} inside model text."""
    assert read(answer(reason="{gold} %s ${x} {{ score }}")).reason == "{gold} %s ${x} {{ score }}"


@pytest.mark.parametrize("frames", [[16], [-1], [True], ["3"], [1.5], "3", None, list(range(17)), {"0": 1}])
def test_cited_frames_are_those_that_were_shown(frames: Any) -> None:
    with pytest.raises(InvalidAnswer, match="frames"):
        read(answer(frames=frames))


def test_a_whole_reasoning_block_before_the_object_is_left_out() -> None:
    thought = '<think>The score is 2. {"score": 1}\nno, 5</think>\n'
    assert read(thought + answer()).score == 4
    assert read("\n" + thought + "```json\n" + answer() + "\n```").score == 4


@pytest.mark.parametrize(
    "text",
    [
        "<think>" + answer(),
        "The score is 2</think>" + answer(),
        answer() + "<think>x</think>",
        "x<think>y</think>" + answer(),
        "<think>a</think><think>b</think>" + answer(),
        "<think>a<think>b</think></think>" + answer(),
        "<think>a</think> I think: " + answer(),
    ],
)
def test_anything_but_a_whole_block_is_not_left_out(text: str) -> None:
    with pytest.raises(InvalidAnswer):
        read(text)


@pytest.mark.parametrize("fence", ["```json\n%s\n```", "```\n%s\n```", "  ```json \n%s```  ", "```JSON\n%s\n```\n"])
def test_one_code_fence_is_tolerated(fence: str) -> None:
    assert read(fence % answer()).score == 4


@pytest.mark.parametrize("text", ["```json\n%s", "%s\n```", "Here: ```json\n%s\n```", "```json\n%s\n```\nDone."])
def test_half_a_fence_or_words_about_it_are_not(text: str) -> None:
    with pytest.raises(InvalidAnswer):
        read(text % answer())


def test_an_endless_answer_is_not_read() -> None:
    with pytest.raises(InvalidAnswer, match="characters"):
        read(" " * 70_000 + answer())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(score=st.integers(1, 5), observable=st.booleans(), reason=st.text(min_size=1, max_size=LONGEST_REASON),
       frames=st.lists(st.integers(0, FRAMES - 1), max_size=FRAMES))  # fmt: skip
def test_every_answer_by_the_schema_is_read_as_it_is(
    score: int, observable: bool, reason: str, frames: list[int]
) -> None:
    text = json.dumps({"observable": observable, "score": score, "reason": reason, "frames": frames})
    if not reason.strip():
        return
    found = read(text)
    assert found.score == (score if observable else None)
    assert found.frames == tuple(frames)


@given(st.text(max_size=300), st.sampled_from(["stop", "length", None]))
def test_any_text_is_read_or_refused_and_never_anything_else(text: str, finish: str | None) -> None:
    found, words = tried(text, finish)
    assert len(words) < 200
    assert words.isprintable()
    assert found is None or (finish == "stop" and found.score in (None, 1, 2, 3, 4, 5))


@given(st.dictionaries(st.sampled_from([*GOOD, "extra"]), JSON, max_size=5))
def test_any_object_is_a_verdict_only_if_all_four_values_are_right(changes: dict[str, Any]) -> None:
    data = GOOD | changes
    found, words = tried(json.dumps(data))
    assert words.isascii()
    if found is None:
        assert changes
        return
    assert type(data["observable"]) is bool
    assert "extra" not in data
    assert found.score is None or (not isinstance(data["score"], bool) and data["score"] == found.score)


@given(st.text(max_size=40).filter(lambda x: x.strip()), st.integers(1, 5))
def test_words_round_an_answer_make_it_invalid(words: str, score: int) -> None:
    """What a sign in the video makes the judge say beside its answer can't change the answer."""
    for text in (words + answer(score=score), answer(score=score) + words):
        with pytest.raises(InvalidAnswer):
            read(text)


def test_the_schema_says_what_the_parser_wants() -> None:
    wanted = schema(FRAMES)
    assert wanted["required"] == list(GOOD)
    assert wanted["additionalProperties"] is False
    assert wanted["properties"]["frames"]["items"]["maximum"] == FRAMES - 1


# -- expected score ------------------------------------------------------------------------------------------------


def spelled(digit: str, shares: dict[str, float], text: str = "") -> list[Token]:
    text = text or answer(score=int(digit))
    at = text.index('"score": ') + 9
    top = tuple((t, math.log(p)) for t, p in shares.items())
    return [Token(text[:at], ()), Token(digit, top), Token(text[at + 1 :], ())]


def test_the_expected_score_weighs_the_alternatives_of_the_score_token() -> None:
    mean, bits = expectation(spelled("4", {"4": 0.5, "5": 0.25, "3": 0.25})) or (0, 0)
    assert mean == pytest.approx(4.0)
    assert bits == pytest.approx(1.5)


def test_a_certain_judge_has_no_entropy() -> None:
    assert expectation(spelled("4", {"4": 1.0})) == (4.0, 0.0)


def test_the_same_digit_with_and_without_a_blank_is_one_score() -> None:
    mean, bits = expectation(spelled("4", {"4": 0.25, " 4": 0.25, "2": 0.5})) or (0, 0)
    assert (mean, bits) == (pytest.approx(3.0), pytest.approx(1.0))


def test_other_tokens_are_left_out_of_the_shares() -> None:
    mean, _ = expectation(spelled("4", {"4": 0.6, "null": 0.2, "10": 0.2})) or (0, 0)
    assert mean == 4.0


def test_scores_with_less_than_half_of_the_probability_give_no_expectation() -> None:
    assert expectation(spelled("4", {"4": 0.4, "x": 0.6})) is None


def test_a_score_that_is_no_token_by_itself_gives_no_expectation() -> None:
    text = answer()
    at = text.index('"score": ') + 9
    assert expectation([Token(text[:at], ()), Token("4,", (("4,", 0.0),)), Token(text[at + 2 :], ())]) is None
    assert expectation([Token(text, (("4", 0.0),))]) is None
    assert expectation([]) is None


def test_a_score_quoted_in_the_reason_is_not_taken_for_the_score() -> None:
    text = json.dumps({"observable": True, "reason": 'it says "score": 1', "score": 4, "frames": []})
    assert '\\"score\\": 1' in text
    assert expectation(spelled("4", {"4": 1.0}, text)) == (4.0, 0.0)


def test_the_reasoning_before_the_answer_is_not_taken_for_it() -> None:
    thought = '<think>{"score": 1}</think>'
    assert expectation([Token(thought, ()), *spelled("4", {"4": 1.0})]) == (4.0, 0.0)


@given(st.lists(st.floats(0.001, 1.0), min_size=5, max_size=5))
def test_expectation_and_entropy_stay_in_their_ranges(weights: list[float]) -> None:
    total = sum(weights)
    found = expectation(spelled("3", {str(k + 1): w / total for k, w in enumerate(weights)}))
    assert found is not None
    assert 1.0 <= found[0] <= 5.0
    assert 0.0 <= found[1] <= math.log2(5) + 1e-4


TOPS = st.lists(st.tuples(st.text(max_size=3), st.floats()), max_size=3).map(tuple)


@given(st.lists(st.builds(Token, st.text(max_size=8), TOPS), max_size=6))
def test_any_tokens_give_an_expectation_or_none(tokens: list[Token]) -> None:
    found = expectation(tokens)
    assert found is None or (1.0 <= found[0] <= 5.0 and 0.0 <= found[1] <= 2.33)
