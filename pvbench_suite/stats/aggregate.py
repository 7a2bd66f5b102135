"""Rows -> dimension -> domain -> layer -> overall.

Conventions
-----------
A pair's score 1..5 is put on the percentile scale, (score - 1) / 4 * 100.  A dimension is the mean of its scored
pairs.  `by_dimension` gives every dimension that has a scored pair the same weight, at every level; `by_domain` is
the mean of domain means.  Neither a profile nor a scorer is ever mixed with another in one mean.  The same rows in
any order give the same summary.

References
----------
PVBench (arXiv 2610.26711): equal weight over the dimensions evaluated in each modality.  The states, coverage and
worst case follow the suite's own rules; ``docs/results.md`` states them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pvbench_suite.dimensions import LAYER_NAMES, Registry
from pvbench_suite.results import Row, latest
from pvbench_suite.stats import bootstrap
from pvbench_suite.stats.cells import Cell, Kind, Mean, Result, Summary
from pvbench_suite.stats.difficulty import contrasts
from pvbench_suite.stats.health import health
from pvbench_suite.stats.modality import modality_gaps
from pvbench_suite.stats.notes import flags, provider_ids, remedy, tally, thresholds_digest
from pvbench_suite.stats.sample import (
    INCOMPLETE,
    STATES,
    Sample,
    Triple,
    check,
    cluster,
    event_absent,
    samples,
)


def summarize(rows: Iterable[Row], registry: Registry, not_applicable: Mapping[str, int] | None = None) -> Summary:
    """Return the summary of all models, modalities and profiles in `rows`.

    Parameters
    ----------
    rows : iterable of dict
        Journal rows.  Where a pair stands twice under one scorer, the last row counts.
    registry : Registry
        The dimensions and domains.
    not_applicable : mapping of str to int, optional
        How many pairs the plan left out because the dimension does not apply, by dimension; only handed on.

    Raises
    ------
    UserError
        If a row cannot be counted (see `sample.check`).
    """
    groups: dict[tuple[str, str, str], list[Row]] = {}
    checked = latest(check(rows, registry))
    for row in checked:
        key = (str(row.get("model")), str(row.get("profile")), str(row.get("modality")))
        groups.setdefault(key, []).append(row)
    # T2V before I2V, as the paper has them.
    order = sorted(groups, key=lambda key: (key[0], key[1], key[2] != "t2v", key[2]))
    results = tuple(_result(key, groups[key], registry) for key in order)
    return Summary(results, modality_gaps(checked, registry), dict(not_applicable or {}))


def _result(key: tuple[str, str, str], rows: list[Row], registry: Registry) -> Result:
    model, profile, modality = key
    applicable = [d for d in registry.dimensions if modality in d.modalities]
    found = samples(rows, applicable)
    judges = health(rows)
    collapsed = {h.dimension: h.judge for h in judges if h.collapsed}
    dimensions = {s.dimension.id: dimension_cell(s, collapsed.get(s.dimension.id)) for s in found}
    domains = {
        code: cell("domain", code, domain.name, domain.layer, [s for s in found if s.dimension.domain == code])
        for code, domain in registry.domains.items()
    }
    layers = {
        layer: cell("layer", layer, name, "overall", [s for s in found if s.dimension.layer == layer])
        for layer, name in LAYER_NAMES.items()
    }
    overall = cell("overall", "overall", "overall", "", found)
    return Result(
        model=model,
        modality=modality,
        profile=profile,
        overall=overall,
        layers=layers,
        domains=domains,
        dimensions=dimensions,
        incomplete=tuple(f"{state} {overall.states[state]}" for state in INCOMPLETE if overall.states[state]),
        not_planned=tuple(s.dimension.id for s in found if not s.rows),
        difficulty=contrasts(rows, applicable, registry),
        judges=judges,
        remedies=tally(remedy(row) for row in rows if row["state"] == "not_perceived"),
        warnings=tally(text for row in rows for text in row.get("warnings") or ()),
        assumed=tally(text for row in rows for text in row.get("assumed") or ()),
        suites=tuple(sorted({str(row["suite"]) for row in rows if row.get("suite")})),
        providers=provider_ids(rows),
        thresholds=thresholds_digest(rows),
        videos=len({(row.get("video"), row.get("seed")) for row in rows if row["state"] != "missing_video"}),
        seconds=float(sum(sorted(row.get("seconds") or 0.0 for row in rows))),
    )


def dimension_cell(sample: Sample, collapsed: str | None = None) -> Cell:
    """Return the cell of one dimension; with several scorers it has no score, and a cell for each of them instead."""
    by_scorer: dict[str, Cell] = {}
    if sample.mixed:
        names = Counter(who for who, _ in sample.scorers)
        for who, thresholds in sample.scorers:
            label = who if names[who] == 1 else f"{who} (thresholds {thresholds or 'unknown'})"
            by_scorer[label] = cell(
                "dimension",
                sample.dimension.id,
                sample.dimension.name,
                sample.dimension.domain,
                [sample.only((who, thresholds))],
                planned=len(sample.rows),
            )
    extra = [f"collapse: {collapsed} gives one value to more than 90 %"] if collapsed else []
    d = sample.dimension
    return cell("dimension", d.id, d.name, d.domain, [sample], by_scorer=by_scorer, extra_flags=extra)


def cell(
    kind: Kind,
    key: str,
    name: str,
    parent: str,
    found: Sequence[Sample],
    *,
    planned: int | None = None,
    by_scorer: Mapping[str, Cell] | None = None,
    extra_flags: Sequence[str] = (),
) -> Cell:
    """Return the cell over some dimensions.

    Parameters
    ----------
    kind, key, name, parent : str
        What the cell is.
    found : sequence of Sample
        One sample per dimension of the cell, empty ones included: they make it partial.
    planned : int, optional
        Planned pairs, if more than the samples hold.
    by_scorer : mapping of str to Cell, optional
        Cells of the scorers, where they differ.
    extra_flags : sequence of str
        Flags that only the caller can know.
    """
    rows = [row for s in found for row in s.rows]
    by_dimension, by_domain = _means(kind, found)
    number = len(rows) if planned is None else planned
    counted = _counted(found, rows, number)
    marks = flags(kind, found, counted["states"], number, counted["evaluated"], by_dimension)
    return Cell(
        kind=kind,
        key=key,
        name=name,
        parent=parent,
        by_dimension=by_dimension,
        by_domain=by_domain,
        **counted,
        by_scorer=by_scorer or {},
        flags=(*marks, *extra_flags),
    )


def _counted(found: Sequence[Sample], rows: Sequence[Row], planned: int) -> dict[str, Any]:
    """Return the fields of a cell that are counts."""
    states = Counter(row["state"] for row in rows)
    scored_rows = [row for row in rows if row["state"] == "scored"]
    histogram = Counter(row["score"] for row in scored_rows)
    known_still = [bool(row["still"]) for row in scored_rows if row.get("still") is not None]
    reasons = (str(row.get("reason")).split(":")[0].strip() for row in rows if row["state"] == "unmeasurable")
    return {
        "scored": states["scored"],
        "planned": planned,
        "coverage": states["scored"] / planned if planned else None,
        "states": {state: states[state] for state in STATES},
        "reasons": tally(reasons),
        "event_absent": sum(event_absent(row) for row in rows),
        "groups": len({cluster(row) for row in scored_rows}),
        "evaluated": len([s for s in found if s.full]),
        "of": len(found),
        "histogram": tuple(histogram[k] for k in range(1, 6)),
        "scorers": tuple(sorted({who for s in found for who, _ in s.scorers})),
        "still_share": sum(known_still) / len(known_still) if known_still else None,
    }


def _means(kind: Kind, found: Sequence[Sample]) -> tuple[Mean, Mean]:
    """Return the means by dimension and by domain; `overall` exists only if every dimension contributes."""
    domain_of = {s.dimension.id: s.dimension.domain for s in found}
    every = len(found) if kind == "overall" else 1
    full, worst, measured = ([t for s in found for t in getattr(s, part)] for part in ("full", "worst", "measured"))
    parts: list[dict[str, float | None]] = [{}, {}]
    for name, triples in (("worst_case", worst), ("measured_only", measured)):
        for place, domains in zip(parts, (None, domain_of), strict=True):
            place[name] = _estimate(triples, domains, every)
    intervals = _intervals(full, domain_of, every)
    by_dimension = Mean(**intervals[0], **parts[0])
    single = kind in ("dimension", "domain")
    return by_dimension, by_dimension if single else Mean(**intervals[1], **parts[1])


def _estimate(triples: Sequence[Triple], domain_of: Mapping[str, str] | None, every: int) -> float | None:
    """Return the folded mean of the triples, or None if fewer than `every` dimensions have one."""
    if not triples:
        return None
    table = bootstrap.tabulate(triples)
    if len(table.columns) < every:
        return None
    parts = None if domain_of is None else [domain_of[c] for c in table.columns]
    return float(bootstrap.fold(bootstrap.column_means(table)[None], parts)[0])


def _intervals(
    triples: Sequence[Triple], domain_of: Mapping[str, str], every: int
) -> tuple[dict[str, float | None], dict[str, float | None]]:
    """Return score, low, high and detectable by dimension and by domain, from the same draws."""
    if not triples or len({dimension for dimension, _, _ in triples}) < every:
        return {}, {}
    table = bootstrap.tabulate(triples)
    draws = bootstrap.draw_means(table)
    means = bootstrap.column_means(table)[None]
    both = []
    for parts in (None, [domain_of[c] for c in table.columns]):
        score = float(bootstrap.fold(means, parts)[0])
        low, high = bootstrap.interval(bootstrap.fold(draws, parts), score, table.clusters) or (None, None)
        both.append({"score": score, "low": low, "high": high, "detectable": bootstrap.shows(low, high)})
    return both[0], both[1]
