"""Quantity -> score -> percentile, as the paper fixes it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.scoring import grade, percentile

CUTS = (0.1, 0.2, 0.35, 0.6)


@pytest.mark.parametrize(("value", "score"), [(0.0, 5), (0.1, 4), (0.19, 4), (0.2, 3), (0.35, 2), (0.6, 1), (9.0, 1)])
def test_smaller_is_better_strictly_below_each_cut(value: float, score: int) -> None:
    """A value on a cut gets the lower score."""
    assert grade(value, CUTS, "smaller") == score


@pytest.mark.parametrize(("value", "score"), [(1.0, 5), (0.95, 4), (0.85, 3), (0.75, 2), (0.6, 1), (0.0, 1)])
def test_larger_is_better_strictly_above_each_cut(value: float, score: int) -> None:
    """The same for larger-better cuts."""
    assert grade(value, (0.95, 0.85, 0.75, 0.60), "larger") == score


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_has_no_score(value: float) -> None:
    """NaN never becomes a 1."""
    with pytest.raises(ValueError, match="cannot grade"):
        grade(value, CUTS, "smaller")


@given(st.floats(0, 2), st.floats(0, 2))
def test_a_worse_value_never_scores_better(a: float, b: float) -> None:
    """The map is monotone."""
    small, large = sorted((a, b))
    assert grade(small, CUTS, "smaller") >= grade(large, CUTS, "smaller")


def test_the_percentile_scale_runs_from_1_to_5() -> None:
    """(mean - 1) / 4 * 100: the paper's 38.5 is a mean score of 2.54."""
    assert percentile(2.54) == pytest.approx(38.5)
