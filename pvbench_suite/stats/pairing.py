"""Which pairs of two sides belong together, and whether they were scored alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pvbench_suite.dimensions import Dimension
from pvbench_suite.errors import UserError
from pvbench_suite.stats.notes import provider_ids
from pvbench_suite.stats.sample import Sample, Triple, cluster, points


@dataclass(frozen=True, slots=True)
class Side:
    """One dimension of both sides, with the differences of their shared pairs."""

    first: Sample
    second: Sample
    differences: tuple[Triple, ...]

    @property
    def dimension(self) -> Dimension:
        """The dimension."""
        return self.first.dimension


def paired(first: Sample, second: Sample) -> tuple[Triple, ...]:
    """Return (dimension, cluster, second minus first) of the shared scored pairs."""
    scores = [_by_seed(side) for side in (first, second)]
    found: list[Triple] = []
    for unit in scores[0].keys() & scores[1].keys():
        a, b = scores[0][unit], scores[1][unit]
        if seeds := a.keys() & b.keys():
            found += [(first.dimension.id, unit, _mean(b[seed]) - _mean(a[seed])) for seed in seeds]
        else:
            every = [[p for values in side.values() for p in values] for side in (a, b)]
            found.append((first.dimension.id, unit, _mean(every[1]) - _mean(every[0])))
    return tuple(sorted(found))


def _by_seed(side: Sample) -> dict[str, dict[str, list[float]]]:
    scores: dict[str, dict[str, list[float]]] = {}
    for row in side.rows:
        if row["state"] == "scored":
            scores.setdefault(cluster(row), {}).setdefault(str(row.get("seed")), []).append(points(row))
    return scores


def _mean(values: Sequence[float]) -> float:
    return sum(sorted(values)) / len(values)


def refuse_unlike(sides: Sequence[Side], names: tuple[str, str]) -> None:
    """Raise `UserError` unless both sides of every dimension that both have scored were scored alike."""
    for side in sides:
        if not (side.first.scorers and side.second.scorers):
            continue
        for what, a, b in _identities(side):
            if a != b or (len(a) > 1 and what in ("scorer", "thresholds")):
                raise UserError(
                    f"{side.dimension.id}: {what} of {names[0]}: {', '.join(sorted(a))}; of {names[1]}: "
                    f"{', '.join(sorted(b))}. Only scores that were made alike are compared: score both the same way, "
                    "or leave the dimension out"
                )


def _identities(side: Side) -> Iterator[tuple[str, set[str], set[str]]]:
    """Yield (what, first, second) of everything that must be the same on both sides."""
    for what, place in (("scorer", 0), ("thresholds", 1)):
        yield what, {who[place] for who in side.first.scorers}, {who[place] for who in side.second.scorers}
    first, second = _providers(side.first), _providers(side.second)
    # A product that only one side used (optional evidence) is no contradiction.
    for product in sorted(first.keys() & second.keys()):
        yield f"{product} provider", first[product], second[product]


def _providers(sample: Sample) -> dict[str, set[str]]:
    return {k: set(v) for k, v in provider_ids(row for row in sample.rows if row["state"] == "scored").items()}
