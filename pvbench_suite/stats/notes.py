"""What stands beside the numbers of a cell: flags, tallies, provider ids, the digest of thresholds."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pvbench_suite.results import Row
from pvbench_suite.stats.cells import Kind, Mean
from pvbench_suite.stats.sample import FEW, INCOMPLETE, Sample


def flags(
    kind: Kind, found: Sequence[Sample], counts: Mapping[str, int], planned: int, evaluated: int, mean: Mean
) -> list[str]:
    """Return what a reader of the cell must know, one flag each."""
    if not planned:
        return ["not planned: no pair of this run asks for it"]
    notes = []
    if lacking := [f"{state} {counts[state]}" for state in INCOMPLETE if counts[state]]:
        notes.append(f"incomplete: {', '.join(lacking)}")
    if kind != "dimension" and evaluated < len(found):
        notes.append(f"partial: {evaluated} of {len(found)}")
    for s in found:
        if s.mixed:
            who = ", ".join(sorted({name for name, _ in s.scorers}))
            what = "scorers" if len({name for name, _ in s.scorers}) > 1 else "thresholds"
            notes.append(f"mixed {what}: {s.dimension.id} by {who}; never averaged")
        versions = {product for product, ids in provider_ids(s.rows).items() if len(ids) > 1}
        if kind == "dimension" and versions:
            notes.append(f"providers: several ids of {', '.join(sorted(versions))}")
    if kind == "dimension" and counts["scored"] < FEW:
        notes.append(f"few: {counts['scored']} scored")
    if mean.score is not None and mean.low is None:
        notes.append("no interval: one group")
    return notes


def tally(texts: Iterable[Any]) -> dict[str, int]:
    """Return how often each text occurs, the most frequent first."""
    counts = Counter(str(text) for text in texts if text)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def remedy(row: Row) -> str:
    """Return what a pair that was not perceived lacks, and what would produce it."""
    parts = [str(row.get(key) or "").strip() for key in ("reason", "message")]
    return "; ".join(dict.fromkeys(part for part in parts if part)) or "no reason given"


def provider_ids(rows: Iterable[Row]) -> dict[str, tuple[str, ...]]:
    """Return the provider ids of each perception product."""
    found: dict[str, set[str]] = {}
    for row in rows:
        for product, identifier in (row.get("providers") or {}).items():
            found.setdefault(str(product), set()).add(str(identifier))
    return {product: tuple(sorted(found[product])) for product in sorted(found)}


def thresholds_digest(rows: Iterable[Row]) -> str:
    """Return 12 hex digits over the thresholds digests of all dimensions in `rows`."""
    found = sorted({(str(row["dimension"]), str(row.get("thresholds"))) for row in rows if row["state"] == "scored"})
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()[:12]
