"""What a summary is made of: frozen records that turn into plain JSON.

Conventions
-----------
Every mean is on the percentile scale [0, 100].  A number that does not exist is None and some flag says why; there is
no NaN and no zero in its place.  A flag is ``code: text``; the codes are listed in ``docs/results.md``.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pvbench_suite.errors import UserError

#: Version of ``summary.json``; raised when a key changes its meaning or leaves.
SCHEMA = 1

Kind = Literal["dimension", "domain", "layer", "overall"]


@dataclass(frozen=True, slots=True)
class Mean:
    """One way to average a cell.

    Parameters
    ----------
    score : float or None
        Mean over the scored pairs.
    low, high : float or None
        95 % interval of `score` (cluster bootstrap over prompt groups).
    detectable : float or None
        Smallest difference that two samples like this could show.
    worst_case : float or None
        The mean with missing and broken videos, and what could not be measured where it was targeted, counted as 1.
    measured_only : float or None
        The mean without the pairs whose demanded event did not happen.
    """

    score: float | None = None
    low: float | None = None
    high: float | None = None
    detectable: float | None = None
    worst_case: float | None = None
    measured_only: float | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """A dimension, a domain, a layer or the whole, of one model, modality and profile.

    `by_dimension` gives every evaluated dimension the same weight and is the default; `by_domain` averages the domains.
    `parent` is the key of the cell above: a dimension's domain, a domain's layer, a layer's ``overall``.
    """

    kind: Kind
    key: str
    name: str
    parent: str
    by_dimension: Mean
    by_domain: Mean
    scored: int
    planned: int
    coverage: float | None
    states: Mapping[str, int]
    reasons: Mapping[str, int]
    event_absent: int
    groups: int
    evaluated: int
    of: int
    histogram: tuple[int, int, int, int, int]
    scorers: tuple[str, ...]
    by_scorer: Mapping[str, Cell] = field(default_factory=dict)
    still_share: float | None = None
    flags: tuple[str, ...] = ()

    @property
    def score(self) -> float | None:
        """The default mean."""
        return self.by_dimension.score

    @property
    def incomplete(self) -> bool:
        """Whether pairs lack a result for a reason outside the video, so that the cell cannot be ranked."""
        return any(flag.startswith("incomplete:") for flag in self.flags)

    @property
    def partial(self) -> bool:
        """Whether a dimension of the cell has no scored pair."""
        return self.evaluated < self.of


@dataclass(frozen=True, slots=True)
class Contrast:
    """The tagged (high-difficulty) clips of a cell against the rest, over the dimensions scored on both sides.

    `drop` is untagged minus tagged, in points; `relative` is `drop` in percent of untagged.
    """

    key: str
    name: str
    tagged: float | None
    untagged: float | None
    drop: float | None
    low: float | None
    high: float | None
    relative: float | None
    dimensions: int
    tagged_scored: int
    tagged_planned: int
    untagged_scored: int
    untagged_planned: int


@dataclass(frozen=True, slots=True)
class Health:
    """How a judge used its scale in one dimension, or in all (`dimension` None).

    `entropy` is in bits (at most log2 5 = 2.32); `collapsed`: one value for more than 90 % of at least 30 verdicts.
    """

    judge: str
    dimension: str | None
    n: int
    failed: int
    share_at_5: float | None
    mode: int | None
    mode_share: float | None
    entropy: float | None
    collapsed: bool


@dataclass(frozen=True, slots=True)
class Result:
    """All cells of one model, modality and profile, with what made them."""

    model: str
    modality: str
    profile: str
    overall: Cell
    layers: Mapping[str, Cell]
    domains: Mapping[str, Cell]
    dimensions: Mapping[str, Cell]
    incomplete: tuple[str, ...]
    not_planned: tuple[str, ...]
    difficulty: tuple[Contrast, ...]
    judges: tuple[Health, ...]
    remedies: Mapping[str, int]
    warnings: Mapping[str, int]
    assumed: Mapping[str, int]
    suites: tuple[str, ...]
    providers: Mapping[str, tuple[str, ...]]
    thresholds: str
    videos: int
    seconds: float

    def cell(self, key: str) -> Cell:
        """Return the cell called ``overall``, ``L3``, ``MC`` or ``R22``.

        Raises
        ------
        UserError
            If this modality has no such cell.
        """
        if key == "overall":
            return self.overall
        for cells in (self.layers, self.domains, self.dimensions):
            if key in cells:
                return cells[key]
        raise UserError(f"{key!r} is no dimension, domain or layer of modality {self.modality}")


@dataclass(frozen=True, slots=True)
class Difference:
    """Second minus first side, for one cell.

    Parameters
    ----------
    difference : float or None
        Mean paired difference, in points, with its 95 % interval `low`, `high`.
    worst_case : float or None
        Difference of the worst cases.
    pairs, groups : int
        Shared scored pairs, and the prompt groups they come from.
    evaluated, of : int
        Dimensions with a shared pair, of those of the cell.
    verdict : {"higher", "lower", "not decided"}
        Of the second side.
    why : str
        One clause.
    """

    kind: Kind
    key: str
    name: str
    difference: float | None
    low: float | None
    high: float | None
    worst_case: float | None
    pairs: int
    groups: int
    evaluated: int
    of: int
    verdict: Literal["higher", "lower", "not decided"]
    why: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Second minus first side over all cells, in one modality and profile."""

    first: str
    second: str
    modality: str
    profile: str
    cells: Mapping[str, Difference]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """Everything that the reports show, for all models, modalities and profiles of the rows.

    `not_applicable` counts, by dimension, the pairs that are not planned because the dimension does not apply.
    """

    results: tuple[Result, ...]
    gaps: tuple[Comparison, ...]
    not_applicable: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the summary as plain JSON types, with the version of its keys."""
        return {"schema": SCHEMA, **plain(self)}


def plain(value: Any) -> Any:
    """Return dataclasses, mappings and sequences as plain JSON types.

    Raises
    ------
    ValueError
        For a number that is not finite: it should have been None.
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value!r} in a summary; a number that does not exist is None")
    if dataclasses.is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value
