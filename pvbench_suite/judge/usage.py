"""What a run costs: counted while it goes, and estimated before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass
class Usage:
    """Counts of one process, or of all together.

    `judgements` new verdicts (`not_observable` of them without a score), `cached` read from the cache, `failed` without
    a valid answer, `unanswered` without any; `requests` HTTP requests, `retries` of them repeated by the client
    library, `again` answers that were invalid and asked for once more; `seconds` the time of all answers together.
    """

    judgements: int = 0
    not_observable: int = 0
    cached: int = 0
    failed: int = 0
    unanswered: int = 0
    requests: int = 0
    retries: int = 0
    again: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0

    def to_plain(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return asdict(self)

    @classmethod
    def total(cls, parts: Iterable[Mapping[str, Any]]) -> Usage:
        """Return the sum of several processes' counts."""
        out = cls()
        for part in parts:
            for field in fields(cls):
                value = part.get(field.name, 0)
                if type(value) in (int, float):
                    setattr(out, field.name, getattr(out, field.name) + value)
        return out

    def lines(self, judge: str) -> list[str]:
        """Return the lines at the end of a run: what was asked, and what it cost."""
        asked = self.judgements + self.failed
        first = f"judge {judge}: {asked} judgements asked, {self.cached} from the cache"
        parts = {"not observable": self.not_observable, "without a verdict": self.failed}
        parts["unanswered"] = self.unanswered
        first += "".join(f", {n} {name}" for name, n in parts.items() if n)
        if not self.requests and not asked:
            return [first]
        cost = (
            f"judge cost: {self.requests} requests ({self.retries} repeated after errors, {self.again} invalid "
            f"answers), {shown(self.tokens_in)} tokens in, {shown(self.tokens_out)} out, {self.seconds:.0f} s"
        )
        return [first, cost]


@dataclass(frozen=True)
class Estimate:
    """What a run would cost, before it starts.

    `tokens_in` is for one answer per judgement; `waiting` judgements have evidence that is not measured yet, and are
    counted without it.
    """

    judgements: int
    cached: int
    tokens_in: int
    tokens_out: int
    waiting: int
    tries: int
    max_requests: int | None

    def lines(self) -> list[str]:
        """Return the estimate in words."""
        most = self.judgements * self.tries
        line = (
            f"judge estimate: {self.judgements} judgements to ask, {self.cached} in the cache; "
            f"{self.judgements} to {most} requests, about {shown(self.tokens_in)} tokens in and "
            f"{shown(self.tokens_out)} out at one request each (clips of 10 s, 16:9)"
        )
        out = [line]
        if self.waiting:
            out.append(f"judge estimate: {self.waiting} of them wait for evidence that is not measured yet")
        if self.max_requests is not None and self.max_requests < self.judgements:
            short = self.judgements - self.max_requests
            out.append(f"judge estimate: the cap of {self.max_requests} requests leaves at least {short} unasked")
        return out


def shown(count: int) -> str:
    """Return a count as people read it: 950, 12 k, 3.4 M.

    Examples
    --------
    >>> shown(950), shown(12_345), shown(3_400_000)
    ('950', '12 k', '3.4 M')
    """
    if count < 10_000:
        return str(count)
    return f"{count / 1000:.0f} k" if count < 1_000_000 else f"{count / 1e6:.1f} M"
