"""Aggregation against numbers worked out by hand."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pvbench_suite.errors import UserError
from pvbench_suite.stats.aggregate import summarize
from pvbench_suite.stats.cells import SCHEMA
from tests.stats.world import JUDGE, REGISTRY, absent, row, run, scores, state


def only(rows):
    """Return the single result of `rows`."""
    (found,) = summarize(rows, REGISTRY).results
    return found


def quarters(dimension, percentile, number=125):
    """Return rows of `number` groups whose mean is `percentile`, a multiple of 25 / `number`."""
    steps = round(percentile * number / 25)
    low, more = divmod(steps, number)
    return scores(dimension, [1 + low + (k < more) for k in range(number)])


def test_scores_become_percentiles():
    """1, 3, 5 have mean 3, which is 50 of 100."""
    assert only(scores("R22", [1, 3, 5])).dimensions["R22"].score == 50.0


def test_by_dimension_and_by_domain_by_hand():
    """GS has two dimensions at 25 and 75, KP one at 100: (25 + 75 + 100) / 3 against (50 + 100) / 2."""
    rows = scores("R01", [2, 2]) + scores("R02", [4, 4]) + scores("R16", [5, 5])
    physical = only(rows).layers["L3"]
    assert physical.by_dimension.score == pytest.approx(200 / 3)
    assert physical.by_domain.score == pytest.approx(75.0)
    assert only(rows).domains["GS"].score == 50.0


def test_the_papers_physical_layer_from_rows():
    """Domain scores 23.8, 28.4, 49.0, 53.2 of 125 clips each give 38.6 by domain, also if GS has two dimensions."""
    rows = quarters("R22", 23.8) + quarters("R10", 28.4) + quarters("R01", 49.0) + quarters("R16", 53.2)
    found = only(rows + quarters("R02", 49.0)).layers["L3"]
    assert found.by_domain.score == pytest.approx((23.8 + 28.4 + 49.0 + 53.2) / 4)
    assert found.by_dimension.score == pytest.approx((23.8 + 28.4 + 2 * 49.0 + 53.2) / 5)


def test_a_dimension_with_many_clips_weighs_as_much_as_one_with_few():
    """Ten clips at 5 and one at 1: equal weight over dimensions gives 50."""
    rows = scores("R21", [5] * 10) + scores("R22", [1])
    assert only(rows).domains["MC"].score == 50.0


def test_worst_case_by_hand():
    """Scores 5 and 3, one missing, one broken, one unmeasurable target, one unmeasurable bystander: (5+3+1+1+1)/5."""
    rows = [row(group="a", score=5), row(group="b", score=3), state("missing_video", group="c")]
    rows += [state("broken_video", group="d"), row(group="e", score=None), row(group="f", score=None, targeted=False)]
    cell = only(rows).dimensions["R22"]
    assert cell.score == 75.0
    assert cell.by_dimension.worst_case == pytest.approx((100 + 50) / 5)
    assert (cell.scored, cell.planned, cell.coverage) == (2, 6, pytest.approx(1 / 3))


def test_a_vanished_dimension_drags_the_worst_case_of_its_domain():
    """R21 at 100, R22 never measurable though targeted: the mean is 100 of one dimension, the worst case 50 of two."""
    rows = [*scores("R21", [5, 5]), row("R22", "a", None), row("R22", "b", None)]
    domain = only(rows).domains["MC"]
    assert (domain.score, domain.by_dimension.worst_case) == (100.0, 50.0)
    assert "partial: 1 of 5" in domain.flags


def test_event_absent_counts_in_the_mean_and_not_in_measured_only():
    """Scores 4 and an absent event: mean (75 + 0) / 2, measured only 75."""
    cell = only([row(group="a", score=4), absent(group="b")]).dimensions["R22"]
    assert (cell.score, cell.by_dimension.measured_only, cell.event_absent) == (37.5, 75.0, 1)


@pytest.mark.parametrize(
    "odd",
    [
        {"value": 0.4, "reason": "event_absent: no_collision"},
        {"value": None, "reason": "event_absent: because I say so"},
        {"value": None, "reason": "the event_absent: no_collision"},
    ],
)
def test_only_the_fixed_reasons_make_an_absent_event(odd):
    """A measured value, a judge's free text or a reason further on in a sentence is no absent event."""
    assert only([row(score=1, **odd)]).dimensions["R22"].event_absent == 0


def test_overall_needs_every_dimension():
    """44 of 45 dimensions are partial; the last one completes T2V, whose IF-10 does not exist."""
    ids = [d.id for d in REGISTRY.dimensions if d.id != "IF-10"]
    rows = [row(i, g, 3) for i in ids for g in ("a", "b")]
    whole = only(rows)
    assert (whole.overall.score, whole.overall.of, whole.overall.flags) == (50.0, 45, ())
    rest = only([r for r in rows if r["dimension"] != "R13"])
    assert rest.overall.score is None
    assert "partial: 44 of 45" in rest.overall.flags
    assert rest.not_planned == ("R13",)
    assert rest.layers["L3"].score == 50.0


def test_i2v_has_46_dimensions():
    """IF-10 counts in I2V only."""
    rows = [row(d.id, "a", 3, modality="i2v") for d in REGISTRY.dimensions]
    assert only(rows).overall.of == 46


@pytest.mark.parametrize("lack", ["not_perceived", "judge_failed", "error", "pending"])
def test_what_is_not_the_videos_fault_makes_a_result_incomplete(lack):
    """Such pairs enter neither the mean nor the worst case, but the flag is there at every level."""
    rows = [*scores("R22", [5, 5]), state(lack, group="z")]
    found = only(rows)
    cell = found.dimensions["R22"]
    assert (cell.score, cell.by_dimension.worst_case, cell.planned) == (100.0, 100.0, 3)
    for level in (cell, found.domains["MC"], found.layers["L3"], found.overall):
        assert level.incomplete
    assert found.incomplete == (f"{lack} 1",)
    assert not found.domains["GS"].incomplete


def test_no_score_is_none_and_never_zero():
    """A dimension with nothing scored has no mean, and says so."""
    cell = only([row(score=None, targeted=False)]).dimensions["R22"]
    assert (cell.score, cell.by_dimension.worst_case, cell.by_dimension.low) == (None, None, None)
    assert "few: 0 scored" in cell.flags


def test_few_scored_pairs_are_flagged():
    """Four are few, five are not."""
    assert "few: 4 scored" in only(scores("R22", [3] * 4)).dimensions["R22"].flags
    assert not only(scores("R22", [3] * 5)).dimensions["R22"].flags


def test_scorers_are_never_averaged():
    """R15 scored by cuts and by a judge has no mean, but a cell of each scorer, with coverage of all planned pairs."""
    rows = [*scores("R15", [5, 5, 5]), row("R15", "x", 1, scorer=JUDGE), row("R15", "y", None)]
    found = only(rows)
    cell = found.dimensions["R15"]
    assert cell.score is None
    assert cell.by_dimension.worst_case is None
    assert {k: (c.score, c.scored, c.planned) for k, c in cell.by_scorer.items()} == {
        "cuts": (100.0, 3, 5),
        JUDGE: (0.0, 1, 5),
    }
    assert any(flag.startswith("mixed scorers: R15") for flag in cell.flags)
    assert any(flag.startswith("mixed scorers: R15") for flag in found.domains["KP"].flags)


def test_one_pair_scored_twice_is_planned_once():
    """The same clip by two scorers is one planned pair."""
    cell = only([row("R15", "a", 5), row("R15", "a", 1, scorer=JUDGE)]).dimensions["R15"]
    assert (cell.planned, cell.scored, cell.score) == (1, 1, None)


def test_thresholds_are_not_mixed_either():
    """Half a run under other cuts is no sample of one scale."""
    cell = only([row("R22", "a", 5), row("R22", "b", 1, thresholds="other")]).dimensions["R22"]
    assert cell.score is None
    assert len(cell.by_scorer) == 2
    assert any(flag.startswith("mixed thresholds") for flag in cell.flags)


def test_an_absent_event_goes_with_any_scorer():
    """No scorer judged it, so it makes no mixture."""
    cell = only([row("R15", "a", 5, scorer=JUDGE), absent("R15", "b")]).dimensions["R15"]
    assert cell.score == 50.0


def test_profiles_and_models_stay_apart():
    """One result for each model, modality and profile."""
    rows = [row(), row(profile="reference", score=5), row(model="other", score=1), row(modality="i2v")]
    found = summarize(rows, REGISTRY).results
    assert [(r.model, r.profile, r.modality) for r in found] == [
        ("other", "embedded", "t2v"),
        ("wan", "embedded", "t2v"),
        ("wan", "embedded", "i2v"),
        ("wan", "reference", "t2v"),
    ]


def test_videos_without_a_group_are_their_own_cluster():
    """Three loose clips are three clusters; three clips of one group are one, without an interval."""
    loose = [row(group=None, score=s, video=f"v{s}") for s in (1, 3, 5)]
    assert only(loose).dimensions["R22"].by_dimension.low is not None
    grouped = [row(group="g", score=s, video=f"v{s}") for s in (1, 3, 5)]
    cell = only(grouped).dimensions["R22"]
    assert (cell.groups, cell.score, cell.by_dimension.low) == (1, 50.0, None)
    assert "no interval: one group" in cell.flags


def test_the_last_row_of_a_pair_wins():
    """As in the journal."""
    assert only([row(score=1), row(score=5)]).dimensions["R22"].score == 100.0


def test_still_clips_are_counted_among_the_scored():
    """One of four consistent clips does not move."""
    rows = scores("PTQ-05", [5, 5, 5, 4])
    for k, found in enumerate(rows):
        found["still"] = k == 0
    assert only(rows).dimensions["PTQ-05"].still_share == 0.25
    assert only(scores("PTQ-05", [5])).dimensions["PTQ-05"].still_share is None


def test_remedies_name_what_lacks_and_how_to_get_it():
    """Reason and message of the pairs, counted."""
    rows = [state("not_perceived", "IF-01", g, reason="no judge", message="give a URL") for g in "ab"]
    assert only(rows).remedies == {"no judge; give a URL": 2}


def test_a_collapsed_judge_is_called_out():
    """31 fives of 32 verdicts are a collapse; 29 equal verdicts are too few to say."""
    assert any(f.startswith("collapse:") for f in only(scores("IF-01", [5] * 31 + [4])).dimensions["IF-01"].flags)
    found = only(scores("IF-01", [5] * 29))
    assert not found.judges[0].collapsed
    assert found.judges[0].entropy == 0.0


def test_entropy_of_a_judge_is_in_bits():
    """Five equally frequent scores have log2 5 bits."""
    assert only(scores("IF-01", [1, 2, 3, 4, 5])).judges[0].entropy == pytest.approx(math.log2(5))


def test_the_difficult_subset_by_hand():
    """Tagged clips at 25, the others at 75: a drop of 50 points, two thirds; R16, on one side only, is left out."""
    rows = [row("R22", f"t{k}", 2, tags=["occlusion"]) for k in range(4)] + [row("R22", f"u{k}", 4) for k in range(4)]
    rows += [row("R16", "t9", 5, tags=["clutter"])]
    physical = next(c for c in only(rows).difficulty if c.key == "L3")
    assert (physical.tagged, physical.untagged, physical.drop, physical.dimensions) == (25.0, 75.0, 50.0, 1)
    assert physical.relative == pytest.approx(200 / 3)
    assert (physical.tagged_scored, physical.tagged_planned) == (5, 5)


@pytest.mark.parametrize(
    ("odd", "message"),
    [
        ({"dimension": "R99"}, "no dimension"),
        ({"state": "fine"}, "unknown state"),
        ({"score": None}, "whole score 1 to 5"),
        ({"score": 6}, "whole score 1 to 5"),
        ({"score": 3.5}, "whole score 1 to 5"),
        ({"score": True}, "whole score 1 to 5"),
        ({"modality": "v2v"}, "modality"),
    ],
)
def test_a_row_that_cannot_be_counted_is_refused(odd, message):
    """Nothing is silently dropped or guessed."""
    with pytest.raises(UserError, match=message):
        summarize([{**row(), **odd}], REGISTRY)


def test_json_is_strict_and_versioned():
    """The summary of a run with every state is plain JSON without NaN."""
    content = summarize(run(groups=4) + run(modality="i2v", groups=4), REGISTRY).to_json()
    assert content["schema"] == SCHEMA
    assert json.loads(json.dumps(content, allow_nan=False)) == content


SMALL = st.lists(
    st.tuples(
        st.sampled_from(["R21", "R22", "R16", "PTQ-01"]),
        st.sampled_from("abcde"),
        st.sampled_from(["scored", "absent", "unmeasurable", "missing_video", "error", "not_perceived"]),
        st.integers(1, 5),
        st.booleans(),
    ),
    min_size=1,
    max_size=20,
    unique_by=lambda t: t[:2],
)


def _rows(parts):
    made = []
    for dimension, group, kind, score, targeted in parts:
        if kind == "scored":
            made.append(row(dimension, group, score, targeted=targeted))
        elif kind == "absent":
            made.append(absent(dimension, group, targeted=targeted))
        else:
            made.append(state(kind, dimension, group, targeted=targeted))
    return made


@given(SMALL, st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_the_order_of_rows_does_not_matter(parts, random):
    """Shuffled rows give the same JSON, byte for byte."""
    rows = _rows(parts)
    shuffled = list(rows)
    random.shuffle(shuffled)
    first, second = (json.dumps(summarize(r, REGISTRY).to_json(), sort_keys=True) for r in (rows, shuffled))
    assert first == second


@given(SMALL)
@settings(max_examples=15, deadline=None)
def test_worst_case_is_no_better_and_measured_only_no_worse(parts):
    """At every level worst case <= mean <= measured only, states add up to planned, and coverage is their share."""
    found = only(_rows(parts))
    for cell in (*found.dimensions.values(), *found.domains.values(), *found.layers.values()):
        mean = cell.by_dimension
        assert sum(cell.states.values()) == cell.planned
        assert cell.coverage == (cell.scored / cell.planned if cell.planned else None)
        if mean.score is not None:
            assert mean.worst_case <= mean.score + 1e-9
            if mean.measured_only is not None:
                assert mean.measured_only >= mean.score - 1e-9
