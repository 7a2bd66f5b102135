"""Parts of the checks of targets: a `Check` takes a group and returns a fault with its remedy, or None."""

from __future__ import annotations

from collections.abc import Callable

from pvbench_suite.prompts import words
from pvbench_suite.prompts.schema import Group, Object

Check = Callable[[Group], str | None]


def has_word(table: str, fault: str) -> Check:
    """Return a check that the prompt has a word of list `table`."""
    return lambda group: None if words.found(group.prompt, table) else fault


def taking_part(group: Group, *events: str) -> list[Object]:
    """Return the objects of these events, in order, with repetitions."""
    return [group.object(name) for kind in events for item in group.events(kind) for name in item.objects]


def has_event(event: str, fault: str) -> Check:
    """Return a check that `event` is demanded of some object."""
    return lambda group: None if taking_part(group, event) else fault


def passive(group: Group, item: Object) -> bool:
    """Return whether nothing inside or outside drives the object all along."""
    always = any(d.object == item.name and d.until == "always" for d in group.expect.driven)
    return not (item.self_propelled or item.fixed or always)


def has_agent(group: Group) -> bool:
    """Return whether a living or jointed body is among the objects."""
    return any(item.self_propelled or item.body == "articulated" for item in group.objects)


def layout(group: Group) -> str | None:
    """IF-04 and R04: two objects and a stated relation."""
    if len(group.objects) < 2 or not words.found(group.prompt, "relations"):
        return "no spatial relation of two objects in the prompt; state one (left of, behind, between ...)"
    return None


def interaction(group: Group) -> str | None:
    """BC-03, BC-05 and R25: something acts on something."""
    return None if group.expect.contacts or group.expect.driven else "no contacts and nothing driven; state what acts"


MOTION = has_event("motion", "no motion event with an object; state what moves")
