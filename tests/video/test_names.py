"""Ids are safe, short and unique, name no dimension, and do not depend on the order of files."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pvbench_suite.video.names import natural_key, safe_id, shown, unique_ids

DIMENSION = re.compile(r"(?i)(r|ptq|if|bc)[-_]?\d\d")
LABELS = st.lists(st.tuples(st.text(max_size=120), st.text(max_size=20)), unique_by=lambda pair: pair[1], max_size=8)


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("car22", "car.22"),
        ("R22", "R.22"),
        ("if-01 clause_ptq_06", "if.-01_clause_ptq._06"),
        ("abc12", "abc.12"),
        ("a café, [v1] 'q'\n", "a_cafe_v1_q"),
        ("--help", "help"),
        ("球", ""),
        ("clip4", "clip4"),
    ],
)
def test_a_label_becomes_safe_and_names_no_dimension(label, expected):
    assert safe_id(label) == expected


@given(LABELS)
@example([("R22" * 40, "a"), ("r-" * 40, "b"), ("", "c"), ("é" * 300, "d")])
def test_ids_are_safe_short_unique_and_name_no_dimension(labels):
    ids = unique_ids(labels)
    assert len({text.casefold() for text in ids}) == len(labels)
    for text in ids:
        assert re.fullmatch(r"[A-Za-z0-9_.-]{1,80}", text)
        assert not text.startswith((".", "-"))
        assert not DIMENSION.search(text)


@given(LABELS, st.randoms(use_true_random=False))
def test_ids_do_not_depend_on_the_order(labels, random):
    shuffled = labels[:]
    random.shuffle(shuffled)
    assert dict(zip(shuffled, unique_ids(shuffled), strict=True)) == dict(zip(labels, unique_ids(labels), strict=True))


@given(LABELS)
def test_an_id_made_into_an_id_again_stays(labels):
    """A manifest that was written and read again keeps its ids."""
    ids = unique_ids(labels)
    assert unique_ids([(text, path) for text, (_, path) in zip(ids, labels, strict=True)]) == ids


def test_case_alone_does_not_tell_ids_apart():
    """They may become file names on a disk that ignores case."""
    first, second = unique_ids([("A fantasy", "A fantasy.mp4"), ("a fantasy", "a fantasy.mp4")])
    assert first.casefold() != second.casefold()


def test_ids_of_groups_are_never_given_to_others():
    assert unique_ids([("s001", "x/s001.mp4")], taken=["S001"])[0].startswith("s001-")


def test_numbers_sort_as_numbers():
    names = ["10.png", "9.png", "a2b10", "a2b9", "1.png"]
    assert sorted(names, key=natural_key) == ["1.png", "9.png", "10.png", "a2b9", "a2b10"]


@given(st.lists(st.text(), max_size=6))
def test_the_natural_order_is_an_order_of_any_texts(names):
    backwards = list(reversed(names))
    assert sorted(names, key=natural_key) == sorted(backwards, key=natural_key)


@given(st.text())
def test_what_is_shown_is_one_printable_line(text):
    assert shown(text).isprintable()
