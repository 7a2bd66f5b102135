"""Rules that count over the 600: totals of the parts, ids, targets, embodied groups.

A total is held against a part once the part is complete; before that it is a note ("incomplete: 40 of 230 hybrids"),
and an error only when it can no longer come out right.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from pvbench_suite.prompts.catalogue import dimension_ids, pairs
from pvbench_suite.prompts.rules.finding import Finding, suite_part
from pvbench_suite.prompts.schema import Group

Groups = tuple[Group, ...]

#: Groups and embodied groups of each part (spec ``prompts.md``: 180 of 600, 70 of them in the supplement).
TOTALS = {"single": 230, "hybrid": 230, "supplement": 140}
EMBODIED = {"single": 55, "hybrid": 55, "supplement": 70}
PREFIX = {"single": "s", "hybrid": "h", "supplement": "x"}
PER_DIMENSION = TOTALS["single"] // 46
PER_PAIR = TOTALS["hybrid"] // 23
MIN_TARGETS = 15


def part_totals(groups: Groups) -> Iterator[Finding]:
    """Yield a note for each part that is not complete, an error for one that has too many groups."""
    for part, total in TOTALS.items():
        have = len(suite_part(groups, part))
        if have < total:
            yield Finding("part_totals", None, f"incomplete: {have} of {total} {part}s", "note")
        elif have > total:
            yield Finding("part_totals", None, f"{have} {part}s, {have - total} more than {total}; take some out")


def unique_ids(groups: Groups) -> Iterator[Finding]:
    """Yield an error for each id that an earlier group has, upper and lower case alike."""
    seen: dict[str, str] = {}
    for group in groups:
        if (key := group.id.casefold()) in seen:
            yield Finding("unique_ids", group.id, f"the id equals {seen[key]!r} but for case; give it another number")
        seen.setdefault(key, group.id)


def _number(group: Group) -> int | None:
    """Return the number in the id of a group of the 600, or None where the id does not fit its part."""
    match = re.fullmatch(PREFIX[group.part] + r"([0-9]{3})", group.id)
    number = int(match[1]) if match else 0
    return number if 1 <= number <= TOTALS[group.part] else None


def ids_of_part(groups: Groups) -> Iterator[Finding]:
    """Yield an error for each id that is not s001-s230, h001-h230 or x001-x140 as its part asks."""
    for group in suite_part(groups):
        if _number(group) is None:
            letter, total = PREFIX[group.part], TOTALS[group.part]
            message = f"ids of part {group.part} are {letter}001 to {letter}{total}; rename it or change its part"
            yield Finding("ids_of_part", group.id, message)


def target_of_id(groups: Groups) -> Iterator[Finding]:
    """Yield an error where the targets are not those of the place: singles go by dimension, hybrids by pair."""
    for group in suite_part(groups):
        number, have = _number(group), set(group.dimensions)
        if group.part == "supplement":
            if not 2 <= len(have) <= 4:
                yield Finding("target_of_id", group.id, f"has {len(have)} targets; a supplement group has 2 to 4")
            continue
        if number is None:
            continue
        single = group.part == "single"
        wanted = {dimension_ids()[(number - 1) // PER_DIMENSION]} if single else set(pairs()[(number - 1) // PER_PAIR])
        if have != wanted:
            place = f"{group.id} is a place of {' + '.join(sorted(wanted))}"
            yield Finding("target_of_id", group.id, f"targets {' + '.join(sorted(have)) or 'nothing'}, but {place}")


def targets_per_dimension(groups: Groups) -> Iterator[Finding]:
    """Yield an error for each dimension with fewer than 15 target groups, once singles and hybrids are complete."""
    if any(len(suite_part(groups, part)) < TOTALS[part] for part in ("single", "hybrid")):
        return
    counts = Counter(d for group in suite_part(groups) for d in group.dimensions)
    for dimension in dimension_ids():
        if counts[dimension] < MIN_TARGETS:
            message = f"{dimension} is a target of {counts[dimension]} groups, fewer than {MIN_TARGETS}; add some"
            yield Finding("targets_per_dimension", None, message)


def embodied_total(groups: Groups) -> Iterator[Finding]:
    """Yield an error for each part whose embodied groups are not, or cannot become, 55, 55 and 70."""
    for part, wanted in EMBODIED.items():
        inside = suite_part(groups, part)
        have = sum("embodied" in group.tags for group in inside)
        open_places = max(0, TOTALS[part] - len(inside))
        if have > wanted:
            yield Finding("embodied_total", None, f"{have} {part}s are embodied, more than {wanted}; retag or rewrite")
        elif have + open_places < wanted:
            message = (
                f"{have} {part}s are embodied and {open_places} are to come, but {wanted} are needed; put agents in"
            )
            yield Finding("embodied_total", None, message)
        elif have < wanted:
            yield Finding("embodied_total", None, f"incomplete: {have} of {wanted} embodied {part}s", "note")
