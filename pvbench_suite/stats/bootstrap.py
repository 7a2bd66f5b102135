"""Cluster bootstrap over prompt groups, for means of scores and for means of paired differences.

Conventions
-----------
Values are on the percentile scale [0, 100], differences in [-100, 100].  A *column* is a dimension, a *cluster* a
prompt group (or a video without a group): the clips of one group share its difficulty, so that groups are drawn,
never clips.  One draw takes as many clusters as there are, with replacement; a column's mean in a draw is its sum
over its count, and a mean over columns takes the columns that the draw holds.  With few groups the columns present
vary from draw to draw as well, which widens the interval.

The interval is the percentile interval of the draws, at tail probabilities widened for the number of clusters
(`tail_probability`), since the plain 2.5 % tails cover 80 % instead of 95 % for 5 clusters.  Each table carries its
own seed, a hash of its sorted content: the same rows in any order give the same interval, and no global generator is
touched.

References
----------
T. Hesterberg, What Teachers Should Know About the Bootstrap, The American Statistician 69 (2015), section 5.3
(expanded percentile interval).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]

#: How many draws an interval takes.
DRAWS = 2000
#: Probability left out on each side of a 95 % interval.
TAIL = 0.025
#: With fewer clusters the percentile interval is joined with Student's.
FEW_CLUSTERS = 8
#: Where values and paired differences of values can lie.
SCORES = (0.0, 100.0)
DIFFERENCES = (-100.0, 100.0)
# Weights of one block of draws: 2 million numbers, 16 MB.
_BLOCK = 2_000_000


@dataclass(frozen=True, slots=True)
class Table:
    """Sums and counts of values per cluster and column.

    Parameters
    ----------
    columns : tuple of str
        Names of the D columns, sorted.
    sums, counts : (G, D) float
        Sum and number of the values of each cluster in each column.
    seed : int
        Hash of the content; the same for any order of the same values.
    """

    columns: tuple[str, ...]
    sums: Floats
    counts: Floats
    seed: int

    @property
    def clusters(self) -> int:
        """How many clusters hold a value."""
        return len(self.sums)


def tabulate(triples: Iterable[tuple[str, str, float]]) -> Table:
    """Return the table of (column, cluster, value) triples.

    The triples are sorted first, so that neither the floating point sums nor the seed depend on their order.
    """
    ordered = sorted(triples)
    columns = sorted({column for column, _, _ in ordered})
    clusters = sorted({cluster for _, cluster, _ in ordered})
    place = {name: k for k, name in enumerate(columns)}
    index = {name: k for k, name in enumerate(clusters)}
    rows = np.array([index[cluster] for _, cluster, _ in ordered], dtype=np.intp)
    cols = np.array([place[column] for column, _, _ in ordered], dtype=np.intp)
    sums = np.zeros((len(clusters), len(columns)))
    counts = np.zeros_like(sums)
    np.add.at(sums, (rows, cols), np.array([value for _, _, value in ordered], dtype=np.float64))
    np.add.at(counts, (rows, cols), 1.0)
    digest = hashlib.sha256(json.dumps(ordered).encode()).digest()
    return Table(tuple(columns), sums, counts, int.from_bytes(digest[:16], "big"))


def column_means(table: Table) -> Floats:
    """Return the mean of each column, (D,); every column of a table holds a value."""
    return np.asarray(table.sums.sum(axis=0) / table.counts.sum(axis=0))


def draw_means(table: Table, draws: int = DRAWS) -> Floats:
    """Return the column means of `draws` resamples of the clusters, (B, D); NaN where a draw holds none of a column."""
    generator = np.random.default_rng(table.seed)
    size = table.clusters
    block = max(1, _BLOCK // size)
    parts = []
    for start in range(0, draws, block):
        number = min(block, draws - start)
        picked = generator.integers(0, size, (number, size), dtype=np.int32) + np.arange(number)[:, None] * size
        weights = np.bincount(picked.ravel(), minlength=number * size).reshape(number, size).astype(np.float64)
        counts = weights @ table.counts
        means = np.full(counts.shape, np.nan)
        np.divide(weights @ table.sums, counts, out=means, where=counts > 0)
        parts.append(means)
    return np.concatenate(parts)


def fold(means: Floats, parts: Sequence[str] | None = None) -> Floats:
    """Return the mean over the columns of each row, (B,), from column means (B, D) that may be NaN.

    Parameters
    ----------
    means : (B, D) float
        Column means; NaN columns are left out of their row.
    parts : sequence of D str, optional
        The domain of each column.  If given, the mean of each domain's columns is made first and the domains are
        averaged.
    """
    if parts is not None:
        names = sorted(set(parts))
        member = np.array([[part == name for name in names] for part in parts], dtype=bool)
        means = np.stack([fold(means[:, member[:, k]]) for k in range(len(names))], axis=1)
    present = ~np.isnan(means)
    number = present.sum(axis=1)
    out = np.full(len(means), np.nan)
    np.divide(np.where(present, means, 0.0).sum(axis=1), number, out=out, where=number > 0)
    return out


def tail_probability(clusters: int) -> float:
    r"""Return the tail probability of the percentile interval for that many clusters, in (0, 0.025).

    .. math:: \Phi\left(-\sqrt{G / (G - 1)}\; t_{0.975,\, G - 1}\right)

    A bootstrap of G clusters understates the variance by (G - 1) / G and uses a normal tail where Student's is due;
    this corrects both and tends to 0.025.
    """
    student = float(stats.t.ppf(1 - TAIL, clusters - 1))
    return float(stats.norm.cdf(-math.sqrt(clusters / (clusters - 1)) * student))


def interval(
    samples: Floats, estimate: float, clusters: int, limits: tuple[float, float] = SCORES
) -> tuple[float, float] | None:
    """Return the 95 % interval around `estimate`, or None for fewer than two clusters.

    Parameters
    ----------
    samples : (B,) float
        The statistic in each draw, NaN where a draw lacks it.
    estimate : float
        The statistic of the sample itself; always inside the interval.
    clusters : int
        How many clusters were drawn from.
    limits : (float, float)
        The range that a value can have.

    Notes
    -----
    A sample in which every draw agrees has no spread to resample, yet proves no certainty.  Then the share of groups
    that could differ unseen is bounded: at most ``1 - 0.025 ** (1 / G)`` of them (Clopper-Pearson for zero of G), each
    by as much as `limits` allow.  With fewer than 8 groups no draw can reach beyond the extreme groups, so that the
    interval is widened to Student's, inside `limits`.
    """
    if clusters < 2:
        return None
    known = samples[~np.isnan(samples)]
    if float(np.ptp(known)) <= 1e-9:
        unseen = 1.0 - TAIL ** (1.0 / clusters)
        return estimate - unseen * (estimate - limits[0]), estimate + unseen * (limits[1] - estimate)
    tail = tail_probability(clusters)
    low, high = (float(end) for end in np.quantile(known, [tail, 1.0 - tail]))
    if clusters < FEW_CLUSTERS:
        reach = float(stats.t.ppf(1 - TAIL, clusters - 1)) * float(known.std()) * math.sqrt(clusters / (clusters - 1))
        low, high = min(low, max(limits[0], estimate - reach)), max(high, min(limits[1], estimate + reach))
    return min(low, estimate), max(high, estimate)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its 95 % interval; the interval is None for fewer than two clusters."""

    mean: float
    low: float | None
    high: float | None
    clusters: int

    @property
    def detectable(self) -> float | None:
        """The smallest difference that two such samples could show (see `detectable`)."""
        return shows(self.low, self.high)


def shows(low: float | None, high: float | None) -> float | None:
    """Return the smallest difference between two samples alike that would leave their 95 % interval, or None.

    The difference of two independent means has sqrt(2) times the half width of one; (high - low) / sqrt(2) is that.
    """
    return None if low is None or high is None else (high - low) / math.sqrt(2.0)


def mean_interval(
    values: Sequence[float],
    clusters: Sequence[str],
    limits: tuple[float, float] = SCORES,
    draws: int = DRAWS,
) -> Estimate:
    """Return the mean of `values` with its cluster bootstrap interval.

    Parameters
    ----------
    values : sequence of N float
        Scores, on the percentile scale unless `limits` say otherwise.
    clusters : sequence of N str
        The prompt group of each value.
    limits : (float, float)
        The range that a value can have.
    draws : int
        How many resamples.

    Raises
    ------
    ValueError
        If there is no value, or the lengths differ.
    """
    if not len(values):
        raise ValueError("a mean of nothing does not exist; the cell's score is None then")
    table = tabulate(("", str(c), float(v)) for v, c in zip(values, clusters, strict=True))
    mean = float(column_means(table)[0])
    ends = interval(draw_means(table, draws)[:, 0], mean, table.clusters, limits) or (None, None)
    return Estimate(mean, ends[0], ends[1], table.clusters)


def paired_interval(differences: Sequence[float], clusters: Sequence[str], draws: int = DRAWS) -> Estimate:
    """Return the mean of paired differences, each in [-100, 100], with its cluster bootstrap interval."""
    return mean_interval(differences, clusters, DIFFERENCES, draws)


def detectable(values: Sequence[float], clusters: Sequence[str], limits: tuple[float, float] = SCORES) -> float | None:
    """Return the smallest difference that this sample could show, or None for fewer than two clusters.

    It is ``sqrt(2)`` times the half width of the 95 % interval, for many clusters ``1.96 * sqrt(2) * SE``: the
    difference that a second, independent run of the same size must reach to leave the noise.  A true difference of
    just this size is found in half of such runs; for four of five it must be 1.43 times as large.  Runs on the same
    prompts do better: see the paired comparison.
    """
    return mean_interval(values, clusters, limits).detectable
