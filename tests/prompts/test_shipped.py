"""The shipped suite: complete as far as it goes, free of errors, and ready to hand to a generator."""

import json
from importlib.resources import files

import pytest

from pvbench_suite.dimensions import load as load_registry
from pvbench_suite.planning import applies
from pvbench_suite.prompts import export, words
from pvbench_suite.prompts.catalogue import dimension_ids
from pvbench_suite.prompts.loader import Suite, load
from pvbench_suite.prompts.rules.text import MAX_OVERLAP
from pvbench_suite.prompts.schema import Group
from pvbench_suite.prompts.validate import validate

SINGLES = 230
PER_DIMENSION = 5
EMBODIED = 55


@pytest.fixture(scope="module")
def suite() -> Suite:
    """Return the shipped suite."""
    return load()


@pytest.fixture(scope="module")
def singles(suite: Suite) -> tuple[Group, ...]:
    """Return its single-dimension groups in file order."""
    return tuple(group for group in suite if group.part == "single")


def test_the_validator_finds_no_error(suite: Suite) -> None:
    """Every rule holds for every shipped group; the message of a failure is the finding itself."""
    assert [str(finding) for finding in validate(suite).errors] == []


def test_the_single_groups_are_five_per_dimension_with_ids_in_order(singles: tuple[Group, ...]) -> None:
    """s001 to s005 target the first dimension, and so on to s230, none left out and none twice."""
    assert [group.id for group in singles] == [f"s{number:03d}" for number in range(1, SINGLES + 1)]
    places = [dimension for dimension in dimension_ids() for _ in range(PER_DIMENSION)]
    assert [group.dimensions for group in singles] == [(dimension,) for dimension in places]


def test_55_of_the_single_groups_are_embodied(singles: tuple[Group, ...]) -> None:
    """The share that the paper's design asks of this part."""
    assert sum("embodied" in group.tags for group in singles) == EMBODIED


def test_the_digests_survive_writing_and_reading_again(suite: Suite) -> None:
    """A group dumped without its defaults, and one dumped in full, is still the same group."""
    for bare in (True, False):
        again = [
            Group.model_validate_json(json.dumps(group.model_dump(mode="json", exclude_defaults=bare)))
            for group in suite
        ]
        assert [group.digest() for group in again] == [group.digest() for group in suite]
        assert Suite(tuple(reversed(again))).digest() == suite.digest()


@pytest.mark.parametrize("modality", ["t2v", "i2v", "reference"])
@pytest.mark.parametrize("form", export.FORMATS)
def test_every_group_can_be_exported(suite: Suite, modality: str, form: str) -> None:
    """One row per group, with a file name from its id and with text."""
    rows = export.rows(suite, modality)
    ending = "png" if modality == "reference" else "mp4"
    assert [row["file"] for row in rows] == [f"{group.id}.{ending}" for group in suite]
    assert all(row["prompt"].strip() for row in rows)
    if form != "csv":
        assert export.render(rows, form).count("\n") == len(suite)


def test_an_image_to_video_row_has_the_first_frame_and_the_name_of_its_image(suite: Suite) -> None:
    """A reference image can be made for every group."""
    for row in export.rows(suite, "i2v"):
        assert row["reference"] == f"{row['id']}.png"
        assert len(words.words(row["first_frame"])) >= 15


def test_reference_following_applies_to_image_to_video_alone(suite: Suite) -> None:
    """IF-10 is the one target that text-to-video leaves out; every other target applies in both."""
    registry = load_registry()
    for group in suite:
        for target in group.dimensions:
            dimension = registry.get(target)
            assert applies(dimension, group, "i2v", group.prompt), (group.id, target)
            assert applies(dimension, group, "t2v", group.prompt) is (target != "IF-10"), (group.id, target)


def test_only_the_groups_of_reference_following_speak_of_a_reference_image(suite: Suite) -> None:
    """A text-to-video model gets no image, so no prompt may lean on one unless it is about just that."""
    leaning = {group.id for group in suite if words.mentions(group.prompt, "reference image")}
    assert leaning <= {group.id for group in suite if "IF-10" in group.dimensions}


def test_the_nearest_pair_is_below_the_bar(suite: Suite) -> None:
    """No two prompts share more than 35 % of the 5-grams of the smaller, and this file stays far below it."""
    share, one, other = words.overlaps([group.prompt for group in suite])[0]
    assert share < MAX_OVERLAP / 2, (suite.groups[one].id, suite.groups[other].id)


def test_a_symmetry_of_many_turns_is_stated_by_the_prompt_or_follows_from_a_box(suite: Suite) -> None:
    """A wheel with eighteen spokes that nobody asked for would make a right turn look wrong."""
    spelled = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", 10: "ten"}
    unstated = [
        (group.id, item.name)
        for group in suite
        for item in group.objects
        if item.fold and item.shape != "box" and spelled.get(item.fold, "?") not in words.tokens(group.prompt)
    ]
    assert unstated == []


def test_a_light_thing_is_not_said_to_fall_freely(suite: Suite) -> None:
    """Free flight is constant acceleration; what drifts down at a few meters a second does not have it."""
    light = [
        (group.id, name)
        for group in suite
        for name in group.expect.free_flight
        if (group.object(name).terminal_speed or 99.0) < 5.0
    ]
    assert light == []


def test_what_the_suite_ships_is_found_as_package_data() -> None:
    """An installed copy reads its own file; the wheel takes the whole package, so nothing may be excluded from it."""
    data = files("pvbench_suite.prompts")
    assert data.joinpath("groups.jsonl").read_bytes().count(b"\n") >= SINGLES
    for name in ("schema.json", "vocabulary.toml", "subsets.toml"):
        assert data.joinpath(name).is_file(), name
    assert load().source == "the shipped suite"
