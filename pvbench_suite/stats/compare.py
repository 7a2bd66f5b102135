"""Comparison of two models, or of the two modalities of one model: what the clips that both have scored say.

Conventions
-----------
A difference is second minus first, in points of the percentile scale.  Pairs are matched by dimension, prompt group
(or video, without a group) and seed; where the sides share no seed of a group, each side's mean over its seeds is
taken.  Dimensions have the same weight; one that is absent on either side leaves both.  Only like is compared with
like: another profile, scorer, threshold table or provider is refused, with the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Literal

from pvbench_suite.dimensions import LAYER_NAMES, Dimension, Registry
from pvbench_suite.errors import UserError
from pvbench_suite.results import Row, latest
from pvbench_suite.stats import bootstrap
from pvbench_suite.stats.cells import Comparison, Difference, Kind
from pvbench_suite.stats.pairing import Side, paired, refuse_unlike
from pvbench_suite.stats.sample import INCOMPLETE, check, samples

Verdict = Literal["higher", "lower", "not decided"]


def compare(
    first: Iterable[Row],
    second: Iterable[Row],
    registry: Registry,
    *,
    names: tuple[str, str] | None = None,
    dimensions: Collection[str] | None = None,
) -> tuple[Comparison, ...]:
    """Return second minus first in every modality that both sides have.

    Parameters
    ----------
    first, second : iterable of dict
        Journal rows, of one model and one profile each.
    registry : Registry
        The dimensions and domains.
    names : (str, str), optional
        What to call the sides; the models' names if not given.
    dimensions : collection of str, optional
        Ids to compare; all if not given.

    Raises
    ------
    UserError
        If a side holds several models or profiles, if the sides share no modality, or if they were not scored alike.
    """
    rows = tuple(_chosen(side, registry, dimensions) for side in (first, second))
    models, profiles = ([_only(side, key) for side in rows] for key in ("model", "profile"))
    names = names or (models[0], models[1])
    if profiles[0] != profiles[1]:
        raise UserError(
            f"{names[0]} was scored with profile {profiles[0]}, {names[1]} with {profiles[1]}: their numbers are not "
            "comparable; score both with one profile"
        )
    shared = sorted({row["modality"] for row in rows[0]} & {row["modality"] for row in rows[1]}, reverse=True)
    if not shared:
        raise UserError(f"{names[0]} and {names[1]} share no modality; compare T2V with T2V or I2V with I2V")
    found = []
    for modality in shared:
        first_rows, second_rows = ([row for row in side if row["modality"] == modality] for side in rows)
        found.append(difference(first_rows, second_rows, registry, names, modality, profiles[0]))
    return tuple(found)


def difference(
    first: Sequence[Row],
    second: Sequence[Row],
    registry: Registry,
    names: tuple[str, str],
    modality: str,
    profile: str,
    keys: Collection[str] | None = None,
) -> Comparison:
    """Return the comparison of two sets of rows that belong together (one model, profile and modality each).

    `keys` names the wanted cells (``overall``, ``L3``, ``MC``, ``R22``); all if not given.

    Raises
    ------
    UserError
        If scorers, thresholds or providers differ in a dimension that both have scored.
    """
    modalities = {row["modality"] for row in (*first, *second)}
    common = [d for d in registry.dimensions if modalities <= set(d.modalities)]
    wanted = [m for m in _members(common, registry) if keys is None or m[1] in keys]
    inside = set().union(*(members for _, _, _, members in wanted))
    common = [d for d in common if d.id in inside]
    sides = [Side(a, b, paired(a, b)) for a, b in zip(samples(first, common), samples(second, common), strict=True)]
    refuse_unlike(sides, names)
    cells = {
        key: _cell(kind, key, name, [s for s in sides if s.dimension.id in members], names)
        for kind, key, name, members in wanted
    }
    suites = [sorted({str(row["suite"]) for row in side if row.get("suite")}) for side in (first, second)]
    notes = () if suites[0] == suites[1] else (f"suite versions differ: {suites[0]} and {suites[1]}",)
    return Comparison(*names, modality, profile, cells, notes)


def _members(dimensions: Sequence[Dimension], registry: Registry) -> Iterator[tuple[Kind, str, str, set[str]]]:
    """Yield (kind, key, name, dimension ids) of every cell."""
    yield "overall", "overall", "overall", {d.id for d in dimensions}
    for layer, name in LAYER_NAMES.items():
        yield "layer", layer, name, {d.id for d in dimensions if d.layer == layer}
    for code, domain in registry.domains.items():
        yield "domain", code, domain.name, {d.id for d in dimensions if d.domain == code}
    for d in dimensions:
        yield "dimension", d.id, d.name, {d.id}


def _chosen(rows: Iterable[Row], registry: Registry, dimensions: Collection[str] | None) -> list[Row]:
    wanted = None if dimensions is None else {registry.get(d).id for d in dimensions}
    return [row for row in latest(check(rows, registry)) if wanted is None or row["dimension"] in wanted]


def _only(rows: Sequence[Row], key: str) -> str:
    found = sorted({str(row.get(key)) for row in rows})
    if len(found) != 1:
        raise UserError(f"a comparison needs one {key} on each side, got {', '.join(found) or 'no rows'}")
    return found[0]


def _cell(kind: Kind, key: str, name: str, sides: Sequence[Side], names: tuple[str, str]) -> Difference:
    shared = [s for s in sides if s.differences]
    number, ends, groups = None, None, 0
    if shared and (kind != "overall" or len(shared) == len(sides)):
        table = bootstrap.tabulate(t for s in shared for t in s.differences)
        groups = table.clusters
        number = float(bootstrap.fold(bootstrap.column_means(table)[None])[0])
        draws = bootstrap.fold(bootstrap.draw_means(table))
        ends = bootstrap.interval(draws, number, groups, bootstrap.DIFFERENCES)
    low, high = ends or (None, None)
    worst = _worst_difference(kind, sides)
    if shared and number is None:
        verdict, why = _undecided(f"partial: {len(shared)} of {len(sides)} dimensions have a shared pair")
    else:
        verdict, why = _verdict(number, low, high, worst, _lacking(shared, names))
    pairs = sum(len(s.differences) for s in shared)
    return Difference(kind, key, name, number, low, high, worst, pairs, groups, len(shared), len(sides), verdict, why)


def _worst_difference(kind: Kind, sides: Sequence[Side]) -> float | None:
    """Return the difference of the worst cases over the dimensions that have one on both sides.

    These may be more than those with a shared pair: a dimension that one side lost altogether counts here.
    """
    both = [(s.first.worst, s.second.worst) for s in sides]
    both = [(a, b) for a, b in both if a and b]
    if not both or (kind == "overall" and len(both) < len(sides)):
        return None
    tables = [bootstrap.tabulate(t for pair in both for t in pair[side]) for side in (0, 1)]
    means = [float(bootstrap.fold(bootstrap.column_means(t)[None])[0]) for t in tables]
    return means[1] - means[0]


def _lacking(shared: Sequence[Side], names: tuple[str, str]) -> str:
    """Return which states keep a side from being ranked, in the dimensions that enter."""
    parts = []
    sides = ([s.first for s in shared], [s.second for s in shared])
    for name, side in zip(names, sides, strict=True):
        rows = [row for sample in side for row in sample.rows]
        counts = {state: sum(row["state"] == state for row in rows) for state in INCOMPLETE}
        parts += [f"{name} has {state} {number}" for state, number in counts.items() if number]
    return ", ".join(parts)


def _undecided(why: str) -> tuple[Verdict, str]:
    return "not decided", why


def _verdict(
    number: float | None, low: float | None, high: float | None, worst: float | None, lacking: str
) -> tuple[Verdict, str]:
    """Return the verdict on the second side and one clause that says why."""
    if number is None:
        return _undecided("no shared scored pair")
    if lacking:
        return _undecided(f"incomplete: {lacking}")
    if worst is None or (number > 0) != (worst > 0) or (number < 0) != (worst < 0):
        return _undecided("the paired difference and the difference of worst cases differ in sign")
    if low is None or high is None:
        return _undecided("one prompt group has no interval")
    if low <= 0.0 <= high:
        return _undecided("the 95 % interval holds 0")
    return ("higher" if number > 0 else "lower"), "both differences agree in sign, and the interval leaves 0 out"
