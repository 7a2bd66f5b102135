"""`Line`: those who wait for something scarce, served in order, except that what a test waits for goes first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

#: How often something that another process holds is looked at again [s].
POLL = 0.02


class Urgency:
    """Whether a test waits; may be raised while standing in line."""

    def __init__(self, urgent: bool = False) -> None:
        self.urgent = urgent


@dataclass(frozen=True)
class _Waiter:
    who: Urgency
    turn: asyncio.Future[int]


class Line:
    """Hands out permits one after another.

    Parameters
    ----------
    take : callable
        Returns a permit, or None while there is none.
    give : callable
        Takes a permit back.
    """

    def __init__(self, take: Callable[[], int | None], give: Callable[[int], None]) -> None:
        self._take, self._give = take, give
        self._waiting: list[_Waiter] = []
        self._freed = asyncio.Event()
        self._serving: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def turn(self, who: Urgency) -> AsyncIterator[None]:
        """Wait for a permit, and give it back at the end of the block."""
        waiter = _Waiter(who, asyncio.get_running_loop().create_future())
        self._waiting.append(waiter)
        if self._serving is None or self._serving.done():
            self._serving = asyncio.ensure_future(self._serve())
        permit = await waiter.turn
        try:
            yield
        finally:
            self._give(permit)
            self._freed.set()

    async def _serve(self) -> None:
        while self._waiting:
            permit = self._take()
            if permit is None:
                await self._pause()
                continue
            first = next((w for w in self._waiting if w.who.urgent), self._waiting[0])
            self._waiting.remove(first)
            if first.turn.done():
                # It was cancelled while it waited.
                self._give(permit)
            else:
                first.turn.set_result(permit)

    async def _pause(self) -> None:
        """Wait until a permit of this process is back, or long enough that one of another process may be."""
        self._freed.clear()
        try:
            await asyncio.wait_for(self._freed.wait(), POLL)
        except TimeoutError:
            return


def one_at_a_time() -> Line:
    """Return a line with a single permit of this process."""
    free = [0]
    return Line(lambda: free.pop() if free else None, free.append)
