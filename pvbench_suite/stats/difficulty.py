"""The high-difficulty subset: clips of tagged groups against the rest.

The subset is by tag (embodied, occlusion, clutter, camera_motion), whatever part of the suite a group is in.  Both
sides are averaged over the dimensions that are scored on both, so that the contrast is not one of which dimensions
happen to be there.
"""

from __future__ import annotations

from collections.abc import Sequence

from pvbench_suite.dimensions import LAYER_NAMES, Dimension, Registry
from pvbench_suite.results import Row
from pvbench_suite.stats import bootstrap
from pvbench_suite.stats.cells import Contrast
from pvbench_suite.stats.sample import Sample, samples

#: The tags that make a group difficult.
DIFFICULT = frozenset({"embodied", "occlusion", "clutter", "camera_motion"})


def difficult(row: Row) -> bool:
    """Return whether the row's group carries a tag of high difficulty."""
    return not DIFFICULT.isdisjoint(row.get("tags") or ())


def contrasts(rows: Sequence[Row], dimensions: Sequence[Dimension], registry: Registry) -> tuple[Contrast, ...]:
    """Return the contrast of every layer and domain; empty if no row is tagged, or all are.

    Parameters
    ----------
    rows : sequence of dict
        Rows of one model, modality and profile.
    dimensions : sequence of Dimension
        The dimensions of the modality.
    registry : Registry
        Gives the domains.
    """
    tagged = samples((row for row in rows if difficult(row)), dimensions)
    plain = samples((row for row in rows if not difficult(row)), dimensions)
    if not any(s.rows for s in tagged) or not any(s.rows for s in plain):
        return ()
    both = list(zip(tagged, plain, strict=True))
    layers = [
        _contrast(layer, name, [(a, b) for a, b in both if a.dimension.layer == layer])
        for layer, name in LAYER_NAMES.items()
    ]
    domains = [
        _contrast(code, domain.name, [(a, b) for a, b in both if a.dimension.domain == code])
        for code, domain in registry.domains.items()
    ]
    return tuple(layers + domains)


def _contrast(key: str, name: str, both: Sequence[tuple[Sample, Sample]]) -> Contrast:
    # Two scorers, one on each side, would be compared with each other here: such a dimension is left out.
    shared = [(a.full, b.full) for a, b in both if a.scorers and a.scorers == b.scorers and not a.mixed]
    shared = [(a, b) for a, b in shared if a and b]
    means: list[float | None] = [None, None]
    drop = relative = None
    ends: tuple[float | None, float | None] = (None, None)
    if shared:
        tables = [bootstrap.tabulate(t for pair in shared for t in pair[side]) for side in (0, 1)]
        low, high = (float(bootstrap.fold(bootstrap.column_means(t)[None])[0]) for t in tables)
        means, drop = [low, high], high - low
        relative = 100.0 * drop / high if high > 0 else None
        draws = [bootstrap.fold(bootstrap.draw_means(t)) for t in tables]
        fewest = min(t.clusters for t in tables)
        ends = bootstrap.interval(draws[1] - draws[0], drop, fewest, bootstrap.DIFFERENCES) or (None, None)
    rows = [[row for pair in both for row in pair[side].rows] for side in (0, 1)]
    scored = [sum(row["state"] == "scored" for row in side) for side in rows]
    return Contrast(
        key=key,
        name=name,
        tagged=means[0],
        untagged=means[1],
        drop=drop,
        low=ends[0],
        high=ends[1],
        relative=relative,
        dimensions=len(shared),
        tagged_scored=scored[0],
        tagged_planned=len(rows[0]),
        untagged_scored=scored[1],
        untagged_planned=len(rows[1]),
    )
