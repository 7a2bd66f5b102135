"""`Asker`: one judgement from question to outcome, in the event loop of the service.

Cache, then frames, then a slot, then the claim, then the conversation: so a slot is held only while a request is under
way, and a claim only by whom is asking.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from pvbench_suite.judge.backend import (
    Backend,
    CapReached,
    Exchange,
    Failure,
    Outcome,
    converse,
    outcome,
)
from pvbench_suite.judge.line import POLL, Line, Urgency, one_at_a_time
from pvbench_suite.judge.material import Material
from pvbench_suite.judge.request import Question, Request, request
from pvbench_suite.judge.settings import Settings
from pvbench_suite.judge.share import Share
from pvbench_suite.judge.store import Store, key
from pvbench_suite.judge.usage import Usage
from pvbench_suite.video.types import Clip

#: After so many judgements in a row without any answer, nobody waits for the next one.
OUTAGE = 3
#: How often what was used is written down [s].
_TELL = 0.5

Make = Callable[[Settings, Callable[[bool], None]], Backend]


@dataclass(frozen=True)
class Job:
    """One judgement to be made: what is asked, by which judge id, of which video (sha256), and where it is kept."""

    question: Question
    judge: str
    digest: str
    store: Store
    clip: Callable[[], Clip]

    @property
    def key(self) -> str:
        """What identifies the judgement: the key of the cache."""
        return key(self.digest, self.judge, self.question.digest)

    @property
    def evidence(self) -> tuple[str, ...]:
        """The lines that the judge is given."""
        return self.question.evidence.lines if self.question.evidence else ()


@dataclass(frozen=True)
class _Entry:
    """A judgement under way."""

    task: asyncio.Task[Outcome | None]
    who: Urgency


class Asker:
    """Asks, keeps and counts."""

    def __init__(self, settings: Settings, share: Share, material: Material, make: Make) -> None:
        self.settings = settings
        #: Set when the judge is gone for this run: every later question ends with it.
        self.down: Failure | None = None
        self.usage = Usage()
        self._share, self._material, self._make = share, material, make
        self._backend: Backend | None = None
        self._entries: dict[str, _Entry] = {}
        self._outcomes: dict[str, Outcome] = {}
        self._silent = 0
        self._slots = Line(share.take_slot, share.give_slot)
        self._kitchen = one_at_a_time()
        self._hands = ThreadPoolExecutor(1, thread_name_prefix="pvbench-frames")
        self._written = 0.0

    def _gate(self, again: bool) -> None:
        self._share.count_request()
        self.usage.requests += 1
        self.usage.retries += again

    def _ready(self) -> Backend:
        if self._backend is None:
            self._backend = self._make(self.settings, self._gate)
        return self._backend

    async def revision(self) -> str:
        """Return what the backend says of its weights."""
        return await self._ready().revision()

    async def answer(self, job: Job, *, urgent: bool) -> Outcome | None:
        """Return the outcome of a judgement, joining it where it is under way already.

        None, when it is not urgent, says that another worker is at it.
        """
        entry = self._entries.get(job.key)
        if entry is None:
            who = Urgency(urgent)
            entry = _Entry(asyncio.ensure_future(self._judge(job, who)), who)
            self._entries[job.key] = entry
            entry.task.add_done_callback(lambda _: self._entries.pop(job.key, None))
        entry.who.urgent |= urgent
        # Whoever waits may go; the judgement is paid for and is kept.
        return await asyncio.shield(entry.task)

    async def _judge(self, job: Job, who: Urgency) -> Outcome | None:
        found = self._known(job)
        if found is None and self.down is None:
            async with self._kitchen.turn(who):
                make = partial(self._material.frames, job.digest, job.clip)
                frames = await asyncio.get_running_loop().run_in_executor(self._hands, make)
            prepared = request(job.question, frames)
            while found is None and self.down is None:
                found = await self._in_turn(job, prepared, who)
                if found is None and self.down is None and not who.urgent:
                    return None
        if found is None:
            assert self.down is not None
            self.usage.unanswered += 1
            found = self.down
        self._tell()
        return found

    def _tell(self, *, now: bool = False) -> None:
        """Write down what was used, not too often."""
        if now or time.monotonic() - self._written > _TELL:
            self._written = time.monotonic()
            self._share.write_usage(self.usage.to_plain())

    def _known(self, job: Job) -> Outcome | None:
        """Return the outcome that is in the cache or in the notes of this run."""
        if (found := self._outcomes.get(job.key)) is not None:
            return found
        exchange = job.store.load(job.digest, job.judge, job.question.digest)
        if exchange is not None:
            cached = exchange.run != self._share.folder.name
            self.usage.cached += cached
            return outcome(exchange, job.evidence, cached)
        failure = self._share.failed(job.key)
        return Failure(**failure) if failure is not None else None

    async def _in_turn(self, job: Job, prepared: Request, who: Urgency) -> Outcome | None:
        """Return the outcome once a slot is free and nobody else is asking the same; None to be tried again."""
        async with self._slots.turn(who):
            if self.down is not None:
                return None
            if self._share.claim(job.key):
                try:
                    return self._known(job) or await self._ask(job, prepared)
                finally:
                    self._share.unclaim(job.key)
        while who.urgent and not self._share.claim(job.key):
            await asyncio.sleep(POLL)
        if who.urgent:
            self._share.unclaim(job.key)
        return self._known(job)

    async def _ask(self, job: Job, prepared: Request) -> Outcome | None:
        try:
            found = await converse(self._ready(), prepared, self.settings.tries)
        except CapReached:
            self.down = _used_up(self.settings)
            return None
        if isinstance(found, Exchange):
            found = replace(found, run=self._share.folder.name)
            self._count(found)
            if not job.store.save(job.digest, job.judge, job.question.digest, found, prepared.frames):
                self._outcomes[job.key] = outcome(found, job.evidence, cached=False)
            return outcome(found, job.evidence, cached=False)
        if found.kind == "judge_failed":
            found = replace(found, judge={**found.judge, "evidence": list(job.evidence)})
            self._silent = 0
            self.usage.failed += 1
            self.usage.again += max(0, found.judge["tries"] - 1)
            self._spend(found.judge)
        else:
            self.usage.unanswered += 1
            self._silent += 1
            if found.lasting or self._silent >= OUTAGE:
                self.down = found
        self._outcomes[job.key] = found
        self._share.fail(job.key, asdict(found))
        return found

    def _count(self, found: Exchange) -> None:
        self._silent = 0
        self.usage.judgements += 1
        self.usage.not_observable += found.parsed.score is None
        self.usage.again += found.tries - 1
        self._spend({"tokens_in": found.tokens_in, "tokens_out": found.tokens_out, "seconds": found.seconds})

    def _spend(self, cost: dict[str, Any]) -> None:
        self.usage.tokens_in += cost["tokens_in"] or 0
        self.usage.tokens_out += cost["tokens_out"] or 0
        self.usage.seconds += cost["seconds"] or 0.0

    async def close(self) -> None:
        """Close the backend."""
        self._tell(now=True)
        # A decode under way ends by itself; nobody waits for it.
        self._hands.shutdown(wait=False, cancel_futures=True)
        if self._backend is not None:
            await self._backend.close()


def _used_up(settings: Settings) -> Failure:
    what = f"the judge may not be asked any more: --pv-judge-max-requests {settings.max_requests} is used up"
    return Failure("not_perceived", what, "raise it and run again: what is scored is kept", lasting=True)
