"""Single clips: the worst ones with their reasons, and the pairs that failed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pvbench_suite.results import Row
from pvbench_suite.stats.sample import points
from reports.text import clean, number

#: States that list a pair among the failures.
FAILED = ("broken_video", "judge_failed", "error", "missing_video")


@dataclass(frozen=True, slots=True)
class Finding:
    """One low score of a clip."""

    dimension: str
    score: int
    value: str
    reason: str
    scorer: str


@dataclass(frozen=True, slots=True)
class Clip:
    """A clip with its mean on the percentile scale and its lowest scores."""

    video: str
    seed: str
    group: str
    modality: str
    mean: float
    scored: int
    planned: int
    lowest: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """One way to fail, with how many pairs it took and the first clips."""

    modality: str
    state: str
    reason: str
    pairs: int
    videos: tuple[str, ...]
    more: int


def worst_clips(rows: Iterable[Row], limit: int = 20, lowest: int = 3) -> list[Clip]:
    """Return the `limit` clips with the lowest mean over their scored pairs, worst first.

    Parameters
    ----------
    rows : iterable of dict
        Rows of one model and profile; each dimension of a clip counts alike.
    limit : int
        How many clips.
    lowest : int
        How many of a clip's low scores (below 5) are named.
    """
    clips: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        key = (str(row.get("modality")), str(row.get("video")), "" if row.get("seed") is None else str(row["seed"]))
        clips.setdefault(key, []).append(row)
    found = []
    for (modality, video, seed), own in clips.items():
        scored = sorted((r for r in own if r["state"] == "scored"), key=lambda r: (r["score"], r["dimension"]))
        if not scored:
            continue
        low = tuple(_finding(row) for row in scored[:lowest] if row["score"] < 5)
        mean = sum(points(row) for row in scored) / len(scored)
        group = str(own[0].get("group") or "")
        found.append(Clip(video, seed, group, modality, mean, len(scored), len(own), low))
    return sorted(found, key=lambda c: (c.mean, -c.scored, c.modality, c.video, c.seed))[:limit]


def _finding(row: Row) -> Finding:
    # A dimensionless unit is written 1 and says nothing beside a number.
    unit = "" if row.get("unit") in (None, "1") else str(row["unit"])
    value = "" if row.get("value") is None else f"{number(row['value'], 3)} {unit}".strip()
    # A judge's words stand in the message, an absent event in the reason.
    reason = clean(row.get("reason") or row.get("message") or "")
    return Finding(str(row["dimension"]), row["score"], value, reason, str(row.get("scorer") or ""))


def failures(rows: Iterable[Row], limit: int = 20, named: int = 3) -> list[Failure]:
    """Return the ways in which pairs failed or their videos are missing, the most frequent first."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row["state"] in FAILED:
            reason = clean(row.get("message") or row.get("reason") or "")
            groups.setdefault((str(row.get("modality")), row["state"], reason), []).append(row)
    found = [_failure(key, own, named) for key, own in groups.items()]
    return sorted(found, key=lambda f: (-f.pairs, f.state, f.modality, f.reason))[:limit]


def _failure(key: tuple[str, str, str], rows: Sequence[Row], named: int) -> Failure:
    videos = sorted({str(row.get("video")) for row in rows})
    return Failure(*key, len(rows), tuple(videos[:named]), max(0, len(videos) - named))
