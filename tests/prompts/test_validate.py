"""Each rule is content with a good suite, and says what is wrong and what to do about a broken copy."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from pvbench_suite.prompts.loader import load
from pvbench_suite.prompts.rules import counts, structure, targets, text
from pvbench_suite.prompts.rules.finding import Finding
from pvbench_suite.prompts.schema import EVENTS, Group
from pvbench_suite.prompts.validate import RULES, validate

from .good import BALL, LADLE, PUCKS, STATUE, changed, groups

PROMPT = PUCKS["prompt"]


def with_events(data: dict[str, Any], *events: tuple[str, list[str]]) -> dict[str, Any]:
    """Return a copy of `data` that demands these events."""
    return changed(data, expect__events=[{"event": name, "objects": objects} for name, objects in events])


def objects_changed(data: dict[str, Any], **keys: Any) -> list[dict[str, Any]]:
    """Return the objects of `data` with keys added to the first."""
    first, *rest = data["objects"]
    return [first | keys, *rest]


def copies(data: dict[str, Any], ids: list[str], **changes: Any) -> list[dict[str, Any]]:
    """Return one copy of `data` per id."""
    return [changed(data, id=i, **changes) for i in ids]


BROKEN: list[tuple[Callable[..., Any], list[dict[str, Any]], str]] = [
    (counts.part_totals, copies(PUCKS, [f"s{i:03d}" for i in range(1, 300)]), r"singles, \d+ more than 230; take some"),
    (counts.unique_ids, [changed(PUCKS, id="S206")], r"S206: the id equals 's206' but for case"),
    (counts.ids_of_part, [changed(PUCKS, id="s231")], r"s231: ids of part single are s001 to s230"),
    (counts.ids_of_part, [changed(PUCKS, id="puck")], r"puck: ids of part single are s001 to s230"),
    (counts.target_of_id, [changed(PUCKS, id="s212", dimensions=["R23"])], r"targets R23, but s212 is a place of R22"),
    (counts.target_of_id, [changed(LADLE, dimensions=["IF-03"])], r"h011 is a place of IF-03 \+ IF-09"),
    (counts.target_of_id, [changed(STATUE, dimensions=["R05"])], r"x001: has 1 targets; a supplement group has 2 to 4"),
    (
        counts.targets_per_dimension,
        copies(PUCKS, [f"s{i:03d}" for i in range(1, 231)]) + copies(LADLE, [f"h{i:03d}" for i in range(1, 231)]),
        r"IF-01 is a target of 0 groups, fewer than 15; add some",
    ),
    (
        counts.embodied_total,
        copies(PUCKS, [f"s{i:03d}" for i in range(1, 231)], tags=["embodied"]),
        r"230 singles are embodied, more than 55",
    ),
    (
        counts.embodied_total,
        copies(PUCKS, [f"s{i:03d}" for i in range(1, 201)]),
        r"0 singles are embodied and 28 are to come, but 55 are needed; put agents in",
    ),
    (structure.complete, [changed(PUCKS, dimensions=[])], r"s211: dimensions is empty; name the targets"),
    (structure.complete, [changed(PUCKS, first_frame="Two pucks.")], r"s211: first_frame has fewer than 15 words"),
    (structure.complete, [changed(PUCKS, expect={})], r's211: expect.camera is not stated; write "still"'),
    (structure.complete, [changed(PUCKS, expect={}, objects=[])], r"s211: objects is empty"),
    (structure.judge_notes, [changed(LADLE, judge_notes={})], r"h011: judge_notes lacks IF-03; say in one sentence"),
    (structure.judge_notes, [changed(PUCKS, judge_notes={"R15": "Both stay."})], r"R15, which is no target; drop it"),
    (
        structure.judge_notes,
        [changed(LADLE, judge_notes=LADLE["judge_notes"] | {"IF-03": "The soup is green. The bowl is white."})],
        r"judge_notes.IF-03 is not one sentence of at most 60 words",
    ),
    (structure.tags_hold, [changed(STATUE, tags=[])], r"x001: a supplement group needs a tag"),
    (structure.tags_hold, [changed(STATUE, tags=["occlusion"])], r"camera is orbit, so tag it camera_motion"),
    (
        structure.tags_hold,
        [changed(PUCKS, tags=["camera_motion"])],
        r"tagged camera_motion, but expect.camera is still",
    ),
    (
        structure.tags_hold,
        [changed(PUCKS, tags=["occlusion"])],
        r"tagged occlusion, but expect.events has no occlusion",
    ),
    (structure.tags_hold, [changed(PUCKS, tags=["embodied"])], r"s211: is tagged embodied, but no person, robot"),
    (
        structure.camera_and_light,
        [changed(PUCKS, expect__camera="pan")],
        r"camera is pan, but events has no camera_move",
    ),
    (structure.camera_and_light, [changed(STATUE, expect__camera="still")], r"is still, but events has a camera_move"),
    (
        structure.camera_and_light,
        [changed(PUCKS, expect__light="moves")],
        r"light is moves, but events has no light_move",
    ),
    (structure.camera_and_light, [changed(PUCKS, expect__camera="pan")], r"the group is not about camera motion"),
    (structure.events_fit, [with_events(PUCKS, ("collision", ["puck_1"]))], r"collision needs 2 object\(s\), has 1"),
    (structure.events_fit, [with_events(BALL, ("rotation", ["ball"]))], r"rotation of ball: a sphere cannot be seen"),
    (structure.events_fit, [with_events(BALL, ("deformation", ["ball"]))], r"of ball: a rigid body does not deform"),
    (structure.events_fit, [with_events(BALL, ("fall", ["floor"]))], r"fall of floor: a fixed body has no fall"),
    (
        structure.expect_consistent,
        [changed(BALL, expect__depth_order=[["ball", "floor"], ["floor", "ball"]])],
        r"s206: depth_order runs in a circle \((ball|floor) < ",
    ),
    (structure.expect_consistent, [changed(BALL, expect__free_flight=["floor"])], r"floor, which is fixed; drop one"),
    (
        structure.expect_consistent,
        [changed(BALL, expect__driven=[{"object": "ball", "until": "always"}])],
        r"free_flight of ball, which is always driven",
    ),
    (
        structure.expect_consistent,
        [changed(PUCKS, prompt=PROMPT + " All in slow motion.")],
        r"says 'slow motion', but real_time is true; set it to false",
    ),
    (
        structure.expect_consistent,
        [changed(PUCKS, prompt=PROMPT + " The pucks are weightless.")],
        r"says 'weightless', but g_scale is 1",
    ),
    (
        targets.target_data,
        [changed(PUCKS, expect__contacts=[])],
        r"s211: targets R22, but no collision event whose two",
    ),
    (
        targets.half_scaled,
        [changed(BALL, objects=objects_changed(BALL, size_m=None))],
        r"0 of 1 R21 groups state size_m in flight; at least half must",
    ),
    (
        targets.half_scaled,
        [
            changed(PUCKS, objects=objects_changed(PUCKS, mass=None), prompt=PROMPT.replace("identical ", "")),
            changed(PUCKS, id="s212", objects=objects_changed(PUCKS, mass=None), prompt="Pucks."),
            changed(PUCKS, id="s213"),
        ],
        r"1 of 3 R22 groups state masses or say equal; at least half must",
    ),
    (text.length, [changed(PUCKS, prompt="Two pucks meet.")], r"the prompt has 3 words, not 40 to 120; say more"),
    (text.length, [changed(PUCKS, prompt=PROMPT * 3)], r"words, not 40 to 120; shorten it"),
    (text.english, [changed(PUCKS, prompt=PROMPT + " Две шайбы.")], r"the prompt holds 'Д' \(U\+0414\); write plain"),
    (text.english, [changed(PUCKS, prompt="puck ice puck rink " * 12)], r"hardly any English function words"),
    (text.no_names, [changed(PUCKS, prompt=PROMPT + " A Lego figure watches.")], r"s211: prompt holds the name 'Lego'"),
    (text.no_names, [changed(PUCKS, first_frame="There John waits.")], r"s211: first_frame holds the name 'John'"),
    (
        text.filmable,
        [changed(PUCKS, prompt=PROMPT + " A wizard helps.")],
        r"the prompt says 'wizard'; ask for what a real",
    ),
    (
        text.observable,
        [changed(PUCKS, prompt="Two equal pucks slide over clear ice, meet, and part again.")],
        r"s211: the prompt does not mention camera, view or frame",
    ),
    (
        text.nouns_in_prompt,
        [changed(PUCKS, objects=objects_changed(PUCKS, noun="red puck"))],
        r"s211: noun 'red puck' of puck_1 is not in the prompt; use the prompt's own words",
    ),
    (text.overlap, [changed(PUCKS, id="s212")], r"s212: shares 100% of its 5-grams with s211, more than 35%"),
    (
        text.common_grams,
        copies(PUCKS, [f"s{i:03d}" for i in range(1, 32)]),
        r"'[\w ]+' stands in 32 prompts, more than 30; vary the wording",
    ),
]


def test_the_good_suite_has_no_errors() -> None:
    """The base of all broken copies is good, so each copy breaks what it says."""
    assert [str(finding) for finding in validate(groups()).errors] == []


def test_an_incomplete_suite_says_so_in_notes() -> None:
    """Missing parts are told, not held against the groups that are there."""
    notes = [str(finding) for finding in validate(groups()).notes]
    assert "note: suite: incomplete: 1 of 230 hybrids [part_totals]" in notes
    assert validate(()).notes[0].message == "incomplete: 0 of 230 singles"


@pytest.mark.parametrize(("rule", "broken", "message"), BROKEN)
def test_a_broken_copy_is_told(rule: Callable[..., Any], broken: list[dict[str, Any]], message: str) -> None:
    """The rule's finding names the group, the fault and the remedy."""
    found = list(rule(groups(*broken)))
    hits = [finding for finding in found if re.search(message, str(finding))]
    assert hits, [str(finding) for finding in found][:5]
    assert {(finding.rule, finding.level) for finding in hits} == {(rule.__name__, "error")}


def test_every_rule_has_a_broken_copy() -> None:
    """No rule is untested."""
    assert {rule for rule, _, _ in BROKEN} == set(RULES)
    assert len({rule.__name__ for rule in RULES}) == len(RULES)


def test_a_full_part_is_held_to_its_embodied_groups() -> None:
    """With 230 singles, 55 embodied ones are right, and 54 are an error instead of a note."""

    def singles(embodied: int) -> list[dict[str, Any]]:
        return [changed(PUCKS, id=f"s{i:03d}", tags=["embodied"] if i <= embodied else []) for i in range(1, 231)]

    def told(embodied: int) -> list[tuple[str, str]]:
        found = counts.embodied_total(groups(*singles(embodied)))
        return [(finding.level, finding.message) for finding in found if "singles" in finding.message]

    assert told(55) == []
    assert told(54) == [("error", "54 singles are embodied and 0 are to come, but 55 are needed; put agents in")]


def test_an_agent_without_a_tag_is_a_note_only() -> None:
    """A hand at the edge may be meant; people decide."""
    group = changed(PUCKS, prompt=PROMPT + " A referee watches.")
    found = [finding for finding in structure.tags_hold(groups(group)) if finding.group == "s211"]
    assert [finding.level for finding in found] == ["note"]


def test_a_capitalized_word_that_is_no_listed_name_is_a_note_only() -> None:
    """The list is short, so other capitals are pointed out; known ones and sentence starts are not."""
    group = changed(PUCKS, prompt=PROMPT + " Watched by Zorblax, a Persian cat sits near.")
    found = [str(finding) for finding in text.no_names(groups(group))]
    assert found == ["note: s211: prompt capitalizes 'Zorblax'; if it is a name, replace it [no_names]"]


def test_a_users_own_groups_get_notes_and_no_counts() -> None:
    """What a user asks for is theirs: no rule but unique ids makes it an error, and no count of the 600 is told."""
    own = Group(id="mine", prompt="A wizard.", dimensions=("R22",))
    report = validate([own])
    assert report.errors == ()
    assert {finding.rule for finding in report.notes} >= {"length", "filmable", "target_data"}
    assert not {finding.rule for finding in report.notes} & {"part_totals", "embodied_total", "complete", "ids_of_part"}
    assert [finding.rule for finding in validate([own, own]).errors] == ["unique_ids"]


def test_findings_are_one_line_with_level_group_and_rule() -> None:
    """A reader can grep for any of them."""
    assert str(Finding("length", "s001", "too short")) == "error: s001: too short [length]"
    assert str(Finding("part_totals", None, "0 of 3", "note")) == "note: suite: 0 of 3 [part_totals]"


def test_the_shipped_groups_hold_all_rules() -> None:
    """What is shipped is good, whatever is still to come."""
    assert [str(finding) for finding in validate(load()).errors] == []


def test_every_event_has_an_arity_or_needs_no_object() -> None:
    """Moves of camera and light need none; every other event has its least number of objects."""
    assert set(structure.ARITY) == set(EVENTS) - {"camera_move", "light_move"}


def test_the_totals_are_those_of_the_specification() -> None:
    """600 groups, 30 % of them embodied: 70 in the supplement and 110 in the rest."""
    assert counts.TOTALS == {"single": 230, "hybrid": 230, "supplement": 140}
    assert sum(counts.EMBODIED.values()) == 0.3 * sum(counts.TOTALS.values())
    assert counts.EMBODIED["supplement"] == 70
    assert counts.EMBODIED["single"] == 55
