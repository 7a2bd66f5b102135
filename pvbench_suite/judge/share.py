"""What the processes of one run share about the judge: request slots, the request cap, claims, failures, usage.

Conventions
-----------
A folder of the run holds it all; nothing of it outlives the run.  Slots and claims are byte-range locks, which the
system drops when a process ends, however it ends; POSIX locks belong to a process, so one process opens a folder once.
Every method is quick and is called from one thread.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any

from pvbench_suite.files import write_atomic
from pvbench_suite.judge.backend import CapReached

#: A slot beyond a worker's fair share is left to others for this long when it is given back [s].
HOLE = 0.05
_OFFSETS = 1 << 40


class Share:
    """Totals over all workers of a run.

    Parameters
    ----------
    folder : Path
        The run's folder; made here.
    concurrency : int
        Slots: requests that may be under way at a time.
    max_requests : int or None
        The cap on requests.
    workers : int
        How many processes share the folder.
    """

    def __init__(self, folder: Path, concurrency: int, max_requests: int | None, workers: int = 1) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._total = concurrency
        self._fair = concurrency // max(1, workers)
        self._max = max_requests
        flags = os.O_RDWR | os.O_CREAT
        self._slots, self._claims, self._count = (
            os.open(folder / name, flags, 0o600) for name in ("slots", "claims", "count")
        )
        self._held: set[int] = set()
        self._cool: dict[int, float] = {}

    def take_slot(self) -> int | None:
        """Return a slot, to be given back, or None while all are taken."""
        now = time.monotonic()
        for slot in range(self._total):
            if slot in self._held:
                continue
            # Whoever has more than a fair share leaves a moment for the others, or it would always be the first.
            if len(self._held) >= self._fair and now - self._cool.get(slot, -HOLE) < HOLE:
                continue
            if _locked(self._slots, slot):
                self._held.add(slot)
                return slot
        return None

    def give_slot(self, slot: int) -> None:
        """Give a slot back."""
        self._held.discard(slot)
        self._cool[slot] = time.monotonic()
        _unlock(self._slots, slot)

    def count_request(self) -> None:
        """Count one request.

        Raises
        ------
        CapReached
            If the run has sent all that it may; nothing is counted then.
        """
        import fcntl

        fcntl.lockf(self._count, fcntl.LOCK_EX)
        try:
            done = int(os.pread(self._count, 32, 0) or b"0")
            if self._max is not None and done >= self._max:
                raise CapReached(self._max)
            os.pwrite(self._count, b"%d" % (done + 1), 0)
        finally:
            fcntl.lockf(self._count, fcntl.LOCK_UN)

    def claim(self, key: str) -> bool:
        """Return whether this process alone may now ask the question `key`."""
        return _locked(self._claims, _offset(key))

    def unclaim(self, key: str) -> None:
        """Let others ask the question."""
        _unlock(self._claims, _offset(key))

    def fail(self, key: str, failure: dict[str, Any]) -> None:
        """Note for this run that the question has no verdict, so that another worker does not ask again."""
        write_atomic(self._failure(key), json.dumps(failure).encode())

    def failed(self, key: str) -> dict[str, Any] | None:
        """Return what `fail` noted, or None."""
        return _read(self._failure(key))

    def _failure(self, key: str) -> Path:
        return self.folder / "failed" / f"{hashlib.sha256(key.encode()).hexdigest()}.json"

    def write_usage(self, usage: dict[str, Any]) -> None:
        """Keep what this process has used so far."""
        write_atomic(self.folder / "usage" / f"{os.getpid()}.json", json.dumps(usage).encode())

    def others(self) -> list[dict[str, Any]]:
        """Return what each other process has used so far."""
        mine = f"{os.getpid()}.json"
        found = (_read(path) for path in sorted((self.folder / "usage").glob("*.json")) if path.name != mine)
        return [usage for usage in found if usage is not None]

    def close(self) -> None:
        """Let go of everything."""
        for handle in (self._slots, self._claims, self._count):
            os.close(handle)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _offset(key: str) -> int:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") % _OFFSETS


def _locked(handle: int, offset: int) -> bool:
    import fcntl

    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, offset)
    except OSError:
        return False
    return True


def _unlock(handle: int, offset: int) -> None:
    import fcntl

    fcntl.lockf(handle, fcntl.LOCK_UN, 1, offset)
