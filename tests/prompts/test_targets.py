"""Each dimension's check passes a group that states its data, and says what is missing from one that does not."""

from typing import Any

import pytest

from pvbench_suite.prompts.catalogue import dimension_ids
from pvbench_suite.prompts.rules.targets import CHECKS
from pvbench_suite.prompts.schema import Group

from .good import changed

#: One scene with the data of every dimension but R05.
RICH: dict[str, Any] = {
    "id": "rich",
    "prompt": (
        "On a rainy morning in a bright kitchen, two red rubber balls lie to the left of a blue glass jar. First a "
        "cook in a green apron drops one, then it bounces on the counter, hits the other, and a magnet swings past "
        "a hot candle that melts. The camera stays still, and the lamp throws a shadow on the wall."
    ),
    "first_frame": "Two red rubber balls beside a blue glass jar.",
    "objects": [
        {"name": "ball_1", "noun": "red rubber ball", "body": "rigid", "mass": 1, "size_m": 0.1, "material": "rubber"},
        {"name": "ball_2", "noun": "red rubber ball", "body": "rigid", "mass": 1},
        {"name": "jar", "noun": "blue glass jar", "body": "rigid", "symmetry": "axis", "fixed": True},
        {"name": "cook", "noun": "cook", "body": "articulated", "self_propelled": True},
        {"name": "magnet", "noun": "magnet", "body": "rigid", "symmetry": "none"},
        {"name": "dough", "noun": "dough", "body": "soft", "incompressible": True},
    ],
    "expect": {
        "events": [
            {"event": "motion", "objects": ["ball_1", "magnet"]},
            {"event": "fall", "objects": ["ball_1"]},
            {"event": "collision", "objects": ["ball_1", "ball_2"]},
            {"event": "rotation", "objects": ["magnet"]},
            {"event": "deformation", "objects": ["dough"]},
            {"event": "occlusion", "objects": ["ball_2"]},
        ],
        "contacts": [["ball_1", "ball_2"]],
        "depth_order": [["ball_1", "jar"]],
        "free_flight": ["ball_1"],
        "light": "still",
        "camera": "still",
    },
}

#: The same, seen by a moving camera, for R05.
ORBIT = changed(
    RICH,
    expect__camera="orbit",
    expect__events=[{"event": "camera_move"}, {"event": "motion", "objects": ["ball_1"]}],
)
PLAIN = "It is there and stays as it was for as long as one looks at it."


def without_event(name: str) -> dict[str, Any]:
    """Return the rich scene without one kind of event."""
    return changed(RICH, expect__events=[e for e in RICH["expect"]["events"] if e["event"] != name])


def objects_with(**keys: Any) -> dict[str, Any]:
    """Return the rich scene with keys set on every object."""
    return changed(RICH, objects=[item | keys for item in RICH["objects"]])


ONE_OBJECT = {**changed(RICH, objects=RICH["objects"][:1]), "expect": {}}
NO_CONTACT = changed(RICH, expect__contacts=[])
NO_EVENTS = changed(RICH, expect__events=[])

BROKEN = [
    ("IF-01", ONE_OBJECT, "fewer than two objects"),
    ("IF-02", changed(RICH, prompt="A red ball and a blue jar."), "no number word"),
    ("IF-03", changed(RICH, prompt=PLAIN), "fewer than two objects or attribute words"),
    ("IF-03", ONE_OBJECT, "fewer than two objects or attribute words"),
    ("IF-04", changed(RICH, prompt=PLAIN), "no spatial relation"),
    ("IF-05", objects_with(body="rigid", self_propelled=False), "no articulated or self_propelled object"),
    ("IF-06", changed(RICH, prompt="A cook drops a ball and it bounces."), "no order word"),
    ("IF-07", changed(RICH, prompt="On a rainy morning a ball falls."), "no place"),
    ("IF-07", changed(RICH, prompt="A ball falls in a kitchen."), "no time of day"),
    ("IF-08", changed(RICH, prompt=PLAIN), "no camera word"),
    ("IF-09", changed(RICH, prompt=PLAIN), "no style or light word"),
    ("IF-10", changed(RICH, first_frame="A wide empty room."), "first_frame names no listed object"),
    ("IF-10", changed(RICH, first_frame="A cook waits."), "fewer than two attribute words"),
    ("BC-01", objects_with(body="rigid", self_propelled=False), "no articulated"),
    ("BC-02", changed(NO_CONTACT, prompt=PLAIN), "no cause in view"),
    ("BC-03", NO_CONTACT, "no contacts and nothing driven"),
    ("BC-04", objects_with(body="rigid", self_propelled=False), "no articulated"),
    ("BC-05", NO_CONTACT, "no contacts and nothing driven"),
    ("PTQ-01", NO_EVENTS, "no object or no event"),
    ("PTQ-02", NO_EVENTS, "no object or no event"),
    ("PTQ-03", ORBIT, "the camera moves"),
    ("PTQ-04", without_event("motion"), "no motion event"),
    ("PTQ-05", NO_EVENTS, "no subject in change"),
    ("PTQ-06", changed(RICH, prompt=PLAIN), "no surroundings"),
    ("R01", changed(RICH, expect__depth_order=[]), "depth_order is empty"),
    ("R02", objects_with(body="gas"), "no rigid, articulated or soft body"),
    ("R03", without_event("rotation"), "no rigid body in a rotation event"),
    ("R04", changed(RICH, prompt=PLAIN), "no spatial relation"),
    ("R05", RICH, "no camera that changes place"),
    ("R05", changed(ORBIT, expect__camera="pan"), "pan and tilt give no parallax"),
    ("R05", changed(ORBIT, objects=[i | {"self_propelled": True, "fixed": False} for i in RICH["objects"]]), "stays"),
    ("R06", objects_with(size_m=None), "no size_m"),
    ("R07", objects_with(shape="sphere"), "no rigid or articulated body with an orientation"),
    ("R08", changed(RICH, prompt="A shadow on the wall."), "no light is named"),
    ("R08", changed(RICH, prompt="A lamp by the wall."), "no shadow"),
    ("R09", changed(RICH, prompt=PLAIN), "no mirror, water, glass"),
    ("R10", objects_with(material=None), "no object states its material"),
    ("R11", objects_with(incompressible=None), "no soft body with incompressible true"),
    ("R11", without_event("deformation"), "in a deformation event"),
    ("R12", changed(RICH, prompt=PLAIN), "nothing hot"),
    ("R13", changed(RICH, prompt=PLAIN), "no magnet or charge"),
    ("R14", changed(RICH, prompt=PLAIN), "no phase change"),
    ("R15", {**ONE_OBJECT}, "no occlusion event"),
    ("R16", without_event("motion"), "no motion event"),
    ("R17", without_event("motion"), "no motion event"),
    ("R18", objects_with(body="cloth"), "no rigid body in a rotation event"),
    ("R19", without_event("motion"), "no motion event"),
    ("R20", ORBIT, "no rigid body in a rotation event; R20 is about the body's own turn"),
    ("R20", objects_with(symmetry=None), "states no symmetry"),
    ("R20", objects_with(symmetry="n-fold"), "states no symmetry"),
    ("R21", changed(RICH, expect__free_flight=[]), "no passive body stands in free_flight"),
    ("R21", without_event("fall"), "no passive body stands in free_flight"),
    ("R21", objects_with(self_propelled=True), "no passive body stands in free_flight"),
    ("R22", without_event("collision"), "no collision event whose two free bodies"),
    ("R22", NO_CONTACT, "no collision event whose two free bodies"),
    ("R22", objects_with(fixed=True), "no collision event whose two free bodies"),
    ("R22", changed(RICH, expect__driven=[{"object": "ball_1", "until": "always"}]), "two free bodies"),
    ("R23", objects_with(self_propelled=True), "no passive body"),
    ("R23", changed(RICH, prompt=PLAIN), "nothing bounces, swings or rolls"),
    ("R24", NO_CONTACT, "no pair in contacts"),
    ("R24", objects_with(body="soft"), "no pair in contacts with a solid body"),
    ("R25", NO_CONTACT, "no contacts and nothing driven"),
]


@pytest.mark.parametrize("dimension", dimension_ids())
def test_a_group_with_the_data_passes(dimension: str) -> None:
    """The rich scene states what the dimension is measured on."""
    assert CHECKS[dimension](Group.model_validate(ORBIT if dimension == "R05" else RICH)) is None


@pytest.mark.parametrize(("dimension", "data", "message"), BROKEN)
def test_a_group_without_the_data_is_told_what_to_state(dimension: str, data: dict[str, Any], message: str) -> None:
    """The fault names what is missing and, behind a semicolon or in brackets, what to write."""
    fault = CHECKS[dimension](Group.model_validate(data))
    assert fault is not None
    assert message in fault


def test_every_dimension_has_a_check_and_a_broken_group() -> None:
    """No target is taken on trust."""
    assert list(CHECKS) == list(dimension_ids())
    assert {dimension for dimension, _, _ in BROKEN} == set(CHECKS)


@pytest.mark.parametrize("dimension", ["R03", "R18"])
def test_a_camera_around_a_rigid_body_is_as_good_as_a_turn(dimension: str) -> None:
    """R03 and R18 see a still body from changing sides; R20 does not count that as a turn."""
    assert CHECKS[dimension](Group.model_validate(ORBIT)) is None


@pytest.mark.parametrize("dimension", ["BC-03", "BC-05", "R25"])
def test_a_driven_object_is_an_interaction_without_a_contact(dimension: str) -> None:
    """A hand that is not in `objects` may drive a thing."""
    driven = changed(NO_CONTACT, expect__driven=[{"object": "ball_1", "until": "release"}])
    assert CHECKS[dimension](Group.model_validate(driven)) is None
