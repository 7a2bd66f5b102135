"""`Finding`: what a rule returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pvbench_suite.prompts.schema import Group


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a rule found.

    Parameters
    ----------
    rule : str
        Name of the rule.
    group : str or None
        Id of the group; None where it concerns the whole suite.
    message : str
        What is wrong and what to do, in one line.
    level : {"error", "note"}
        Notes inform; only errors make a suite wrong.
    """

    rule: str
    group: str | None
    message: str
    level: Literal["error", "note"] = "error"

    def __str__(self) -> str:
        """Return the finding as one line."""
        return f"{self.level}: {self.group or 'suite'}: {self.message} [{self.rule}]"


def suite_part(groups: tuple[Group, ...], part: str | None = None) -> tuple[Group, ...]:
    """Return the groups of `part`, or those of every part of the 600 (all but custom)."""
    return tuple(g for g in groups if (g.part == part if part else g.part != "custom"))
