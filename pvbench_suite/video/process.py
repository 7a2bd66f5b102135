"""The worker process that decodes: how it is started, asked, timed and buried.

Conventions
-----------
One JSON object a line either way; a process that crashed or was killed is started again for the next video.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from pvbench_suite.errors import BrokenVideo, PVBenchError, UserError
from pvbench_suite.video.faults import broken, timed_out
from pvbench_suite.video.types import Limits

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
            raise UserError(no_room(str(error))) from error
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


def no_room(why: str) -> str:
    """Return the message for a folder of temporary files that is full."""
    return f"no room for decoded frames in {tempfile.gettempdir()} ({why}); set TMPDIR to a larger folder"


def checked(reply: dict[str, Any]) -> dict[str, Any]:
    """Return a good reply; raise the error that it carries."""
    if "broken" in reply:
        raise BrokenVideo(reply["broken"])
    if "user" in reply:
        raise UserError(reply["user"])
    if "bug" in reply:
        raise DecoderError(f"the decoder process failed; please report it: {reply['bug']}")
    if "disk" in reply:
        raise UserError(no_room(reply["disk"]))
    return reply
