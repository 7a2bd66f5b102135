"""What a group states when it targets one of the semantic or perceptual dimensions; one check per dimension."""

from __future__ import annotations

from pvbench_suite.prompts import words
from pvbench_suite.prompts.rules.checks import MOTION, Check, has_agent, has_word, interaction, layout
from pvbench_suite.prompts.schema import Group


def objects_named(group: Group) -> str | None:
    """IF-01: more than one object to find."""
    return None if len(group.objects) >= 2 else "fewer than two objects; list all that the prompt names"


def attributes(group: Group) -> str | None:
    """IF-03: at least two attributes, on at least two objects, that could be bound wrongly."""
    if len(group.objects) < 2 or len(words.found(group.prompt, "attributes")) < 2:
        return "fewer than two objects or attribute words; give colors, materials or sizes that could be swapped"
    return None


def agent(group: Group) -> str | None:
    """IF-05, BC-01 and BC-04: somebody or something acts."""
    return None if has_agent(group) else "no articulated or self_propelled object; list the agent with its body"


def scene(group: Group) -> str | None:
    """IF-07: a place, and a time or weather."""
    if not (words.kinds(group.prompt, "indoors") or words.kinds(group.prompt, "outdoors")):
        return "no place in the prompt; say where it happens"
    return None if words.found(group.prompt, "times") else "no time of day, season or weather in the prompt; state one"


def reference(group: Group) -> str | None:
    """IF-10: the first frame fixes the looks of a listed object."""
    text = group.first_frame or ""
    if not any(words.mentions(text, item.noun) for item in group.objects):
        return "first_frame names no listed object; describe the one whose identity has to be kept"
    if len(words.found(text, "attributes")) < 2:
        return "first_frame has fewer than two attribute words; give colors, materials, patterns that an image fixes"
    return None


def cause_and_effect(group: Group) -> str | None:
    """BC-02: an effect that has a cause in view."""
    seen = group.expect.contacts or words.found(group.prompt, "causes")
    return None if seen else "no cause in view; say what makes it happen"


def something_to_see(group: Group) -> str | None:
    """PTQ-01 and PTQ-02: a listed object and an event, since stillness is not quality."""
    return None if group.objects and group.expect.events else "no object or no event; let something happen in view"


def still_camera(group: Group) -> str | None:
    """PTQ-03: static regions in view."""
    return None if group.expect.camera == "still" else "the camera moves; flicker needs static regions, keep it still"


def changing_subject(group: Group) -> str | None:
    """PTQ-05: a subject that moves, turns, deforms or is seen by a moving camera."""
    return None if group.objects and group.expect.events else "no subject in change; give objects and an event"


def background(group: Group) -> str | None:
    """PTQ-06: surroundings that can be compared over time."""
    if words.kinds(group.prompt, "indoors") or words.kinds(group.prompt, "outdoors"):
        return None
    return "no surroundings in the prompt; describe the place behind the subject"


SEMANTIC: dict[str, Check] = {
    "IF-01": objects_named,
    "IF-02": has_word("numbers", "no number word from two up in the prompt; state how many"),
    "IF-03": attributes,
    "IF-04": layout,
    "IF-05": agent,
    "IF-06": has_word("stages", "no order word (first, then, after, finally ...); state at least two ordered stages"),
    "IF-07": scene,
    "IF-08": has_word("camera", "no camera word (camera, pan, close-up, low angle ...); state viewpoint and motion"),
    "IF-09": has_word("style", "no style or light word; state style, mood or lighting"),
    "IF-10": reference,
    "BC-01": agent,
    "BC-02": cause_and_effect,
    "BC-03": interaction,
    "BC-04": agent,
    "BC-05": interaction,
    "PTQ-01": something_to_see,
    "PTQ-02": something_to_see,
    "PTQ-03": still_camera,
    "PTQ-04": MOTION,
    "PTQ-05": changing_subject,
    "PTQ-06": background,
}
