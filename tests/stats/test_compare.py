"""Comparisons: paired by hand, refused where unlike, undecided where they should be."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pvbench_suite.errors import UserError
from pvbench_suite.stats.aggregate import summarize
from pvbench_suite.stats.compare import compare
from pvbench_suite.stats.ranking import leaderboard
from tests.stats.world import JUDGE, REGISTRY, row, scores, state


def two(first, second, **more):
    """Return the one comparison of models a and b."""
    sides = [[{**r, "model": name} for r in rows] for name, rows in (("a", first), ("b", second))]
    (found,) = compare(*sides, REGISTRY, **more)
    return found


def test_paired_difference_by_hand():
    """Scores (1, 2, 3, 4) and (2, 3, 4, 5): every pair gains one step, 25 points."""
    found = two(scores("R22", [1, 2, 3, 4]), scores("R22", [2, 3, 4, 5])).cells["R22"]
    assert (found.difference, found.pairs, found.groups) == (25.0, 4, 4)


def test_only_shared_scored_pairs_count():
    """Gained a step on s001, unmeasurable on s002, where the first was at its best: the paired difference is 25."""
    first = scores("R22", [1, 5, 2])
    second = [row("R22", "s001", 2), row("R22", "s002", None), row("R22", "s003", 3)]
    found = two(first, second).cells["R22"]
    assert (found.difference, found.pairs) == (25.0, 2)
    assert found.worst_case == pytest.approx((25 + 0 + 50) / 3 - (0 + 100 + 25) / 3)


def test_vanishing_on_hard_clips_does_not_win():
    """Better on what is left, worse in the worst case: signs differ, so nothing is decided."""
    first = scores("R22", [2] * 10 + [3] * 10)
    second = scores("R22", [3] * 10) + [row("R22", f"s{k:03d}", None) for k in range(11, 21)]
    found = two(first, second).cells["R22"]
    assert (found.difference, found.verdict) == (25.0, "not decided")
    assert found.worst_case < 0
    assert "differ in sign" in found.why


def test_a_gain_that_the_worst_case_does_not_share_is_not_decided():
    """One step better on half of the clips, the other half lost: the worst cases are equal, 25 and 25."""
    second = [*scores("R22", [3] * 8), *(row("R22", f"s{k:03d}", None) for k in range(9, 17))]
    found = two(scores("R22", [2] * 16), second).cells["R22"]
    assert (found.difference, found.worst_case, found.verdict) == (25.0, 0.0, "not decided")


def test_a_dimension_that_one_side_lost_counts_in_the_worst_case():
    """R21 has no shared pair and leaves the paired difference, but not the worst case of the domain."""
    first = scores("R22", [2] * 8) + scores("R21", [5] * 8)
    second = scores("R22", [3] * 8) + [row("R21", f"s{k + 1:03d}", None) for k in range(8)]
    found = two(first, second).cells["MC"]
    assert (found.difference, found.evaluated, found.of) == (25.0, 1, 5)
    assert found.worst_case == pytest.approx((50 + 0) / 2 - (25 + 100) / 2)
    assert found.verdict == "not decided"


def test_dimensions_weigh_alike():
    """R21 gains 100 points on one pair, R22 nothing on nine: the domain gains 50."""
    first = scores("R21", [1]) + scores("R22", [3] * 9)
    second = scores("R21", [5]) + scores("R22", [3] * 9)
    assert two(first, second).cells["MC"].difference == 50.0


def test_a_clear_gain_is_decided():
    """Twenty pairs that all gain: higher, and the mirror says lower."""
    low, high = scores("R22", [1, 2] * 10), scores("R22", [3, 3] * 10)
    assert two(low, high).cells["R22"].verdict == "higher"
    assert two(high, low).cells["R22"].verdict == "lower"


def test_noise_is_not_decided():
    """Gains and losses that balance leave an interval around 0."""
    found = two(scores("R22", [3] * 20), scores("R22", [2, 4] * 9 + [4, 4])).cells["R22"]
    assert found.verdict == "not decided"
    assert found.low < 0 < found.high


def test_incomplete_sides_are_not_decided():
    """An error on one side of a dimension that enters could hide its hard clips."""
    second = [*scores("R22", [5] * 20), state("error", group="z")]
    found = two(scores("R22", [1] * 20), second).cells["R22"]
    assert (found.verdict, found.difference) == ("not decided", 100.0)
    assert "b has error 1" in found.why


def test_overall_needs_every_dimension():
    """One shared dimension is no overall comparison."""
    found = two(scores("R22", [1] * 9), scores("R22", [5] * 9)).cells["overall"]
    assert (found.difference, found.verdict) == (None, "not decided")
    assert "partial: 1 of 45" in found.why


def test_common_seeds_are_paired_and_other_seeds_left_out():
    """The first has seeds 0 and 1, the second only seed 1: that one is the pair."""
    first = [row("R22", "g", 1, seed=0, video="g.s0"), row("R22", "g", 3, seed=1, video="g.s1")]
    assert two(first, [row("R22", "g", 5, seed=1, video="g.s1")]).cells["R22"].difference == 50.0


def test_without_common_seeds_the_means_are_paired():
    """Seeds 0 and 1 of a against seed 7 of b: mean 2 against 5."""
    first = [row("R22", "g", 1, seed=0, video="g.s0"), row("R22", "g", 3, seed=1, video="g.s1")]
    assert two(first, [row("R22", "g", 5, seed=7, video="g.s7")]).cells["R22"].difference == 75.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scorer": JUDGE}, "scorer of a: cuts; of b"),
        ({"thresholds": "other"}, "thresholds of a"),
        ({"providers": {"bodies": "sam3@2"}}, "bodies provider of a: classic@1; of b: sam3@2"),
        ({"profile": "reference"}, "profile embedded, b with reference"),
        ({"modality": "i2v"}, "share no modality"),
    ],
)
def test_unlike_is_refused_with_the_reason(change, message):
    """The error says what differs."""
    second = [{**r, **change} for r in scores("R15", [3] * 3)]
    with pytest.raises(UserError, match=message):
        two(scores("R15", [3] * 3), second)


def test_the_rest_can_be_compared_without_the_unlike_dimension():
    """R15 differs in its scorer; R22 does not."""
    first = scores("R15", [3]) + scores("R22", [1, 1])
    second = [{**r, "scorer": JUDGE} for r in scores("R15", [3])] + scores("R22", [2, 2])
    assert two(first, second, dimensions=["R22"]).cells["R22"].difference == 25.0


def test_a_product_that_only_one_side_used_is_no_contradiction():
    """Optional evidence may be missing on one side."""
    second = [{**r, "providers": {"bodies": "classic@1", "depth": "da3@1"}} for r in scores("R22", [4])]
    assert two(scores("R22", [3]), second).cells["R22"].difference == 25.0


def test_one_model_a_side():
    """Rows of two models on one side are an error, not a mean."""
    with pytest.raises(UserError, match="one model"):
        compare([row(model="a"), row(model="b")], [row(model="c")], REGISTRY)


SCORES = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=15)


@given(SCORES)
@settings(max_examples=20, deadline=None)
def test_swapping_the_sides_swaps_the_sign(pairs):
    """Difference and worst case change sign, and the verdict its direction."""
    sides = [scores("R22", [p[k] for p in pairs]) for k in (0, 1)]
    forth, back = (two(*s).cells["R22"] for s in (sides, sides[::-1]))
    assert forth.difference == pytest.approx(-back.difference)
    assert forth.worst_case == pytest.approx(-back.worst_case)
    # On complete sides the paired difference is the difference of means.
    assert forth.difference == pytest.approx(25 * sum(b - a for a, b in pairs) / len(pairs))


def test_the_modality_gap_is_i2v_minus_t2v():
    """The same groups, one step better in I2V; IF-10 has no T2V side and leaves both."""
    rows = scores("R22", [2] * 6) + scores("R22", [3] * 6, modality="i2v") + scores("IF-10", [5] * 6, modality="i2v")
    (gap,) = summarize(rows, REGISTRY).gaps
    assert gap.cells["R22"].difference == 25.0
    assert "IF-10" not in gap.cells
    assert gap.cells["overall"].of == 45


def test_a_gap_between_unlike_scorers_says_why():
    """No cells, and the reason as a note."""
    rows = scores("R15", [2]) + [{**r, "scorer": JUDGE} for r in scores("R15", [2], modality="i2v")]
    (gap,) = summarize(rows, REGISTRY).gaps
    assert gap.cells == {}
    assert "scorer" in gap.notes[0]


def board(rows, key="R22"):
    """Return the T2V board of one key."""
    (found,) = leaderboard(rows, REGISTRY, (key,))
    return found


def test_the_leaderboard_orders_by_the_full_mean():
    """The best on its own clips is first; nobody is cut down to the clips that all share."""
    rows = scores("R22", [3] * 6, model="a") + scores("R22", [5] * 8, model="b") + scores("R22", [1] * 4, model="c")
    (table,) = board(rows).tables
    assert [(e.rank, e.model, e.cell.score) for e in table.entries] == [(1, "b", 100.0), (2, "a", 50.0), (3, "c", 0.0)]
    assert table.entries[0].ahead.difference == 50.0
    assert table.entries[-1].ahead is None


def test_equal_means_share_a_rank():
    """Two at 50 are both first, the next is third."""
    rows = [r for m, s in (("a", 3), ("b", 3), ("c", 2)) for r in scores("R22", [s] * 6, model=m)]
    assert [e.rank for e in board(rows).tables[0].entries] == [1, 1, 3]


def test_the_incomplete_stand_below_with_the_reason():
    """However good its mean, a result with errors has no rank."""
    rows = [
        *scores("R22", [1] * 6, model="a"),
        *scores("R22", [5] * 6, model="b"),
        state("error", model="b", group="z"),
    ]
    found = board(rows)
    assert [e.model for e in found.tables[0].entries] == ["a"]
    assert [(u.model, u.reason) for u in found.unranked] == [("b", "incomplete: error 1")]


def test_partial_layers_have_no_rank():
    """A layer with 1 of 25 dimensions is not ranked against whole ones."""
    assert board(scores("R22", [5] * 6), "L3").unranked[0].reason == "partial: 1 of 25"


def test_different_judges_stand_in_different_tables():
    """Never ranked together."""
    rows = scores("IF-01", [5] * 6, model="a") + scores("IF-01", [4] * 6, model="b", scorer="another judge")
    assert [[e.model for e in t.entries] for t in board(rows, "IF-01").tables] == [["b"], ["a"]]


def test_profiles_stand_in_different_boards():
    """One board for each profile."""
    rows = scores("R22", [5] * 6) + scores("R22", [5] * 6, profile="reference")
    assert [b.profile for b in leaderboard(rows, REGISTRY, ("R22",))] == ["embedded", "reference"]
