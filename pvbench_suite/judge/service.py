"""`JudgeService`: the judge as the plugin uses it, asking ahead in the background while tests run.

One thread with an event loop does all asking; frames are made when their request is about to be sent, and dropped with
it.  A judgement is looked up in the cache first, asked by one worker of a run only, and kept when it is valid.  What a
test waits for overtakes what is asked ahead.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pvbench_suite.dimensions import Dimension
from pvbench_suite.errors import PVBenchError, UserError
from pvbench_suite.judge.asking import Asker, Job
from pvbench_suite.judge.backend import Backend, Failure, Unavailable, make_backend
from pvbench_suite.judge.background import Background
from pvbench_suite.judge.evidence import Evidence, NotReady
from pvbench_suite.judge.material import Material
from pvbench_suite.judge.protocol import NotObservable, Verdict
from pvbench_suite.judge.request import question
from pvbench_suite.judge.sampling import TOKEN_SIDE
from pvbench_suite.judge.settings import LONG_SIDE, Settings
from pvbench_suite.judge.share import Share
from pvbench_suite.judge.store import Store
from pvbench_suite.judge.usage import Estimate, Usage
from pvbench_suite.prompts.schema import Group
from pvbench_suite.video.types import Clip, Video

#: What an answer by the schema has, about.
_TOKENS_OUT = 110
#: Requests that are made ready while others are under way, as a share of the concurrency; at least two.
_AHEAD = 1.0


@dataclass(frozen=True)
class Ask:
    """One planned judgement.

    `clip` and `evidence` are called in the background, when the judgement is due, from another thread than the test's;
    `evidence` raises `NotReady` while what it reads is not measured yet: the judgement is then left to its test.
    """

    video: Video
    clip: Callable[[], Clip]
    group: Group | None
    dimension: Dimension
    evidence: Callable[[], Evidence | None] | None = None


class JudgeService:
    """Scores videos by a backend; a `Judge`.

    Parameters
    ----------
    settings : Settings
        How to ask.
    digest : callable
        Gives the sha256 of a video's bytes.
    folders : callable
        Gives the cache folders of a video; the first is written.
    share : Path, optional
        Folder that the workers of one run share; None makes one of this process alone.
    workers : int
        How many processes share it.
    backend : callable, optional
        Makes the backend from settings and gate; None: by the settings.
    """

    def __init__(
        self,
        settings: Settings,
        digest: Callable[[Video], str],
        folders: Callable[[Video], Sequence[Path]],
        *,
        share: Path | None = None,
        workers: int = 1,
        backend: Callable[[Settings, Callable[[bool], None]], Backend] | None = None,
    ) -> None:
        self.settings = settings
        self._digest, self._folders = digest, folders
        self._own = Path(tempfile.mkdtemp(prefix="pvbench-judge-")) if share is None else None
        self.folder = share if share is not None else self._own
        assert self.folder is not None
        self._share = Share(self.folder, settings.concurrency, settings.max_requests, workers)
        self._material = Material(settings)
        self._asker = Asker(settings, self._share, self._material, backend or make_backend)
        self._stores: dict[tuple[Path, ...], Store] = {}
        self._queue: deque[Ask] = deque()
        self._background = Background("pvbench-judge")
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="pvbench-evidence")
        self._pumping = False

    # -- identity ------------------------------------------------------------------------------------------------

    def connect(self) -> None:
        """Ask the backend for its revision, once, on the controller; it then belongs to every id.

        Raises
        ------
        UserError
            If the judge does not answer, refuses the key, or does not have the model.
        """
        try:
            found = self._background.wait(self._asker.revision())
        except Unavailable as gone:
            raise UserError(f"--pv-judge-url: {gone.what}; {gone.remedy}") from None
        self.settings = replace(self.settings, revision=found)
        self._asker.settings = self.settings

    def id(self, dimension: Dimension) -> str:
        """Return backend, model, revision and a digest of rubric, sampling and decoding."""
        return self.settings.id(dimension)

    def __repr__(self) -> str:
        return f"JudgeService({self.settings.name})"

    # -- asking --------------------------------------------------------------------------------------------------

    def ask_ahead(self, asks: Iterable[Ask]) -> None:
        """Queue planned judgements, to be asked in order in the background; returns at once."""
        self._queue.extend(asks)
        self._background.soon(self._pump)

    def __call__(
        self,
        video: Video,
        clip: Clip | Callable[[], Clip],
        group: Group | None,
        dimension: Dimension,
        evidence: Evidence | None = None,
    ) -> Verdict:
        """Return the verdict, waiting for it; see `Judge.__call__`."""
        make = (lambda: clip) if isinstance(clip, Clip) else clip
        job = self._job(video, make, group, dimension, evidence)
        found = self._background.wait(self._asker.answer(job, urgent=True))
        assert found is not None
        if isinstance(found, Failure):
            raise found.error()
        return found

    def _job(
        self, video: Video, clip: Callable[[], Clip], group: Group | None, dimension: Dimension, evidence: Any
    ) -> Job:
        picture = None
        if dimension.expectation == "reference":
            if video.reference is None:
                raise NotObservable("no reference image is given", {})
            picture = self._material.reference(video.reference)
        asked = question(dimension, video.prompt, group, evidence, picture)
        return Job(asked, self.id(dimension), self._digest(video), self._store(video), clip)

    def _planned(self, ask: Ask) -> Job:
        evidence = ask.evidence() if ask.evidence else None
        return self._job(ask.video, ask.clip, ask.group, ask.dimension, evidence)

    def _store(self, video: Video) -> Store:
        folders = tuple(self._folders(video))
        return self._stores.setdefault(folders, Store(folders))

    def _pump(self) -> None:
        """Start the task that works the queue off, unless it runs (in the loop's thread)."""
        if not self._pumping:
            self._pumping = True
            task = asyncio.ensure_future(self._work())
            task.add_done_callback(lambda done: None if done.cancelled() else done.exception())

    async def _work(self) -> None:
        most = self.settings.concurrency
        room = asyncio.Semaphore(most + max(2, round(_AHEAD * most)))
        tasks: set[asyncio.Task[None]] = set()
        try:
            while self._queue and not self._asker.down:
                await room.acquire()
                if not self._queue:
                    break
                task = asyncio.create_task(self._ahead(self._queue.popleft()))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
                task.add_done_callback(lambda _: room.release())
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            self._pumping = False
        if self._queue and not self._asker.down:
            self._pump()

    async def _ahead(self, ask: Ask) -> None:
        """Ask one planned judgement; what goes wrong here is met again, and told, by its test."""
        try:
            job = await asyncio.get_running_loop().run_in_executor(self._reader, self._planned, ask)
            await self._asker.answer(job, urgent=False)
        except (NotReady, PVBenchError, OSError):
            return

    # -- cost ----------------------------------------------------------------------------------------------------

    def estimate(self, asks: Iterable[Ask]) -> Estimate:
        """Return what these judgements would cost; nothing is asked, decoded or measured."""
        judgements = cached = waiting = tokens = 0
        frames = min(max(21, self.settings.least_frames), self.settings.frames)
        pictures = frames * (LONG_SIDE // TOKEN_SIDE) * -(-LONG_SIDE * 9 // (16 * TOKEN_SIDE))
        for ask in asks:
            try:
                evidence = ask.evidence() if ask.evidence else None
            except NotReady:
                evidence, waiting = None, waiting + 1
            try:
                job = self._job(ask.video, ask.clip, ask.group, ask.dimension, evidence)
            except PVBenchError:
                continue
            if job.store.load(job.digest, job.judge, job.question.digest) is not None:
                cached += 1
                continue
            judgements += 1
            tokens += pictures + self._material.text_tokens(job.question, frames)
        out = judgements * _TOKENS_OUT
        return Estimate(judgements, cached, tokens, out, waiting, self.settings.tries, self.settings.max_requests)

    def usage(self) -> Usage:
        """Return what all processes of the run have used so far."""
        return Usage.total([*self._share.others(), self._asker.usage.to_plain()])

    def lines(self) -> list[str]:
        """Return the lines for the end of a run: what was asked, what it cost, what did not hold."""
        notes = [f"judge note: {note}" for store in self._stores.values() for note in store.notes]
        return [*self.usage().lines(self.settings.name), *notes]

    def close(self) -> None:
        """Stop asking, drop what is under way, and let go of connections and files; may be called twice."""
        if self._background.closed:
            return
        self._queue.clear()
        self._background.close(self._asker.close)
        self._reader.shutdown(wait=False, cancel_futures=True)
        self._share.close()

    def remove(self) -> None:
        """Remove the run's shared folder, after all workers are closed: the controller's last act."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
