"""``pvbench judge agree``: pairwise Spearman between judges on the same pairs (the paper's study of backends)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from pvbench_suite.dimensions import Registry
from pvbench_suite.errors import UserError
from pvbench_suite.judge.journals import judged, number, rank_correlation
from pvbench_suite.results import Row

#: What makes two rows the same question: the video's bytes, the prompt, the dimension and its rubric.
SAME = ("model", "modality", "video", "seed", "video_sha256", "brief", "dimension", "thresholds")


@dataclass(frozen=True)
class Agreement:
    """How two judges agree on the `n` pairs that both scored.

    `rho` and `rho_expected` are Spearman's coefficients of the integer and of the expected scores (None where they do
    not exist), `equal` the share of equal scores, `apart` the mean absolute difference; `by_domain` has n and rho.
    """

    first: str
    second: str
    n: int
    rho: float | None
    rho_expected: float | None
    equal: float | None
    apart: float | None
    by_domain: tuple[tuple[str, int, float | None], ...]


def agree(rows: Iterable[Row], registry: Registry) -> list[Agreement]:
    """Return the agreement of each two judges in `rows`.

    Raises
    ------
    UserError
        If there are not two judges.
    """
    by_judge = judged(rows)
    if len(by_judge) < 2:
        have = ", ".join(sorted(by_judge)) or "none"
        raise UserError(f"agree: needs rows of two judges, there are: {have}; score the run again with another judge")
    keyed = {name: {tuple(map(str, map(row.get, SAME))): row for row in mine} for name, mine in by_judge.items()}
    return [_agreement(a, b, keyed[a], keyed[b], registry) for a, b in combinations(sorted(keyed), 2)]


def _agreement(
    first: str, second: str, a: dict[tuple[str, ...], Row], b: dict[tuple[str, ...], Row], registry: Registry
) -> Agreement:
    both = [(a[key], b[key]) for key in sorted(a.keys() & b.keys())]
    scores = [(x["score"], y["score"]) for x, y in both]
    wide = [(e, f) for x, y in both if (e := expected(x)) is not None and (f := expected(y)) is not None]
    domains: dict[str, list[tuple[float, float]]] = {}
    for x, y in both:
        domains.setdefault(registry.get(x["dimension"]).domain, []).append((x["score"], y["score"]))
    n = len(scores)
    return Agreement(
        first,
        second,
        n,
        _rho(scores),
        _rho(wide),
        sum(x == y for x, y in scores) / n if n else None,
        sum(abs(x - y) for x, y in scores) / n if n else None,
        tuple((domain, len(pairs), _rho(pairs)) for domain, pairs in sorted(domains.items())),
    )


def _rho(pairs: list[tuple[float, float]]) -> float | None:
    return rank_correlation([x for x, _ in pairs], [y for _, y in pairs])


def expected(row: Row) -> float | None:
    """Return the expected score that a row keeps beside its integer, or None."""
    about = row.get("judge")
    value = about.get("expected") if isinstance(about, dict) else None
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def lines(found: Iterable[Agreement]) -> list[str]:
    """Return the agreements as lines of text."""
    out = []
    for x in found:
        out.append(f"{x.first} and {x.second}: {x.n} common pairs")
        out.append(
            f"  Spearman {number(x.rho)}, of expected scores {number(x.rho_expected)}; equal {number(x.equal)}, "
            f"apart by {number(x.apart)} on average"
        )
        parts = ", ".join(f"{domain} {number(rho)} ({n})" for domain, n, rho in x.by_domain)
        out.append(f"  by domain: {parts or '-'}")
    return out
