"""How judges use their scale: collapse onto one value, entropy, failures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from pvbench_suite.results import Row
from pvbench_suite.stats.cells import Health
from pvbench_suite.stats.sample import event_absent

#: A judge that gives one value to more than this share of at least `COLLAPSE_N` samples has collapsed.
COLLAPSE_SHARE = 0.9
COLLAPSE_N = 30


def entropy(counts: Iterable[int]) -> float | None:
    """Return the entropy of score counts [bits], in [0, log2 5], or None for no scores."""
    numbers = sorted(c for c in counts if c)
    total = sum(numbers)
    if not total:
        return None
    return sum(c / total * math.log2(total / c) for c in numbers)


def _health(judge: str, dimension: str | None, scores: Counter[int], failed: int) -> Health:
    n = sum(scores.values())
    mode, top = min(scores.items(), key=lambda item: (-item[1], item[0])) if n else (None, 0)
    share = top / n if n else None
    return Health(
        judge=judge,
        dimension=dimension,
        n=n,
        failed=failed,
        share_at_5=scores[5] / n if n else None,
        mode=mode,
        mode_share=share,
        entropy=entropy(scores.values()),
        collapsed=share is not None and n >= COLLAPSE_N and share > COLLAPSE_SHARE,
    )


def health(rows: Iterable[Row]) -> tuple[Health, ...]:
    """Return the health of every judge in `rows`: over all its dimensions if it has several, then of each dimension.

    A judge id that holds the rubric's digest belongs to one dimension.
    """
    scores: dict[tuple[str, str | None], Counter[int]] = {}
    failed: Counter[tuple[str, str | None]] = Counter()
    for row in rows:
        judge = row.get("scorer")
        if judge in (None, "", "cuts") or event_absent(row):
            continue
        for key in ((str(judge), None), (str(judge), str(row["dimension"]))):
            if row["state"] == "scored":
                scores.setdefault(key, Counter())[row["score"]] += 1
            elif row["state"] == "judge_failed":
                scores.setdefault(key, Counter())
                failed[key] += 1
    several = Counter(judge for judge, dimension in scores if dimension is not None)
    keys = sorted(scores, key=lambda key: (key[0], key[1] or ""))
    return tuple(_health(*key, scores[key], failed[key]) for key in keys if key[1] or several[key[0]] > 1)
