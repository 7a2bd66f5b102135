"""Text and CSV: what comes from outside cannot act."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.tables import COLUMNS, cell, csv_text
from reports.text import clean, markdown, number, percent, share, signed, span, table
from tests.stats.world import row


@given(st.text())
def test_clean_text_is_one_printable_line(text):
    """No control, direction or line break character survives, and the length is bounded."""
    found = clean(text, 50)
    assert len(found) <= 50
    assert found.isprintable()


def test_terminal_escapes_and_direction_marks_are_shown_not_obeyed():
    """An escape sequence, a right-to-left override, and a line break."""
    assert clean("a\x1b[2Jb\u202ec\nd") == "a?[2Jb?c d"


@pytest.mark.parametrize(
    "hostile", ["<script>", "a|b", "`x`", "[x](http://e.example)", "![i](u)", "*b*", "@all", "# h"]
)
def test_markdown_is_inert(hostile):
    """No tag, column break, code, link, image, emphasis, mention or heading is left unescaped."""
    found = markdown(hostile)
    assert "<" not in found
    assert "@" not in found
    for sign in "|`[]*()!#":
        # The mention is written as a character reference, which has a sharp of its own.
        assert found.replace("&#64;", "").count(sign) == found.count(f"\\{sign}")


def test_a_table_keeps_its_columns():
    """Cells with bars do not add columns."""
    lines = table(["a", "b"], [[markdown("x|y"), "1"]])
    assert lines == ["| a | b |", "| :-- | --: |", "| x\\|y | 1 |"]


def test_numbers_that_do_not_exist_are_a_dash():
    """None and anything not finite, never 0 or nan."""
    assert [number(v) for v in (None, float("nan"), float("inf"))] == ["-", "-", "-"]
    assert (signed(None), span(None, 1.0), share(0, 0), percent(None)) == ("-", "-", "-", "-")


def test_numbers():
    """Rounded, signed only where there is a direction; 100 % only for all."""
    assert (number(38.549), number(-0.04), signed(0.04), signed(2.0), signed(-2.0)) == (
        "38.5",
        "0.0",
        "0.0",
        "+2.0",
        "-2.0",
    )
    assert (span(1, 2.25), share(3, 4)) == ("[1.0, 2.2]", "3/4")
    assert [percent(v) for v in (0.0, 0.001, 0.5, 0.999, 1.0)] == ["0 %", "1 %", "50 %", "99 %", "100 %"]


@pytest.mark.parametrize(
    "formula", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "\uff1d1", "\x00=1"]
)
def test_no_text_is_a_formula(formula):
    """A spreadsheet sees text, because of the apostrophe in front."""
    assert cell(formula).startswith("'")


def test_numbers_stay_numbers():
    """A negative number is no formula; None and what is not finite are blank."""
    assert (cell(-0.5), cell(3), cell(None), cell(float("nan")), cell(True)) == (-0.5, 3, "", "", "true")


def test_csv_has_every_key_and_survives_reading():
    """Known columns first, then the others; lists as JSON; commas, quotes and line breaks come back."""
    reason = 'it said "no", then\nleft'
    text = csv_text([row(reason=reason, still=True), row("R16", "g2", None, tags=["occlusion", "clutter"])])
    head, first, second = csv.reader(io.StringIO(text))
    assert head[: len(COLUMNS)] == list(COLUMNS)
    assert set(head) == set(row()) | {"still"}
    found = [dict(zip(head, line, strict=True)) for line in (first, second)]
    assert (found[0]["reason"], found[0]["still"], found[0]["score"]) == (reason, "true", "3")
    assert (found[1]["tags"], found[1]["score"], found[1]["value"]) == ('["occlusion", "clutter"]', "", "")
