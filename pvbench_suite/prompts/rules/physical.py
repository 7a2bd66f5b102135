"""What a group states when it targets one of the 25 physical dimensions; one check per dimension."""

from __future__ import annotations

from pvbench_suite.prompts import words
from pvbench_suite.prompts.rules.checks import MOTION, Check, has_word, interaction, layout, passive, taking_part
from pvbench_suite.prompts.schema import Group

SIDES = frozenset({"dolly", "orbit", "handheld", "follow"})  # cameras that change place; pan and tilt only turn


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
    if any(item.body == "rigid" for item in taking_part(group, "rotation")):
        return None
    around = group.expect.camera in SIDES and group.events("camera_move")
    if around and any(item.body == "rigid" for item in group.objects):
        return None
    return "no rigid body in a rotation event, and no camera that goes around one; add either"


def rotation(group: Group) -> str | None:
    """R20: a rigid body that itself turns, with its symmetry, which settles what a turn looks like."""
    bodies = [item for item in taking_part(group, "rotation") if item.body == "rigid"]
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
    moving = {item.name for item in taking_part(group, "motion", "fall", "collision", "rotation", "deformation")}
    if any(item.fixed or (passive(group, item) and item.name not in moving) for item in group.objects):
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
    if any(item.body == "soft" and item.incompressible for item in taking_part(group, "deformation")):
        return None
    return "no soft body with incompressible true in a deformation event; name one (jelly, dough, rubber ...)"


def permanence(group: Group) -> str | None:
    """R15: something passes out of sight, or several things move that must all stay."""
    if group.events("occlusion") or (len(group.objects) >= 2 and taking_part(group, "motion", "fall", "collision")):
        return None
    return "no occlusion event, and no motion among two objects; let something be hidden and come back"


def flight(group: Group) -> str | None:
    """R21: a body in free flight that is seen to fall."""
    falling = {item.name for item in taking_part(group, "fall")}
    if any(name in falling and not group.object(name).self_propelled for name in group.expect.free_flight):
        return None
    return "no passive body stands in free_flight and in a fall event; state both for the flying body"


def free_collision(group: Group) -> str | None:
    """R22: two free bodies in contacts and in one collision event."""
    for item in group.events("collision"):
        for pair in group.expect.contacts:
            if set(pair) <= set(item.objects) and all(passive(group, group.object(name)) for name in pair):
                return None
    return "no collision event whose two free bodies stand in contacts (fixed, driven, self-propelled do not count)"


def chain(group: Group) -> str | None:
    """R23: a passive body that bounces or swings."""
    bodies = taking_part(group, "fall", "collision", "motion", "rotation")
    if not any(passive(group, item) for item in bodies):
        return "no passive body in a fall, collision or motion event; list one"
    return None if words.found(group.prompt, "bounces") else "nothing bounces, swings or rolls in the prompt; let it"


def contact(group: Group) -> str | None:
    """R24: bodies that touch and of which one is solid and moves."""
    moving = {item.name for item in taking_part(group, "motion", "fall", "collision")}
    for pair in group.expect.contacts:
        if moving & set(pair) and any(group.object(name).body in {"rigid", "articulated"} for name in pair):
            return None
    return "no pair in contacts with a solid body, one of them in a motion, fall or collision event; state it"


PHYSICAL: dict[str, Check] = {
    "R01": depth_order,
    "R02": solid,
    "R03": turning,
    "R04": layout,
    "R05": parallax,
    "R06": sized,
    "R07": posed,
    "R08": shaded,
    "R09": has_word("optics", "no mirror, water, glass or other shiny thing in the prompt; name one"),
    "R10": material,
    "R11": soft_volume,
    "R12": has_word("heat", "nothing hot in the prompt; name a flame, a stove, glowing metal ..."),
    "R13": has_word("electric", "no magnet or charge in the prompt; name one"),
    "R14": has_word("phase", "no phase change in the prompt; say what melts, freezes, boils or condenses"),
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
