"""`Backend`: what answers; and the conversation that turns its answers into a verdict or an honest failure."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Protocol

from pvbench_suite.errors import NotPerceived, PVBenchError
from pvbench_suite.judge.protocol import LONGEST_RAW, NotObservable, NoVerdict, Verdict
from pvbench_suite.judge.request import Request
from pvbench_suite.judge.settings import Settings
from pvbench_suite.judge.verdict import InvalidAnswer, Parsed, Token, expectation, parse


@dataclass(frozen=True)
class Answer:
    """One answer: its text, why it ended, and what it cost; `served` is what the backend calls the model."""

    text: str | None
    finish: str | None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens: tuple[Token, ...] = ()
    served: str = ""


class Unavailable(Exception):
    """The backend did not answer; `lasting`: nor would it answer the next request.

    `what` and `remedy` are shown to people and hold nothing of a request.
    """

    def __init__(self, what: str, remedy: str, *, lasting: bool = False) -> None:
        super().__init__(what)
        self.what = what
        self.remedy = remedy
        self.lasting = lasting


class Refused(Exception):
    """The backend answered that it will not serve this request (too long, a picture it cannot read, a policy)."""


class CapReached(Exception):
    """The run may send no more requests."""


class Backend(Protocol):
    """Answers requests, several at a time."""

    async def revision(self) -> str:
        """Return what is known of the weights that are served, or an empty text.

        Raises
        ------
        Unavailable
            If nobody answers, the key is refused, or the model is not there.
        """

    async def ask(self, request: Request) -> Answer:
        """Return the answer to `request`.

        Raises
        ------
        Unavailable, Refused, CapReached
            See there.
        """

    async def close(self) -> None:
        """Let go of connections and models."""


@dataclass(frozen=True)
class Failure:
    """No verdict: which of the three ends it was, in words, and what was kept of the judge's answers."""

    kind: Literal["not_observable", "judge_failed", "not_perceived"]
    message: str
    remedy: str = ""
    judge: dict[str, Any] = field(default_factory=dict)
    lasting: bool = False

    def error(self) -> PVBenchError:
        """Return the exception that says so."""
        if self.kind == "not_observable":
            return NotObservable(self.message, self.judge)
        if self.kind == "judge_failed":
            return NoVerdict(self.message, self.judge)
        return NotPerceived(self.message, self.remedy)


Outcome = Verdict | Failure


@dataclass(frozen=True)
class Exchange:
    """A finished conversation: the last answer, what it says, what all tries together cost, and the run it was in."""

    text: str
    parsed: Parsed
    tries: int
    seconds: float
    tokens_in: int | None
    tokens_out: int | None
    expected: float | None
    entropy: float | None
    served: str
    run: str = ""


def outcome(found: Exchange, evidence: tuple[str, ...], cached: bool) -> Outcome:
    """Return the verdict of a finished conversation, or that nothing was observable."""
    # A verdict's fields carry its cost; where there is no score, a stand-in lends its row.
    verdict = Verdict(
        found.parsed.score or 1,
        found.parsed.reason,
        raw=found.text,
        tokens_in=found.tokens_in,
        tokens_out=found.tokens_out,
        seconds=found.seconds,
        tries=found.tries,
        expected=found.expected,
        entropy=found.entropy,
        frames=found.parsed.frames,
        evidence=evidence,
        cached=cached,
    )
    if found.parsed.score is None:
        return Failure("not_observable", verdict.reason, judge=verdict.to_row())
    return verdict


class _Cost:
    """Adds up what the tries of one conversation cost; a number that a backend does not give stays None."""

    def __init__(self) -> None:
        self.start = time.monotonic()
        self.tokens_in: int | None = None
        self.tokens_out: int | None = None

    def add(self, answer: Answer) -> None:
        if answer.tokens_in is not None:
            self.tokens_in = (self.tokens_in or 0) + answer.tokens_in
        if answer.tokens_out is not None:
            self.tokens_out = (self.tokens_out or 0) + answer.tokens_out

    @property
    def seconds(self) -> float:
        return round(time.monotonic() - self.start, 3)


async def converse(backend: Backend, request: Request, tries: int) -> Exchange | Failure:
    """Ask until an answer is valid, at most `tries` times, with what was wrong named each time.

    Returns
    -------
    Exchange or Failure
        A failure is ``judge_failed`` when there were answers but no valid one (or the request was refused), and
        ``not_perceived`` when there was none.
    """
    cost, wrong, last = _Cost(), "", ""
    current = request
    for count in range(1, tries + 1):
        try:
            answer = await backend.ask(current)
        except Refused as refused:
            message = f"the judge refused the request: {refused}"
            return Failure("judge_failed", message, judge=_kept(last, count, cost))
        except Unavailable as gone:
            return Failure("not_perceived", gone.what, gone.remedy, lasting=gone.lasting)
        cost.add(answer)
        last = answer.text or ""
        try:
            parsed = parse(answer.text, answer.finish, request.frames)
        except InvalidAnswer as invalid:
            wrong = str(invalid)
            current = request.again(wrong)
            continue
        mean, entropy = expectation(answer.tokens) or (None, None)
        if parsed.score is None:
            mean = entropy = None
        return Exchange(
            last, parsed, count, cost.seconds, cost.tokens_in, cost.tokens_out, mean, entropy, answer.served
        )
    message = f"no valid verdict in {tries} answers; of the last one: {wrong}"
    return Failure("judge_failed", message, judge=_kept(last, tries, cost))


def _kept(text: str, tries: int, cost: _Cost) -> dict[str, Any]:
    raw = text[:LONGEST_RAW]
    return {
        "raw": raw, "tokens_in": cost.tokens_in, "tokens_out": cost.tokens_out, "seconds": cost.seconds,
        "tries": tries, "expected": None, "entropy": None, "frames": [], "evidence": [], "cached": False,
    }  # fmt: skip


def make_backend(settings: Settings, gate: Callable[[bool], None]) -> Backend:
    """Return the backend that the settings name.

    Raises
    ------
    UserError
        If what it needs is not installed.
    """
    if settings.kind == "http":
        from pvbench_suite.judge.http import HttpBackend

        return HttpBackend(settings, gate)
    from pvbench_suite.judge.transformers import TransformersBackend

    return TransformersBackend(settings, partial(gate, False))
