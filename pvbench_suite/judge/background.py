"""`Background`: an event loop in a thread of its own, started at its first work."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

#: Longest wait for the loop and its thread to end [s].
_PATIENCE = 30.0


class Background:
    """Runs coroutines for threads that have no loop."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self.closed = False

    def _running(self) -> asyncio.AbstractEventLoop:
        if self.closed:
            raise RuntimeError(f"{self._name} is closed")
        # Several threads may ask first; two loops would not know each other's tasks.
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name=self._name, daemon=True)
                self._thread.start()
            return self._loop

    def soon(self, call: Callable[[], None]) -> None:
        """Call `call` in the loop's thread, and return at once."""
        self._running().call_soon_threadsafe(call)

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what `work` returns, run in the loop's thread."""
        future = asyncio.run_coroutine_threadsafe(work, self._running())
        try:
            return future.result()
        except BaseException:
            # Control-C reaches the waiting thread only.
            future.cancel()
            raise

    def close(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Cancel all work, run `last`, and end the thread; may be called twice."""
        if self._loop is not None and self._thread is not None and not self.closed:
            asyncio.run_coroutine_threadsafe(self._end(last), self._loop).result(timeout=_PATIENCE)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(timeout=_PATIENCE)
            self._loop.close()
        self.closed = True

    async def _end(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        mine = asyncio.current_task()
        others = [task for task in asyncio.all_tasks() if task is not mine]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await last()
