"""Rules on targets: a group that targets a dimension states what that dimension is measured or judged on.

`CHECKS` has one check per dimension: group in, fault with its remedy out, or None.  A check asks for the least without
which the dimension has nothing to see; whether a group is *good* is for people.
"""

from __future__ import annotations

from collections.abc import Iterator

from pvbench_suite.prompts import words
from pvbench_suite.prompts.rules.checks import Check, taking_part
from pvbench_suite.prompts.rules.finding import Finding
from pvbench_suite.prompts.rules.physical import PHYSICAL
from pvbench_suite.prompts.rules.semantic import SEMANTIC
from pvbench_suite.prompts.schema import Group

Groups = tuple[Group, ...]

CHECKS: dict[str, Check] = {**SEMANTIC, **PHYSICAL}


def target_data(groups: Groups) -> Iterator[Finding]:
    """Yield an error for each target whose data the group does not state."""
    for group in groups:
        for dimension in group.dimensions:
            if fault := CHECKS[dimension](group):
                yield Finding("target_data", group.id, f"targets {dimension}, but {fault}")


def _weighed(group: Group) -> bool:
    """Return whether the masses of two colliding bodies are known, by number or by a word such as equal."""
    masses = sum(item.mass is not None for item in taking_part(group, "collision"))
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
