"""The models refuse contradictions, and digests and demands say what the specification says."""

import json
import pickle
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pvbench_suite.prompts import catalogue
from pvbench_suite.prompts.schema import DEMANDS, EVENTS, Event, Expect, Group, Object, json_schema

from .good import GOOD, PUCKS, changed

#: Spec prompts.md, the line that begins "Which event makes which dimension's absence count".
SPEC = {
    "motion": "R16 R17 R19",
    "fall": "R21 R23",
    "collision": "R22 R24 R23",
    "rotation": "R20 R07 R03 R18",
    "occlusion": "R15",
    "deformation": "R11",
    "camera_move": "R05 R03",
    "light_move": "R08",
}


@pytest.mark.parametrize("event", EVENTS)
def test_an_event_demands_exactly_the_dimensions_of_the_specification(event: str) -> None:
    """Each of the 46 dimensions is demanded by an event or not, as the specification lists."""
    group = Group.model_validate({"id": "a", "prompt": "x", "expect": {"events": [{"event": event}]}})
    assert {d for d in catalogue.dimension_ids() if group.demands(d)} == set(SPEC[event].split())
    assert set(DEMANDS) == set(EVENTS)


def test_a_group_without_events_demands_nothing() -> None:
    """Nothing is demanded that the prompt does not state, nor of a dimension that does not exist."""
    group = Group(id="a", prompt="A ball falls.")
    assert not any(group.demands(d) for d in (*catalogue.dimension_ids(), "R99", ""))


def test_the_digest_does_not_depend_on_how_a_group_is_written() -> None:
    """Order of keys, 1 against 1.0, and defaults written out make no difference."""
    plain = Group.model_validate_json(
        '{"id":"a","prompt":"x","objects":[{"name":"b","noun":"b","body":"rigid","mass":1}]}'
    )
    wordy = Group.model_validate_json(
        '{"prompt":"x","part":"custom","expect":{"g_scale":1,"events":[]},"tags":[],'
        '"objects":[{"body":"rigid","mass":1.0,"noun":"b","name":"b","shape":null}],"id":"a"}'
    )
    one = Group(id="a", prompt="x", judge_notes={"R15": "Stay.", "R25": "Rest."})
    other = Group(id="a", prompt="x", judge_notes={"R25": "Rest.", "R15": "Stay."})
    assert one.digest() == other.digest()
    assert plain.digest() == wordy.digest()
    assert len(plain.digest()) == 12
    assert int(plain.digest(), 16) >= 0


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "s212"},
        {"prompt": "Other words."},
        {"expect__camera": "pan"},
        {"expect__contacts": []},
        {"dimensions": ["R23"]},
        {"judge_notes": {"R15": "Both stay."}},
        {"objects": [*PUCKS["objects"], {"name": "c", "noun": "puck", "body": "rigid"}]},
    ],
)
def test_the_digest_sees_every_change_of_content(changes: dict[str, object]) -> None:
    """A changed group never keeps its digest, so that results of the old one are not taken for it."""
    before, after = Group.model_validate(PUCKS), Group.model_validate(changed(PUCKS, **changes))
    assert before.digest() != after.digest()


@pytest.mark.parametrize("data", GOOD, ids=lambda data: data["id"])
def test_a_group_survives_json_and_pickle(data: dict[str, object]) -> None:
    """Written and read again it is equal, has the same digest, and can be a key."""
    group = Group.model_validate(data)
    again = Group.model_validate_json(group.model_dump_json(exclude_defaults=True), strict=True)
    assert again == group == pickle.loads(pickle.dumps(group))
    assert {group: 1}[again] == 1
    assert again.digest() == group.digest()


def test_groups_are_frozen() -> None:
    """Nobody changes a group under another's hands."""
    group = Group.model_validate(PUCKS)
    with pytest.raises(ValidationError, match="frozen"):
        group.prompt = "x"
    with pytest.raises(ValidationError, match="frozen"):
        group.expect.camera = "pan"


def test_what_is_not_stated_is_none() -> None:
    """Camera and light of a bare prompt are unknown, not still."""
    assert (Expect().camera, Expect().light, Expect().real_time, Expect().g_scale) == (None, None, True, 1.0)


@given(st.integers(-3, 120))
def test_n_fold_symmetry_is_a_number_from_2_to_99(n: int) -> None:
    """Only a number of at least two is a symmetry that changes anything."""
    if 2 <= n <= 99:
        assert Object(name="a", noun="a", body="rigid", symmetry=f"{n}-fold").fold == n
    else:
        with pytest.raises(ValidationError):
            Object(name="a", noun="a", body="rigid", symmetry=f"{n}-fold")


@pytest.mark.parametrize("symmetry", [None, "none", "axis", "sphere", "n-fold"])
def test_other_symmetries_have_no_number(symmetry: str | None) -> None:
    """An n-fold symmetry without its number gives none."""
    assert Object(name="a", noun="a", body="rigid", symmetry=symmetry).fold is None


def test_events_and_objects_are_found_by_name() -> None:
    """The look-ups give what is there; a missing object is a KeyError."""
    group = Group.model_validate(PUCKS)
    assert group.events("collision") == (Event(event="collision", objects=("puck_1", "puck_2")),)
    assert group.events("fall") == ()
    assert group.object("puck_2").symmetry == "axis"
    with pytest.raises(KeyError):
        group.object("puck_3")


def test_the_shipped_json_schema_is_fresh() -> None:
    """Renew it with: pvbench prompts schema > pvbench_suite/prompts/schema.json."""
    shipped = files("pvbench_suite.prompts").joinpath("schema.json").read_text("utf-8")
    assert json.loads(shipped) == json_schema()


def test_the_json_schema_names_what_a_writer_needs() -> None:
    """Required keys, closed objects, and the 46 ids."""
    schema = json_schema()
    assert schema["required"] == ["id", "prompt"]
    assert schema["additionalProperties"] is False
    assert all(part["additionalProperties"] is False for part in schema["$defs"].values())
    assert schema["properties"]["dimensions"]["items"]["enum"] == list(catalogue.dimension_ids())


def test_the_catalogue_has_the_ids_and_pairs_of_the_specification_in_its_order() -> None:
    """Places of singles and hybrids go by these orders, so a reordered table must not move them."""
    sizes = {"IF-": 10, "BC-": 5, "PTQ-": 6, "R": 25}
    assert catalogue.dimension_ids() == tuple(f"{p}{k:02d}" for p, n in sizes.items() for k in range(1, n + 1))
    assert "+".join(a + " " + b for a, b in catalogue.pairs()) == (
        "IF-01 IF-02+IF-03 IF-09+IF-04 R04+IF-05 BC-01+IF-06 BC-02+IF-07 PTQ-06+IF-08 R05+IF-10 PTQ-05+BC-03 R25+"
        "BC-04 BC-05+PTQ-01 PTQ-02+PTQ-03 R08+PTQ-04 R16+R01 R06+R02 R03+R07 R20+R09 R10+R11 R18+R12 R14+R13 R21+"
        "R15 R17+R19 R24+R22 R23"
    )
    judged = {"R04", "R06", "R07", "R08", "R09", "R10", "R12", "R13", "R14", "R15", "R25"}
    assert {d for d in catalogue.judged_ids() if d.startswith("R")} == judged
    assert len(catalogue.judged_ids()) == 26


def test_the_nearest_dimension_helps_with_common_slips() -> None:
    """A missing zero or a lower-case letter leads to the dimension that was meant."""
    assert catalogue.nearest_dimension("r22") == "R22"
    assert catalogue.nearest_dimension("IF1") in {"IF-01", "IF-10"}
