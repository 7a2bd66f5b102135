"""What is counted on one clip, small enough to keep and to pool: sums over sums, and samples by their quantiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

#: A larger sample is kept by this many of its quantiles.
KEPT = 101


@dataclass(frozen=True)
class Tally:
    """Counts of one clip by the name of the number: `sums` as [part, of], `samples` as lists of finite values."""

    sums: dict[str, list[float]] = field(default_factory=dict)
    samples: dict[str, list[Floats]] = field(default_factory=dict)

    def add(self, name: str, part: float, of: float) -> None:
        """Count `part` of `of`; calls of one name add up."""
        have = self.sums.setdefault(name, [0.0, 0.0])
        have[0] += float(part)
        have[1] += float(of)

    def share(self, name: str, flags: ArrayLike) -> None:
        """Count how many of `flags` are true."""
        given = np.asarray(flags, dtype=bool)
        self.add(name, float(given.sum()), float(given.size))

    def sample(self, name: str, values: ArrayLike) -> None:
        """Keep the finite ones of `values`."""
        flat = np.asarray(values, dtype=np.float64).ravel()
        self.samples.setdefault(name, []).append(flat[np.isfinite(flat)])

    def content(self) -> dict[str, Any]:
        """Return the counts as JSON has them."""
        samples = {name: sketch(np.concatenate(parts)) for name, parts in self.samples.items()}
        return {"sums": self.sums, "samples": samples}


def sketch(values: Floats) -> dict[str, Any]:
    """Return the size of a sample and its sorted values, or `KEPT` quantiles at even ranks where it has more."""
    ranks = (np.arange(KEPT) + 0.5) / KEPT
    kept = np.sort(values) if values.size <= KEPT else np.quantile(values, ranks)
    return {"n": int(values.size), "q": [float(f"{x:.6g}") for x in kept]}


@dataclass(frozen=True, eq=False)
class Pool:
    """Sketches put together: `values` (K,) ascending, each standing for `weight` (K,) members of clip `owner` (K,)."""

    values: Floats
    weight: Floats
    owner: NDArray[np.intp]

    @classmethod
    def of(cls, sketches: Sequence[Mapping[str, Any]]) -> Pool:
        """Return the pool of the sketches, one per clip."""
        sizes = np.array([len(s["q"]) for s in sketches], dtype=np.intp)
        members = np.array([s["n"] for s in sketches], dtype=np.float64)
        values = np.array([x for s in sketches for x in s["q"]], dtype=np.float64)
        weight, owner = np.repeat(members / np.maximum(sizes, 1), sizes), np.repeat(np.arange(len(sizes)), sizes)
        order = np.argsort(values, kind="stable")
        return cls(values[order], weight[order], owner[order])

    def quantile(self, p: float, times: Floats | None = None) -> float:
        """Return the least value that a share `p` of the pool does not exceed; NaN of nothing.

        `times` (clips,) says how often each clip counts, once each if not given.
        """
        weight = self.weight if times is None else self.weight * times[self.owner]
        total = np.cumsum(weight)
        if total.size == 0 or total[-1] <= 0.0:
            return float("nan")
        return float(self.values[min(int(np.searchsorted(total, p * total[-1] - 1e-9)), len(total) - 1)])
