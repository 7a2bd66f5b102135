"""`Judge`: who scores 1..5 by a rubric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pvbench_suite.dimensions import Dimension
from pvbench_suite.prompts.schema import Group
from pvbench_suite.video.types import Clip, Video

#: What a pair says where no judge is configured.
REMEDY = "override the `judge` fixture with one of your own (docs/judge.md); this version has no backend of its own"


@dataclass(frozen=True)
class Verdict:
    """A valid answer: an integer score 1..5 with its reason."""

    score: int
    reason: str

    def __post_init__(self) -> None:
        if type(self.score) is not int or not 1 <= self.score <= 5:
            raise ValueError(f"a verdict's score is an integer 1..5, got {self.score!r}")


class Judge(Protocol):
    """Scores one video on one dimension."""

    def id(self, dimension: Dimension) -> str:
        """Return backend, model, revision and a digest of rubric and sampling: part of every row's identity."""

    def __call__(self, video: Video, clip: Clip, group: Group | None, dimension: Dimension) -> Verdict:
        """Return the verdict.

        Raises
        ------
        Unmeasurable
            ``not_observable``, when the judge says so.
        JudgeFailed
            When there is no valid verdict after the retries.
        """
