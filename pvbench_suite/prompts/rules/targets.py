"""Rules on targets: a group that targets a dimension states what that dimension is measured or judged on.

`CHECKS` has one check per dimension: group in, fault with its remedy out, or None.  A check asks for the least without
which the dimension has nothing to see; whether a group is *good* is for people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pvbench_suite.prompts import words
from pvbench_suite.prompts.rules.finding import Finding
from pvbench_suite.prompts.schema import Group, Object

Groups = tuple[Group, ...]
Check = Callable[[Group], str | None]

SIDES = frozenset({"dolly", "orbit", "handheld", "follow"})  # cameras that change place; pan and tilt only turn


def _text(table: str, fault: str) -> Check:
    """Return a check that the prompt has a word of list `table`."""
    return lambda group: None if words.found(group.prompt, table) else fault


def _taking_part(group: Group, *events: str) -> list[Object]:
    """Return the objects of these events, in order, with repetitions."""
    return [group.object(name) for kind in events for item in group.events(kind) for name in item.objects]


def _event(event: str, fault: str) -> Check:
    """Return a check that `event` is demanded of some object."""
    return lambda group: None if _taking_part(group, event) else fault


def _passive(group: Group, item: Object) -> bool:
    """Return whether nothing inside or outside drives the object all along."""
    always = any(d.object == item.name and d.until == "always" for d in group.expect.driven)
    return not (item.self_propelled or item.fixed or always)


def _agent(group: Group) -> bool:
    """Return whether a living or jointed body is among the objects."""
    return any(item.self_propelled or item.body == "articulated" for item in group.objects)


def _all(*checks: Check) -> Check:
    """Return a check that gives the first fault of several."""
    return lambda group: next((fault for check in checks if (fault := check(group))), None)


def objects_named(group: Group) -> str | None:
    """IF-01: more than one object to find."""
    return None if len(group.objects) >= 2 else "fewer than two objects; list all that the prompt names"


def attributes(group: Group) -> str | None:
    """IF-03: at least two attributes, on at least two objects, that could be bound wrongly."""
    if len(group.objects) < 2 or len(words.found(group.prompt, "attributes")) < 2:
        return "fewer than two objects or attribute words; give colors, materials or sizes that could be swapped"
    return None


def layout(group: Group) -> str | None:
    """IF-04 and R04: two objects and a stated relation."""
    if len(group.objects) < 2 or not words.found(group.prompt, "relations"):
        return "no spatial relation of two objects in the prompt; state one (left of, behind, between ...)"
    return None


def agent(group: Group) -> str | None:
    """IF-05, BC-01 and BC-04: somebody or something acts."""
    return None if _agent(group) else "no articulated or self_propelled object; list the agent with its body"


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


def interaction(group: Group) -> str | None:
    """BC-03, BC-05 and R25: something acts on something."""
    return None if group.expect.contacts or group.expect.driven else "no contacts and nothing driven; state what acts"


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


def depth_order(group: Group) -> str | None:
    """R01: which object is nearer."""
    return None if group.expect.depth_order else "depth_order is empty; state [nearer, farther] with a clear gap"


def solid(group: Group) -> str | None:
    """R02: a surface that has normals."""
    if any(item.body in {"rigid", "articulated", "soft"} for item in group.objects):
        return None
    return "no rigid, articulated or soft body; normals need a solid surface"


def turning(group: Group) -> str | None:
    """R03 and R18: a rigid body that turns, or that a moving camera sees from changing sides."""
    if any(item.body == "rigid" for item in _taking_part(group, "rotation")):
        return None
    around = group.expect.camera in SIDES and group.events("camera_move")
    if around and any(item.body == "rigid" for item in group.objects):
        return None
    return "no rigid body in a rotation event, and no camera that goes around one; add either"


def rotation(group: Group) -> str | None:
    """R20: a rigid body that itself turns, with its symmetry, which settles what a turn looks like."""
    bodies = [item for item in _taking_part(group, "rotation") if item.body == "rigid"]
    if not bodies:
        return "no rigid body in a rotation event; R20 is about the body's own turn"
    if all(item.symmetry in (None, "n-fold") for item in bodies):
        return "the turning body states no symmetry; write none, axis or a number and -fold"
    return None


def posed(group: Group) -> str | None:
    """R07: a body with an orientation."""
    if any(
        item.body in {"rigid", "articulated"} and "sphere" not in (item.shape, item.symmetry) for item in group.objects
    ):
        return None
    return "no rigid or articulated body with an orientation (spheres have none); add one"


def parallax(group: Group) -> str | None:
    """R05: a camera that changes place before a background that does not move."""
    if not group.events("camera_move") or group.expect.camera not in SIDES:
        return "no camera that changes place (dolly, orbit, handheld, follow; pan and tilt give no parallax)"
    moving = {item.name for item in _taking_part(group, "motion", "fall", "collision", "rotation", "deformation")}
    if any(item.fixed or (_passive(group, item) and item.name not in moving) for item in group.objects):
        return None
    return "no object that stays where it is; list a still background body with fixed true"


def sized(group: Group) -> str | None:
    """R06: a known size to compare with."""
    return (
        None if any(item.size_m for item in group.objects) else "no size_m; state the size of an object that shows it"
    )


def shaded(group: Group) -> str | None:
    """R08: a named light and a shadow on a visible surface."""
    if not words.found(group.prompt, "lights"):
        return "no light is named in the prompt; say which lamp, sun or flame lights the scene"
    return None if words.found(group.prompt, "shadow") else "no shadow in the prompt; say on which surface it falls"


def material(group: Group) -> str | None:
    """R10: what a thing is made of."""
    return None if any(item.material for item in group.objects) else "no object states its material; fill material"


def soft_volume(group: Group) -> str | None:
    """R11: a soft, nearly incompressible body that deforms."""
    if any(item.body == "soft" and item.incompressible for item in _taking_part(group, "deformation")):
        return None
    return "no soft body with incompressible true in a deformation event; name one (jelly, dough, rubber ...)"


def permanence(group: Group) -> str | None:
    """R15: something passes out of sight, or several things move that must all stay."""
    if group.events("occlusion") or (len(group.objects) >= 2 and _taking_part(group, "motion", "fall", "collision")):
        return None
    return "no occlusion event, and no motion among two objects; let something be hidden and come back"


def flight(group: Group) -> str | None:
    """R21: a body in free flight that is seen to fall."""
    falling = {item.name for item in _taking_part(group, "fall")}
    if any(name in falling and not group.object(name).self_propelled for name in group.expect.free_flight):
        return None
    return "no passive body stands in free_flight and in a fall event; state both for the flying body"


def free_collision(group: Group) -> str | None:
    """R22: two free bodies in contacts and in one collision event."""
    for item in group.events("collision"):
        for pair in group.expect.contacts:
            if set(pair) <= set(item.objects) and all(_passive(group, group.object(name)) for name in pair):
                return None
    return "no collision event whose two free bodies stand in contacts (fixed, driven, self-propelled do not count)"


def chain(group: Group) -> str | None:
    """R23: a passive body that bounces or swings."""
    bodies = _taking_part(group, "fall", "collision", "motion", "rotation")
    if not any(_passive(group, item) for item in bodies):
        return "no passive body in a fall, collision or motion event; list one"
    return None if words.found(group.prompt, "bounces") else "nothing bounces, swings or rolls in the prompt; let it"


def contact(group: Group) -> str | None:
    """R24: bodies that touch and of which one is solid and moves."""
    moving = {item.name for item in _taking_part(group, "motion", "fall", "collision")}
    for pair in group.expect.contacts:
        if moving & set(pair) and any(group.object(name).body in {"rigid", "articulated"} for name in pair):
            return None
    return "no pair in contacts with a solid body, one of them in a motion, fall or collision event; state it"


MOTION = _event("motion", "no motion event with an object; state what moves")

CHECKS: dict[str, Check] = {
    "IF-01": objects_named,
    "IF-02": _text("numbers", "no number word from two up in the prompt; state how many"),
    "IF-03": attributes,
    "IF-04": layout,
    "IF-05": agent,
    "IF-06": _text("stages", "no order word (first, then, after, finally ...); state at least two ordered stages"),
    "IF-07": scene,
    "IF-08": _text("camera", "no camera word (camera, pan, close-up, low angle ...); state viewpoint and motion"),
    "IF-09": _text("style", "no style or light word; state style, mood or lighting"),
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
    "R01": depth_order,
    "R02": solid,
    "R03": turning,
    "R04": layout,
    "R05": parallax,
    "R06": sized,
    "R07": posed,
    "R08": shaded,
    "R09": _text("optics", "no mirror, water, glass or other shiny thing in the prompt; name one"),
    "R10": material,
    "R11": soft_volume,
    "R12": _text("heat", "nothing hot in the prompt; name a flame, a stove, glowing metal ..."),
    "R13": _text("electric", "no magnet or charge in the prompt; name one"),
    "R14": _text("phase", "no phase change in the prompt; say what melts, freezes, boils or condenses"),
    "R15": permanence,
    "R16": MOTION,
    "R17": MOTION,
    "R18": turning,
    "R19": MOTION,
    "R20": rotation,
    "R21": flight,
    "R22": free_collision,
    "R23": chain,
    "R24": contact,
    "R25": interaction,
}


def target_data(groups: Groups) -> Iterator[Finding]:
    """Yield an error for each target whose data the group does not state."""
    for group in groups:
        for dimension in group.dimensions:
            if fault := CHECKS[dimension](group):
                yield Finding("target_data", group.id, f"targets {dimension}, but {fault}")


def _weighed(group: Group) -> bool:
    """Return whether the masses of two colliding bodies are known, by number or by a word such as equal."""
    masses = sum(item.mass is not None for item in _taking_part(group, "collision"))
    return masses >= 2 or bool(words.found(group.prompt, "equal"))


def _measured(group: Group) -> bool:
    """Return whether a body in free flight has a size."""
    return any(group.object(name).size_m for name in group.expect.free_flight)


def half_scaled(groups: Groups) -> Iterator[Finding]:
    """Yield an error when fewer than half of the R22 groups give masses, or of the R21 groups a size."""
    for dimension, known, what in (("R22", _weighed, "masses or say equal"), ("R21", _measured, "size_m in flight")):
        inside = [group for group in groups if dimension in group.dimensions and group.part != "custom"]
        have = sum(known(group) for group in inside)
        if 2 * have < len(inside):
            message = f"{have} of {len(inside)} {dimension} groups state {what}; at least half must"
            yield Finding("half_scaled", None, message)
