"""The statistics of a row, against their definitions and against SciPy."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pvbench_suite.calibrate.summary import auc, floor, smallest, spearman, summarise
from tests.physics.bodies import few

CUTS = (1.0, 2.0, 3.0, 4.0)


@few
@given(st.lists(st.integers(0, 5), min_size=2, max_size=9), st.lists(st.integers(0, 5), min_size=2, max_size=9))
def test_auc_is_the_share_of_pairs_in_the_right_order(a: list[int], b: list[int]) -> None:
    """Counting pairs by hand gives the same, and the other direction the rest."""
    lawful, violating = np.array(a, dtype=float), np.array(b, dtype=float)
    pairs = np.sign(violating[:, None] - lawful[None, :]) / 2 + 0.5
    assert auc(lawful, violating, "smaller") == pytest.approx(pairs.mean())
    assert auc(lawful, violating, "larger") == pytest.approx(1 - pairs.mean())


def test_spearman_is_that_of_scipy_and_missing_without_spread() -> None:
    """Ties take mean ranks; a constant has no correlation."""
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 4, 40).astype(float), rng.integers(0, 6, 40).astype(float)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic)
    assert np.isnan(spearman(x, np.zeros(40)))


def test_the_smallest_dose_is_the_first_whose_fifth_percentile_clears_the_floor() -> None:
    """A later dose that fails does not undo it; none at all gives the number of doses."""
    lawful = np.linspace(0.0, 1.0, 21)
    assert floor(lawful, "smaller") == pytest.approx(0.95)
    assert floor(lawful, "larger") == pytest.approx(0.05)
    over, under = np.full(10, 2.0), np.full(10, -1.0)
    assert smallest([lawful, under, over, under], "smaller") == 2
    assert smallest([lawful, over, under], "larger") == 2
    assert smallest([lawful, under], "smaller") == 2


def test_a_summary_is_honest_about_what_could_not_be_measured() -> None:
    """Reasons are counted over all runs; a dose without a value has none; everything is JSON without NaN."""
    runs = [[0.1, 0.2, "no_motion"], [3.5, 4.5, 3.6], ["too_noisy"] * 3]
    found = summarise((0.0, 1.0, 2.0), runs, CUTS, "smaller", 0)
    assert found["unmeasurable"] == {"too_noisy": 3, "no_motion": 1}
    assert found["doses"][1]["value"] == 3.6
    assert found["doses"][1]["score"] == 2
    assert found["doses"][2]["value"] is None
    assert found["smallest_dose"] == 1.0
    assert found["auc"] == 1.0
    assert found["lawful_share_at_5"] == 1.0
    assert found["runs"] == 9
    json.dumps(found, allow_nan=False)
    nothing = summarise((0.0, 1.0), [["all_nan"] * 3, [2.0]], CUTS, "smaller", 0)
    assert nothing["floor"] is None
    assert nothing["interval"] == {}


def test_intervals_hold_the_number_shrink_with_runs_and_depend_on_the_seed_alone() -> None:
    """The bootstrap is over runs, dose by dose."""
    rng = np.random.default_rng(1)

    def made(n: int) -> dict[str, object]:
        runs = [list(rng.normal(d, 1.0, n)) for d in (0.0, 1.0, 3.0)]
        return summarise((0.0, 1.0, 3.0), runs, CUTS, "smaller", 5)

    few_runs, many = made(10), made(400)
    for found in (few_runs, many):
        for name in ("floor", "auc", "spearman", "lawful_share_at_5"):
            low, high = found["interval"][name]  # type: ignore[index]
            assert low <= found[name] <= high  # type: ignore[operator]

    def width(found: dict[str, object]) -> float:
        low, high = found["interval"]["auc"]  # type: ignore[index]
        return float(high - low)

    assert width(many) < 0.5 * width(few_runs)
    runs = [[0.1, 0.5, 0.3], [2.0, 0.2, 1.0]]
    assert summarise((0, 1), runs, CUTS, "smaller", 5) == summarise((0, 1), runs, CUTS, "smaller", 5)
