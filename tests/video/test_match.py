"""Names are matched to groups step by step, and what fits several groups is an error that lists them."""

from __future__ import annotations

import unicodedata

import pytest

from pvbench_suite.errors import ModelDirError
from pvbench_suite.video.layouts.native import readings_of, resolve
from pvbench_suite.video.match import Ambiguous, Matcher, nearest

LONG = "A glass of water stands on a wooden table beside a red ball, and a hand slowly pours milk into it while " * 3


def matcher(*keys):
    return Matcher([(key, f"<{key}>") for key in keys])


def test_an_exact_name_wins_over_one_that_differs_in_case():
    both = matcher("A fantasy landscape", "a fantasy landscape")
    assert both.find("a fantasy landscape") == "<a fantasy landscape>"
    assert both.find("A fantasy landscape") == "<A fantasy landscape>"
    with pytest.raises(Ambiguous, match=r"fits 2 groups: <A fantasy landscape>, <a fantasy landscape>"):
        both.find("A FANTASY LANDSCAPE")


def test_composed_and_decomposed_letters_are_the_same():
    name = "façades"
    for form in ("NFC", "NFD"):
        assert matcher(name).find(unicodedata.normalize(form, name)) == f"<{name}>"


def test_case_is_folded():
    assert matcher("straße").find("STRASSE") == "<straße>"


@pytest.mark.parametrize("length", [180, 80, 79])
def test_a_name_cut_to_180_or_80_characters_is_a_prefix(length):
    assert matcher(LONG, "another").find(LONG[:length].strip()) == f"<{LONG}>"


def test_a_short_beginning_is_no_prefix():
    assert matcher(LONG).find("A glass of water") is None


def test_a_prefix_of_two_is_ambiguous():
    with pytest.raises(Ambiguous, match="fits 2 groups"):
        matcher(LONG + "a", LONG + "b").find(LONG[:100])


def test_other_characters_become_underscores():
    prompts = matcher("A cat, a dog; and: a bird's nest!", "other")
    assert prompts.find("A_cat_a_dog_and_a_bird_s_nest") == "<A cat, a dog; and: a bird's nest!>"
    assert prompts.find("a-cat-a-dog-and-a-bird-s-nest_") == "<A cat, a dog; and: a bird's nest!>"


def test_a_sanitized_name_may_be_cut_too():
    assert matcher(LONG.replace(" ", ", ")).find(LONG[:80].replace(" ", "_")) is not None


def test_letters_of_other_scripts_do_not_all_become_the_same_underscore():
    both = matcher("球 1", "猫 1")
    assert both.find("球_1") == "<球 1>"
    assert both.find("犬_1") is None


def test_two_groups_with_the_same_prompt_are_ambiguous_not_first_wins():
    same = Matcher([("a ball falls", "g1"), ("a ball falls", "g2")])
    with pytest.raises(ModelDirError, match="g1, g2"):
        same.find("a ball falls")


def test_many_candidates_are_cut_in_the_message():
    many = Matcher([("x", f"g{k}") for k in range(9)])
    with pytest.raises(Ambiguous, match=r"fits 9 groups: g0, g1, g2, g3, g4, \.\.\."):
        many.find("x")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("s001", ("s001", None)),
        ("s001.s7", ("s001", 7)),
        ("s001.s007", ("s001", 7)),
        ("S001.s7", ("s001", 7)),
        ("apollo.s11", ("apollo.s11", None)),  # the number belongs to the id
        ("s0011", None),
        ("s001.sx", None),
    ],
)
def test_a_native_name_is_a_group_and_perhaps_a_seed(name, expected):
    ids = Matcher([(i, i) for i in ("s001", "s002", "apollo.s11")])
    assert resolve(ids, readings_of(name)) == expected


def test_the_nearest_names_are_the_likeliest():
    assert nearest(["s0O1"], ["s001", "h001", "x140", "s011"])[0] in ("s001", "s011")
    assert len(nearest(["a"], ["b", "c", "d", "e"])) == 3
    assert nearest([], ["b"]) == ("b",)
