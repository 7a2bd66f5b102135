"""The plan: which (video, dimension) pairs a run owes, which are done, and which videos are missing.

Planned = every applicable pair of the suite's groups, whether or not its video is there; a video that belongs to no
group is
planned for every dimension that needs no expectation.  A dimension that does not apply has no pair and is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pvbench_suite.dimensions import Dimension, Registry
from pvbench_suite.prompts.brief import Brief
from pvbench_suite.prompts.loader import Suite
from pvbench_suite.prompts.schema import Group
from pvbench_suite.results import DONE, Row, identity
from pvbench_suite.video.types import Modality, Video

#: Expectations that need nothing from a prompt.
FREE = frozenset({"none", "assumed"})


@dataclass(frozen=True)
class Planned:
    """One video of the plan: the ids of its dimensions, and of those that would be planned but do not apply.

    `exists` is False for a group without a file.
    """

    video: Video
    group: Group | None
    dimensions: tuple[str, ...]
    exists: bool = True
    idle: tuple[str, ...] = ()

    @property
    def brief(self) -> Brief:
        """What the prompt says of the scene, in machine-readable form."""
        return Brief(self.group)


@dataclass
class Plan:
    """All planned videos of a run, in order."""

    videos: list[Planned] = field(default_factory=list)

    @property
    def pairs(self) -> int:
        """The number of planned pairs."""
        return sum(len(p.dimensions) for p in self.videos)


def applies(dimension: Dimension, group: Group | None, modality: Modality, prompt: str | None) -> bool:
    """Return whether `dimension` is applicable to a video.

    IF-10 in T2V and an expectation that is required and absent are not; nor is what needs a prompt where there is none.
    """
    if modality not in dimension.modalities:
        return False
    if dimension.expectation == "prompt":
        return group is not None or bool(prompt)
    if dimension.expectation == "required":
        return group is not None and Brief(group).offers(dimension.assumes)
    if dimension.expectation == "reference":
        return True
    return dimension.expectation in FREE


def dimensions_of(
    registry: Registry, group: Group | None, video: Video, scope: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the ids of the planned dimensions of a video, and of those that do not apply.

    `scope` "targeted": a group's own dimensions and every perceptual one; "all": every applicable one.  A video
    without a
    group has no targets, so it is planned for all that apply; a manifest's own list of dimensions wins over both.
    """
    wanted: Iterable[Dimension]
    if video.dimensions is not None:
        wanted = [registry.get(i) for i in video.dimensions]
    elif scope == "targeted" and group is not None and group.dimensions:
        wanted = [d for d in registry.dimensions if d.layer == "L2" or d.id in group.dimensions]
    else:
        wanted = registry.dimensions
    planned: list[str] = []
    idle: list[str] = []
    for dimension in wanted:
        (planned if applies(dimension, group, video.modality, video.prompt) else idle).append(dimension.id)
    return tuple(planned), tuple(idle)


def plan(
    registry: Registry,
    suite: Suite,
    videos: Sequence[Video],
    missing: Sequence[tuple[str, Modality]],
    model: str,
    scope: str = "targeted",
) -> Plan:
    """Return the plan of one model: its videos in the order given, then the groups without a file."""
    from pathlib import Path

    out = Plan()
    absent = [Video(group, Path(), model, modality, group=group) for group, modality in missing]
    for video, exists in [(v, True) for v in videos] + [(v, False) for v in absent]:
        group = suite.get(video.group) if video.group else None
        planned, idle = dimensions_of(registry, group, video, scope)
        out.videos.append(Planned(video, group, planned, exists, idle))
    return out


def blank_row(
    planned: Planned, dimension: Dimension, *,
    profile: str, providers: Mapping[str, str], scorer: str, digest: str | None, suite: str,
    thresholds: str | None = None,
) -> Row:  # fmt: skip
    """Return the row of a pair before it has an outcome: everything that identifies it.

    `thresholds` is the dimension's digest, where the caller has it at hand.
    """
    video, group = planned.video, planned.group
    return {
        "schema": 1,
        "suite": suite,
        "dimension": dimension.id,
        "model": video.model,
        "modality": video.modality,
        "group": video.group,
        "video": video.id,
        "seed": video.seed,
        "video_sha256": digest,
        "targeted": bool(group and dimension.id in group.dimensions),
        "tags": list(group.tags) if group else [],
        "brief": group.digest() if group else None,
        "state": "error",
        "reason": "",
        "value": None,
        "unit": dimension.unit,
        "score": None,
        "n": None,
        "spread": None,
        "assumed": [],
        "scorer": scorer,
        "providers": dict(providers),
        "thresholds": thresholds or dimension.digest(),
        "profile": profile,
        "attempt": 1,
        "seconds": None,
        "warnings": [],
        "message": "",
        "judge": None,
    }


def pair_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return (model, modality, video, dimension): what names a pair within one profile."""
    return (row["model"], row["modality"], row["video"], row["dimension"])


class Ledger:
    """What the journal says of the planned pairs: done or not, and how often tried."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._last: dict[tuple[str, ...], Row] = {}
        self._tries: Counter[str] = Counter()
        for row in rows:
            self._last[(*pair_of(row), row["scorer"])] = row
            self._tries[identity(row)] += 1

    def done(self, row: Row) -> bool:
        """Return whether the last row of this pair is a result under the same identity."""
        last = self._last.get((*pair_of(row), row["scorer"]))
        return last is not None and last["state"] in DONE and identity(last) == identity(row)

    def same(self, row: Row) -> bool:
        """Return whether the last row of this pair says the same state under the same identity."""
        last = self._last.get((*pair_of(row), row["scorer"]))
        return last is not None and last["state"] == row["state"] and identity(last) == identity(row)

    def attempt(self, row: Row) -> int:
        """Return the number of the next try of this pair under this identity."""
        return self._tries[identity(row)] + 1
