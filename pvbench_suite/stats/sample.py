"""Rows of one dimension: one per pair, checked, with what their state means for a mean.

Conventions
-----------
A row is one (video, dimension) pair of ``results.jsonl`` (keys in ``docs/results.md``). Scores are put on the
percentile scale row by row: 1..5 becomes 0, 25, 50, 75, 100.  The cluster of a row is its prompt group, or its own
video if it has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from pvbench_suite import results
from pvbench_suite.dimensions import Dimension, Registry
from pvbench_suite.errors import EVENT_REASONS, UserError
from pvbench_suite.results import Row
from pvbench_suite.scoring import percentile

#: The states of a planned pair; `pending` is one that no run has come to yet.
STATES = (*results.STATES, *(() if "pending" in results.STATES else ("pending",)))
#: States that say nothing about the video; a result that holds one cannot be ranked and passes no gate.
INCOMPLETE = ("not_perceived", "judge_failed", "error", "pending")
#: Fewer scored pairs than this flag a dimension.
FEW = 5

Triple = tuple[str, str, float]

_EVENT = re.compile(r"event_absent:\s*([a-z_]+)")


def check(rows: Iterable[Row], registry: Registry) -> list[Row]:
    """Return the rows as a list if every one can be counted.

    Raises
    ------
    UserError
        For a dimension, state or modality that the suite does not know, and for a scored row without a score 1..5.
    """
    checked = []
    for row in rows:
        where = f"journal row of video {row.get('video')!r}, dimension {row.get('dimension')!r}"
        dimension = registry.get(str(row.get("dimension")))
        if row.get("state") not in STATES:
            raise UserError(f"{where}: unknown state {row.get('state')!r}; the states are {', '.join(STATES)}")
        if row.get("modality") not in dimension.modalities:
            raise UserError(f"{where}: modality {row.get('modality')!r} is none of {', '.join(dimension.modalities)}")
        if row["state"] == "scored" and (type(row.get("score")) is not int or not 1 <= row["score"] <= 5):
            raise UserError(f"{where}: state scored needs a whole score 1 to 5, got {row.get('score')!r}")
        checked.append(row)
    return checked


def points(row: Row) -> float:
    """Return the score of a scored row on the percentile scale."""
    return percentile(row["score"])


def cluster(row: Row) -> str:
    """Return the name of the cluster: the prompt group, else the video."""
    group = row.get("group")
    return f"video {row.get('video')}" if group in (None, "") else f"group {group}"


def pair(row: Row) -> tuple[str, str]:
    """Return what tells the pairs of one dimension apart: video and seed."""
    return str(row.get("video")), str(row.get("seed"))


def event_absent(row: Row) -> bool:
    """Return whether the row is scored 1 because the demanded event did not happen, without a quantity.

    The reason must name one of the fixed event reasons: a judge's free text can't pass for it.
    """
    found = _EVENT.match(str(row.get("reason") or ""))
    return row["state"] == "scored" and row.get("value") is None and bool(found and found[1] in EVENT_REASONS)


def worst_points(row: Row) -> float | None:
    """Return what the row counts in the worst case, or None if it counts nothing there.

    Missing and broken videos count as score 1, and so does what could not be measured where the group targets the
    dimension.
    """
    state = row["state"]
    if state == "scored":
        return points(row)
    if state in ("missing_video", "broken_video") or (state == "unmeasurable" and row.get("targeted")):
        return percentile(1)
    return None


def full_points(row: Row) -> float | None:
    """Return what the row counts in the mean: its score if it is scored."""
    return points(row) if row["state"] == "scored" else None


def measured_points(row: Row) -> float | None:
    """Return what the row counts in `measured_only`: its score unless the event was absent."""
    return points(row) if row["state"] == "scored" and not event_absent(row) else None


def scorer(row: Row) -> tuple[str, str] | None:
    """Return who scored the row, (scorer, thresholds digest), or None.

    Rows without a score have no scorer here, nor has an absent event, which no scorer judged: it goes with any of them.
    """
    if row["state"] != "scored" or event_absent(row):
        return None
    return str(row.get("scorer") or "unknown scorer"), str(row.get("thresholds") or "")


@dataclass(frozen=True)
class Sample:
    """The rows of one dimension of one model, modality and profile.

    Parameters
    ----------
    dimension : Dimension
        Its table.
    rows : tuple of dict
        One per pair: the scored one where a pair has several, else the last.
    every : tuple of dict
        All rows, several per pair where there are several scorers.
    scorers : tuple of (str, str)
        Distinct scorers with their thresholds.
    """

    dimension: Dimension
    rows: tuple[Row, ...]
    every: tuple[Row, ...]
    scorers: tuple[tuple[str, str], ...]

    @property
    def mixed(self) -> bool:
        """Whether several scorers made the scores, so that they have no common mean."""
        return len(self.scorers) > 1

    @cached_property
    def full(self) -> tuple[Triple, ...]:
        """The (dimension, cluster, points) triples of the mean; none if the scorers are mixed."""
        return self._triples(full_points)

    @cached_property
    def worst(self) -> tuple[Triple, ...]:
        """The triples of the worst case; none if the scorers are mixed."""
        return self._triples(worst_points)

    @cached_property
    def measured(self) -> tuple[Triple, ...]:
        """The triples of the mean without absent events; none if the scorers are mixed."""
        return self._triples(measured_points)

    def _triples(self, value: Callable[[Row], float | None]) -> tuple[Triple, ...]:
        if self.mixed:
            return ()
        found = ((row, value(row)) for row in self.rows)
        return tuple((self.dimension.id, cluster(row), number) for row, number in found if number is not None)

    def only(self, who: tuple[str, str]) -> Sample:
        """Return the sample with the scores of one scorer, and the rows that nobody scored."""
        rows = tuple(row for row in self.every if scorer(row) in (None, who))
        return sample(self.dimension, rows)


def sample(dimension: Dimension, rows: Sequence[Row]) -> Sample:
    """Return the sample of one dimension from its rows, one row for each pair."""
    chosen: dict[tuple[str, str], Row] = {}
    for row in rows:
        before = chosen.get(pair(row))
        if before is None or row["state"] == "scored" or before["state"] != "scored":
            chosen[pair(row)] = row
    scorers = tuple(sorted({who for row in rows if (who := scorer(row)) is not None}))
    return Sample(dimension, tuple(chosen.values()), tuple(rows), scorers)


def samples(rows: Iterable[Row], dimensions: Sequence[Dimension]) -> list[Sample]:
    """Return one sample for each of `dimensions`, in their order, empty where no pair was planned."""
    by_dimension: dict[str, list[Row]] = {d.id: [] for d in dimensions}
    for row in rows:
        if row["dimension"] in by_dimension:
            by_dimension[row["dimension"]].append(row)
    return [sample(d, by_dimension[d.id]) for d in dimensions]
