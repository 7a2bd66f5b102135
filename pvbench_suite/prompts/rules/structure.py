"""Rules on one group's fields: complete, and free of contradictions."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from pvbench_suite.prompts import words
from pvbench_suite.prompts.catalogue import judged_ids
from pvbench_suite.prompts.rules.finding import Finding, suite_part
from pvbench_suite.prompts.schema import Group

Groups = tuple[Group, ...]

#: How many objects an event needs at least.
ARITY = {"motion": 1, "fall": 1, "collision": 2, "rotation": 1, "occlusion": 1, "deformation": 1}
MIN_FIRST_FRAME = 15  # [words]
MAX_NOTE = 60  # [words]


def complete(groups: Groups) -> Iterator[Finding]:
    """Yield an error for each field that a group of the 600 leaves out."""
    for group in suite_part(groups):
        if not group.dimensions:
            yield Finding("complete", group.id, "dimensions is empty; name the targets")
        if not group.objects:
            yield Finding("complete", group.id, "objects is empty; list what the prompt names")
        if group.first_frame is None or len(words.words(group.first_frame)) < MIN_FIRST_FRAME:
            message = f"first_frame has fewer than {MIN_FIRST_FRAME} words; describe the scene at t = 0"
            yield Finding("complete", group.id, message)
        for key in ("camera", "light"):
            if getattr(group.expect, key) is None:
                yield Finding("complete", group.id, f'expect.{key} is not stated; write "still" if it does not move')


def judge_notes(groups: Groups) -> Iterator[Finding]:
    """Yield an error for each judged target without a note of one sentence, and each note on no target."""
    for group in groups:
        for dimension in group.dimensions:
            if dimension in judged_ids() and dimension not in group.judge_notes:
                message = f"judge_notes lacks {dimension}; say in one sentence what a right outcome is here"
                yield Finding("judge_notes", group.id, message)
        for dimension, note in group.judge_notes.items():
            if dimension not in group.dimensions:
                yield Finding("judge_notes", group.id, f"judge_notes has {dimension}, which is no target; drop it")
            if words.sentences(note) != 1 or len(words.words(note)) > MAX_NOTE:
                message = f"judge_notes.{dimension} is not one sentence of at most {MAX_NOTE} words; shorten it"
                yield Finding("judge_notes", group.id, message)


def tags_hold(groups: Groups) -> Iterator[Finding]:
    """Yield an error for each tag that the group's content does not bear out, or that it lacks."""
    for group in suite_part(groups):
        moving = group.expect.camera not in (None, "still")
        if group.part == "supplement" and not group.tags:
            yield Finding("tags_hold", group.id, "a supplement group needs a tag; say what makes it hard")
        if moving and "camera_motion" not in group.tags:
            yield Finding("tags_hold", group.id, f"camera is {group.expect.camera}, so tag it camera_motion")
        if not moving and "camera_motion" in group.tags:
            yield Finding("tags_hold", group.id, "is tagged camera_motion, but expect.camera is still")
        if "occlusion" in group.tags and not group.events("occlusion"):
            yield Finding("tags_hold", group.id, "is tagged occlusion, but expect.events has no occlusion")
        agent = bool(words.kinds(group.prompt, "agents"))
        if "embodied" in group.tags and not agent:
            message = "is tagged embodied, but no person, robot or animal is in the prompt; name the agent"
            yield Finding("tags_hold", group.id, message)
        if "embodied" not in group.tags and agent:
            yield Finding("tags_hold", group.id, "has an agent, but is not tagged embodied; is that meant?", "note")


def camera_and_light(groups: Groups) -> Iterator[Finding]:
    """Yield an error where expect.camera or expect.light disagrees with the events or has no reason."""
    pairs = (("camera", "camera_move"), ("light", "light_move"))
    for group in groups:
        for key, event in pairs:
            stated = getattr(group.expect, key)
            moves, demanded = stated not in (None, "still"), bool(group.events(event))
            if stated is not None and moves != demanded:
                message = (
                    f"expect.{key} is {stated}, but events has {'a' if demanded else 'no'} {event}; make them agree"
                )
                yield Finding("camera_and_light", group.id, message)
        about = "camera_motion" in group.tags or {"R05", "IF-08"} & set(group.dimensions)
        if group.expect.camera not in (None, "still") and not about:
            message = "the camera moves, but the group is not about camera motion; keep it still or tag camera_motion"
            yield Finding("camera_and_light", group.id, message)


def events_fit(groups: Groups) -> Iterator[Finding]:
    """Yield an error for each event that its objects cannot show."""
    for group in groups:
        for item in group.expect.events:
            bodies = [group.object(name) for name in item.objects]
            if len(bodies) < ARITY.get(item.event, 0):
                message = f"{item.event} needs {ARITY[item.event]} object(s), has {len(bodies)}; list them"
                yield Finding("events_fit", group.id, message)
            for body in bodies:
                fault = None
                if item.event == "rotation" and "sphere" in (body.shape, body.symmetry):
                    fault = "a sphere cannot be seen to turn; use another body or drop the event"
                elif item.event == "deformation" and body.body == "rigid":
                    fault = "a rigid body does not deform; change body or the event"
                elif item.event in ("motion", "fall") and body.fixed:
                    fault = f"a fixed body has no {item.event}; change fixed or the event"
                if fault:
                    yield Finding("events_fit", group.id, f"{item.event} of {body.name}: {fault}")


def expect_consistent(groups: Groups) -> Iterator[Finding]:
    """Yield an error for each contradiction inside `expect`."""
    for group in groups:
        expect = group.expect
        order: TopologicalSorter[str] = TopologicalSorter()
        for nearer, farther in expect.depth_order:
            order.add(farther, nearer)
        try:
            order.prepare()
        except CycleError as error:
            loop = " < ".join(error.args[1])
            yield Finding("expect_consistent", group.id, f"depth_order runs in a circle ({loop}); drop one pair")
        always = {item.object for item in expect.driven if item.until == "always"}
        for name in expect.free_flight:
            body = group.object(name)
            if body.fixed or name in always:
                message = f"free_flight of {name}, which is {'fixed' if body.fixed else 'always driven'}; drop one"
                yield Finding("expect_consistent", group.id, message)
        if expect.real_time and (seen := words.found(group.prompt, "slow")):
            message = f"the prompt says {min(seen)!r}, but real_time is true; set it to false"
            yield Finding("expect_consistent", group.id, message)
        if expect.g_scale == 1 and (seen := words.found(group.prompt, "gravity")):
            message = f"the prompt says {min(seen)!r}, but g_scale is 1; state the gravity there"
            yield Finding("expect_consistent", group.id, message)
