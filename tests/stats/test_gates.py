"""Gates: the truth table, names, and what is never a pass."""

from __future__ import annotations

import pytest

from pvbench_suite.errors import UserError
from pvbench_suite.stats.aggregate import summarize
from pvbench_suite.stats.gates import Gate, evaluate, parse
from tests.stats.world import JUDGE, REGISTRY, row, scores, state


def outcome(gate, rows):
    """Return what one gate says of the single result of `rows`."""
    (found,) = evaluate(parse(gate, REGISTRY), summarize(rows, REGISTRY))
    return found


@pytest.mark.parametrize(
    ("gate", "expected"),
    [
        ("R22>=50", "passed"),
        ("R22>50", "failed"),
        ("R22>49.9", "passed"),
        ("R22>=50.1", "failed"),
        ("MC>=50", "passed"),
        ("L3>=50", "passed"),
        ("physical>50", "failed"),
        ("perceptual>=1", "not decidable"),
        ("semantic>=0", "not decidable"),
        ("overall>=0", "not decidable"),
        ("R21>=0", "not decidable"),
        ("IF-10>=0", "not decidable"),
    ],
)
def test_truth_table(gate, expected):
    """R22 is at exactly 50 and nothing else is scored: `>=` and `>` differ, and no score decides nothing."""
    found = outcome(gate, scores("R22", [3] * 8))
    assert (found.outcome, found.passed) == (expected, expected == "passed")


@pytest.mark.parametrize("lack", ["not_perceived", "judge_failed", "error", "pending"])
@pytest.mark.parametrize("gate", ["R22>=0", "MC>=0", "physical>=0"])
def test_incomplete_results_never_pass(lack, gate):
    """Even a demand of 0 is not met by a result with such pairs; they are counted apart."""
    found = outcome(gate, [*scores("R22", [5] * 8), state(lack, group="z")])
    assert found.outcome == "not decidable"
    assert found.lacking == {lack: 1}
    assert f"incomplete: {lack} 1" in found.line


def test_an_incomplete_dimension_elsewhere_does_not_matter():
    """A gate looks at its own cell only."""
    assert outcome("MC>=50", [*scores("R22", [5] * 8), state("error", "R01")]).passed


def test_mixed_scorers_never_pass():
    """Also at the level above, where the dimension is left out of the mean."""
    rows = [*scores("R15", [5] * 5), row("R15", "x", 5, scorer=JUDGE), *scores("R16", [5] * 5)]
    assert [outcome(g, rows).outcome for g in ("R15>=0", "KP>=0")] == ["not decidable", "not decidable"]


def test_a_partial_domain_passes_but_says_so():
    """What could not be measured is the video's doing; the line tells how much the mean is made of."""
    assert "partial: 1 of 5 dimensions" in outcome("MC>=50", scores("R22", [5] * 8)).line


def test_the_worst_case_can_be_demanded():
    """A clip that became unmeasurable lifts the mean but not the worst case."""
    rows = [*scores("R22", [5] * 4), *(row("R22", f"x{k}", None) for k in range(4))]
    assert outcome("R22>=60", rows).passed
    found = outcome("R22.worst_case>=60", rows)
    assert (found.outcome, found.score) == ("failed", 50.0)


def test_the_line_says_what_the_sample_could_show():
    """One line with the score and the smallest difference."""
    found = outcome("R22>=40", scores("R22", [2, 3, 4, 3, 2, 4, 3, 3]))
    assert "\n" not in found.line
    assert f"smallest difference this sample could show: {found.detectable:.1f}" in found.line
    assert "not known" in outcome("R22>=40", [row()]).line


def test_a_hostile_model_name_cannot_move_the_cursor():
    """Names may come from a manifest."""
    assert "\x1b" not in outcome("R22>=40", [row(model="a\x1b[2J\nb")]).line


def test_several_gates_in_any_spelling():
    """Commas, semicolons, blanks, several texts; ids, slugs, folders and names in any case."""
    texts = ["mc>=20, Overall >= 40;r22>35", "PHYSICAL>=10 if01>=1 momentum>2 geometric_space>=3"]
    assert [str(g) for g in parse(texts, REGISTRY)] == [
        "MC>=20", "overall>=40", "R22>35", "L3>=10", "IF-01>=1", "R22>2", "GS>=3",
    ]  # fmt: skip
    assert parse("", REGISTRY) == ()
    assert parse("L3>12.5", REGISTRY) == (Gate("L3", ">", 12.5),)


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        ("R2>=20", "the nearest are .*R2"),
        ("mechanics>=20", "mechanical_conservation"),
        ("MC<20", "NAME>=NUMBER"),
        ("MC==20", "NAME>=NUMBER"),
        ("MC=>20", "NAME>=NUMBER"),
        ("MC>=", "NAME>=NUMBER"),
        ("MC>=nan", "NAME>=NUMBER"),
        ("MC>=-5", "NAME>=NUMBER"),
        ("MC>=1e1", "NAME>=NUMBER"),
        ("MC>=101", "0 to 100"),
        (">=20", "NAME>=NUMBER"),
    ],
)
def test_a_wrong_gate_is_one_clear_error(gate, message):
    """A typo must not become a gate that always passes."""
    with pytest.raises(UserError, match=message):
        parse(gate, REGISTRY)
