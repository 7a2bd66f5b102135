"""Decodes in a process of its own, so that a decoder that crashes or hangs costs one video and not the session.

Conventions
-----------
One worker per process, started with the first video and kept; after a crash or a kill the next video starts another.
Frames come back through a memory-mapped temporary file, which is unlinked as soon as it is mapped.  No pickle crosses
the boundary.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import mmap
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from pvbench_suite.errors import BrokenVideo, PVBenchError, UserError
from pvbench_suite.video.faults import broken, timed_out
from pvbench_suite.video.protocol import protocol_warnings
from pvbench_suite.video.types import DEFAULT_LIMITS, Clip, Limits, Probe

#: Beyond the time that the worker grants itself, before it is killed [s].
GRACE = 2.0
#: For the start of a worker on a busy machine [s].
START = 60.0


class DecoderError(PVBenchError):
    """The decoder process does not start or answers nonsense; says what to check."""


class Worker:
    """A decoder process and the way to talk to it.

    Parameters
    ----------
    command : sequence of str, optional
        What to run; by default this interpreter with `pvbench_suite.video.worker`.
    """

    def __init__(self, command: Sequence[str] | None = None) -> None:
        self.command = list(command or (sys.executable, "-P", "-m", "pvbench_suite.video.worker"))
        self._process: subprocess.Popen[str] | None = None
        self._replies: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._lock = threading.Lock()

    @property
    def pid(self) -> int | None:
        """Return the process id of the worker, or None while there is none."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def ask(self, path: Path, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Return the worker's reply; `BrokenVideo` if it crashes or does not answer in `seconds` [s]."""
        with self._lock:
            process = self._running()
            try:
                assert process.stdin is not None
                process.stdin.write(json.dumps(request) + "\n")
                process.stdin.flush()
                line = self._replies.get(timeout=seconds)
            except queue.Empty:
                self._stop()
                raise timed_out(path, Limits(**request["limits"])) from None
            except BrokenPipeError:
                line = ""
            except BaseException:
                self._stop()  # an interrupted request would answer the next one
                raise
            if not line:
                raise broken(path, f"decoder crashed ({self._obituary()})")
            reply: dict[str, Any] = json.loads(line)
            return reply

    @staticmethod
    def place() -> Path:
        """Return the path of a new, empty temporary file for frames, readable by this user only."""
        try:
            handle, name = tempfile.mkstemp(prefix="pvbench-", suffix=".raw")
        except OSError as error:
            raise UserError(_no_room(str(error))) from error
        os.close(handle)
        return Path(name)

    def close(self) -> None:
        """Stop the process."""
        self._stop()

    def _running(self) -> subprocess.Popen[str]:
        """Return the process, started if need be."""
        if self._process is not None and self._process.poll() is None:
            return self._process
        here = str(Path(__file__).resolve().parents[2])
        inherited = os.environ.get("PYTHONPATH")
        environment = os.environ | {"PYTHONPATH": here + (os.pathsep + inherited if inherited else "")}
        self._process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="ascii",
            env=environment,
        )
        self._replies = queue.SimpleQueue()
        threading.Thread(target=_pump, args=(self._process.stdout, self._replies), daemon=True).start()
        try:
            ready = self._replies.get(timeout=START)
        except queue.Empty:
            ready = ""
        if not ready:
            self._stop()
            raise DecoderError(f"the decoder process does not start; try: {' '.join(self.command)}")
        return self._process

    def _obituary(self) -> str:
        """Return how the process ended."""
        if self._process is None:
            return "no process"
        try:
            code = self._process.wait(timeout=GRACE)
        except subprocess.TimeoutExpired:
            self._stop()
            return "closed its output"
        return f"signal {-code}" if code < 0 else f"exit status {code}"

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(OSError):  # what is still buffered has no reader any more
                    if stream is not None:
                        stream.close()
            self._process = None


def _pump(stream: IO[str], replies: queue.SimpleQueue[str]) -> None:
    """Pass lines on until the stream ends; an empty line says that it did."""
    with contextlib.suppress(OSError, ValueError):
        for line in stream:
            replies.put(line)
    replies.put("")


_workers: dict[int, Worker] = {}


def _worker() -> Worker:
    """Return the worker of this process (a fork gets its own)."""
    pid = os.getpid()
    if pid not in _workers:
        _workers.clear()
        _workers[pid] = Worker()
        atexit.register(close_worker)
    return _workers[pid]


def close_worker() -> None:
    """Stop the worker of this process, if there is one; the next video starts another."""
    worker = _workers.pop(os.getpid(), None)
    if worker is not None:
        worker.close()


def _no_room(why: str) -> str:
    return f"no room for decoded frames in {tempfile.gettempdir()} ({why}); set TMPDIR to a larger folder"


def _checked(reply: dict[str, Any]) -> dict[str, Any]:
    """Return a good reply; raise the error that it carries."""
    if "broken" in reply:
        raise BrokenVideo(reply["broken"])
    if "user" in reply:
        raise UserError(reply["user"])
    if "bug" in reply:
        raise DecoderError(f"the decoder process failed; please report it: {reply['bug']}")
    if "disk" in reply:
        raise UserError(_no_room(reply["disk"]))
    return reply


def _probe(data: dict[str, Any]) -> Probe:
    return Probe(**{**data, "hw": tuple(data["hw"]), "warnings": tuple(data["warnings"])})


def _mapped(path: Path, shape: Sequence[int]) -> NDArray[np.uint8]:
    """Return the frames in a file as a private, writable array; the file itself may be unlinked."""
    with path.open("rb") as stream:
        size = int(np.prod(shape))
        return np.frombuffer(mmap.mmap(stream.fileno(), size, access=mmap.ACCESS_COPY), np.uint8).reshape(tuple(shape))


def decode_isolated(
    path: Path,
    *,
    long_side: int = 640,
    limits: Limits = DEFAULT_LIMITS,
    fps: float | None = None,
    worker: Worker | None = None,
) -> tuple[Probe, Clip]:
    """Return what `decode_with_probe` returns, decoded in the worker process.

    Raises
    ------
    BrokenVideo
        As in `decode_with_probe`; also if the decoder crashes, or is killed after `limits.seconds` [s].
    UserError
        If `path` is a folder and `fps` is missing, or the folder for temporary files has no room.
    """
    worker = worker or _worker()
    out = worker.place()
    try:
        reply = _checked(worker.ask(path, _request(path, limits, fps, long_side, out), limits.seconds + GRACE))
        probe = _probe(reply["probe"])
        frames = _mapped(out, reply["shape"])
    finally:
        out.unlink(missing_ok=True)
    times = np.array(reply["times"], dtype=np.float64)
    return probe, Clip(frames, times, probe.hw, (*probe.warnings, *protocol_warnings(probe)))


def probe_isolated(
    path: Path,
    *,
    limits: Limits = DEFAULT_LIMITS,
    fps: float | None = None,
    full: bool = True,
    worker: Worker | None = None,
) -> Probe:
    """Return what `probe` returns, found in the worker process; errors as in `decode_isolated`."""
    worker = worker or _worker()
    request = _request(path, limits, fps, 640, None) | {"full": full}
    return _probe(_checked(worker.ask(path, request, limits.seconds + GRACE))["probe"])


def _request(path: Path, limits: Limits, fps: float | None, long_side: int, out: Path | None) -> dict[str, Any]:
    target = None if out is None else str(out)
    return {"path": str(path.absolute()), "limits": asdict(limits), "fps": fps, "long_side": long_side, "out": target}
