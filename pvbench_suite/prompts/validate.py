"""Checks prompt groups by every rule of spec ``prompts.md``.

A rule is a function that takes all groups and yields `Finding` objects.  The groups of the 600 have to hold all rules.
A user's own groups (part ``custom``) are exempt from those that count or compare the 600; the others speak of them in
notes, since what a user asks for is theirs to decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from pvbench_suite.prompts.rules import counts, structure, targets, text
from pvbench_suite.prompts.rules.finding import Finding
from pvbench_suite.prompts.schema import Group

Rule = Callable[[tuple[Group, ...]], Iterator[Finding]]

RULES: tuple[Rule, ...] = (
    counts.part_totals,
    counts.unique_ids,
    counts.ids_of_part,
    counts.target_of_id,
    counts.targets_per_dimension,
    counts.embodied_total,
    structure.complete,
    structure.judge_notes,
    structure.tags_hold,
    structure.camera_and_light,
    structure.events_fit,
    structure.expect_consistent,
    targets.target_data,
    targets.half_scaled,
    text.length,
    text.english,
    text.no_names,
    text.filmable,
    text.observable,
    text.nouns_in_prompt,
    text.overlap,
    text.common_grams,
)

#: Rules that speak of what the 600 still lack.
TOTALS: tuple[Rule, ...] = (counts.part_totals, counts.embodied_total)


@dataclass(frozen=True, slots=True)
class Report:
    """What all rules found, in the order of the rules and then of the groups."""

    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Return the findings that make the suite wrong."""
        return tuple(f for f in self.findings if f.level == "error")

    @property
    def notes(self) -> tuple[Finding, ...]:
        """Return the findings that only inform."""
        return tuple(f for f in self.findings if f.level == "note")


def validate(groups: Iterable[Group]) -> Report:
    """Return what every rule finds in `groups` (a `Suite` or any iterable of groups)."""
    items = tuple(groups)
    custom = {group.id for group in items if group.part == "custom"}
    all_custom = bool(items) and len(custom) == len(items)
    found = []
    for rule in RULES:
        if all_custom and rule in TOTALS:
            continue
        for finding in rule(items):
            soft = finding.group in custom and rule is not counts.unique_ids
            found.append(replace(finding, level="note") if soft else finding)
    return Report(tuple(found))
