"""Decodes in a process of its own, so that a decoder that crashes or hangs costs one video and not the session.

Conventions
-----------
One worker per process, started with the first video and kept; after a crash or a kill the next video starts another.
Frames come back through a memory-mapped temporary file, which is unlinked as soon as it is mapped.  No pickle crosses
the boundary.
"""

from __future__ import annotations

import atexit
import mmap
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pvbench_suite.video.process import GRACE, DecoderError, Worker, checked
from pvbench_suite.video.protocol import protocol_warnings
from pvbench_suite.video.types import DEFAULT_LIMITS, Clip, First, Limits, Probe

__all__ = ["DecoderError", "Worker", "close_worker", "decode_isolated", "first_isolated", "probe_isolated"]


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
        reply = checked(worker.ask(path, _request(path, limits, fps, long_side, out), limits.seconds + GRACE))
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
    return _probe(checked(worker.ask(path, request, limits.seconds + GRACE))["probe"])


def first_isolated(
    path: Path,
    *,
    long_side: int = 640,
    limits: Limits = DEFAULT_LIMITS,
    fps: float | None = None,
    worker: Worker | None = None,
) -> First:
    """Return what `pvbench_suite.video.decode.first` returns, decoded in the worker process; errors as above."""
    worker = worker or _worker()
    out = worker.place()
    try:
        request = _request(path, limits, fps, long_side, out) | {"first": True}
        reply = checked(worker.ask(path, request, limits.seconds + GRACE))
        image = _mapped(out, reply["shape"])
    finally:
        out.unlink(missing_ok=True)
    return First(image, (reply["hw"][0], reply["hw"][1]), bool(reply["still"]))


def _request(path: Path, limits: Limits, fps: float | None, long_side: int, out: Path | None) -> dict[str, Any]:
    target = None if out is None else str(out)
    return {"path": str(path.absolute()), "limits": asdict(limits), "fps": fps, "long_side": long_side, "out": target}
