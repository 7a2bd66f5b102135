"""Words, plurals, word lists and 5-grams are found as a reader would find them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.prompts import words


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("Two red balls roll.", "red ball"),
        ("A red ball rolls.", "red balls"),
        ("Three knives and two leaves.", "knife"),
        ("Three knives and two leaves.", "leaf"),
        ("Four boxes, two cherries.", "box"),
        ("Four boxes, two cherries.", "cherry"),
        ("The woman's left hand moves.", "left hand"),
        ("Two women wave.", "woman"),
        ("A half-full glass stands there.", "half full glass"),
        ("Glass-topped table.", "glass topped table"),
        ("A RED Ball.", "red ball"),
    ],
)
def test_a_noun_is_mentioned_in_singular_and_plural(text: str, phrase: str) -> None:
    """Segmentation nouns are singular while prompts count."""
    assert words.mentions(text, phrase)


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("A red rubber ball.", "red ball"),
        ("A balloon.", "ball"),
        ("A ball that is red.", "red ball"),
        ("A glass.", "glas"),
        ("", "ball"),
        ("A ball.", "..."),
    ],
)
def test_other_words_are_no_mention(text: str, phrase: str) -> None:
    """The words have to stand side by side, whole and in order."""
    assert not words.mentions(text, phrase)


def test_words_count_hyphens_and_numbers_as_a_reader_does() -> None:
    """A hyphenated word and a decimal number are one word each."""
    assert words.words("A close-up: 0.5 m away, the potter's wheel.") == (
        "A", "close-up", "0.5", "m", "away", "the", "potter's", "wheel",
    )  # fmt: skip


def test_word_lists_match_whole_words_with_plurals_and_stars() -> None:
    """A star takes every ending; other entries take a plural only; a space matches a hyphen."""
    assert words.found("Ice melts, melting; time-lapse.", "phase") == {"melts", "melting"}
    assert words.found("Time-lapse of clouds", "slow") == {"time-lapse"}
    assert words.found("An inverted camel", "camera") == frozenset()
    assert words.kinds("Two robot arms and a dog in a room", "agents") == ("hand", "robot arm", "other robot", "animal")


def test_every_list_of_the_vocabulary_compiles_and_finds_its_own_entries() -> None:
    """No entry is dead: each is found in a text that consists of it."""
    for table, value in words.vocabulary().items():
        if table in ("names", "capitals_allowed"):
            continue
        rows = value.items() if isinstance(value, dict) else [(None, value)]
        for row, entries in rows:
            for entry in entries:
                text = entry.removesuffix("*")
                assert words.found(text, table) if row is None else row in words.kinds(text, table), (table, entry)


def test_the_overlap_of_two_texts_is_shared_grams_over_the_smaller() -> None:
    """Two texts of six and eight words that share six words in a row share both 5-grams of the smaller."""
    six, eight = "a b c d e f", "a b c d e f g h"
    assert words.overlaps([six, eight, "x y z"]) == [(1.0, 0, 1)]
    assert words.overlaps(["a b c d e x y", "a b c d e p q"]) == [(1 / 3, 0, 1)]


def test_grams_are_counted_once_per_text() -> None:
    """A refrain inside one prompt is not a likeness between prompts."""
    counts = words.gram_counts(["a b c d e a b c d e", "a b c d e"])
    assert counts["a b c d e"] == 2
    assert counts["b c d e a"] == 1


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12))
def test_overlap_is_symmetric_and_at_most_one(one: list[str], other: list[str]) -> None:
    """Which text comes first does not matter."""
    there, back = words.overlaps([" ".join(one), " ".join(other)]), words.overlaps([" ".join(other), " ".join(one)])
    assert there == back
    assert all(0 < share <= 1 for share, _, _ in there)


@pytest.mark.parametrize(
    ("text", "n"), [("The ball falls.", 1), ("It is 0.5 m wide", 1), ("It falls. It stops!", 2), ("Stop?! Yes.", 2)]
)
def test_sentences_are_counted_by_their_ends(text: str, n: int) -> None:
    """Decimal points end no sentence."""
    assert words.sentences(text) == n


def test_capitals_inside_a_sentence_are_found() -> None:
    """Sentence starts, quotations and words all in capitals are no names."""
    text = 'The sign says "Open". A man, Karl, waits: He has an LED lamp.'
    assert words.inner_capitals(text) == ("Karl",)
