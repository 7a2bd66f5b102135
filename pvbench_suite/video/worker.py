"""The decoder process behind `isolate`: ``python -m pvbench_suite.video.worker``.

Conventions
-----------
One JSON object a line: requests on standard input, replies on what was standard output.  Frames go into the file that
the request names, as raw bytes (T, h, w, 3).  The process ends when its input does, so it never outlives its parent for
longer than one video.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from pvbench_suite.errors import BrokenVideo, UserError
from pvbench_suite.video.decode import first, probe, read
from pvbench_suite.video.faults import starved, too_heavy
from pvbench_suite.video.pixels import Image
from pvbench_suite.video.types import Limits


class FileSink:
    """Writes frames to an open file and remembers their shape."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.shape: tuple[int, ...] = ()

    def expect(self, count: int) -> None:
        """Take a hint of how many frames will come; a file needs none."""

    def add(self, image: Image) -> None:
        """Take one image (h, w, 3) uint8; DiskFull when the file cannot grow."""
        self.shape = image.shape
        try:
            self._stream.write(image.data)
        except OSError as error:
            raise DiskFull(str(error)) from error


class DiskFull(Exception):
    """The folder for temporary files has no room; not the video's fault."""


def bound(limits: Limits) -> None:
    """Hold this process to `Limits.memory` from here on.

    Linux counts heap, buffers and stacks that the process may write to, not the libraries that it maps.  Systems that
    do not know this bound keep the others (pixels, frames, time).
    """
    wanted = limits.memory << 20
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        ceiling = resource.getrlimit(resource.RLIMIT_DATA)[1]
        allowed = wanted if ceiling == resource.RLIM_INFINITY else min(wanted, ceiling)
        resource.setrlimit(resource.RLIMIT_DATA, (allowed, ceiling))


def _made(request: dict[str, Any], path: Path, limits: Limits) -> dict[str, Any]:
    """Return the reply to a request that can be fulfilled; raises what decoding raises."""
    if request["out"] is None:
        return {"probe": asdict(probe(path, limits=limits, fps=request["fps"], full=request["full"]))}
    with Path(request["out"]).open("wb", buffering=0) as stream:
        sink = FileSink(stream)
        options: dict[str, Any] = {"long_side": request["long_side"], "limits": limits, "fps": request["fps"]}
        if request.get("first"):
            found = first(path, **options)
            sink.add(found.image)
            return {"hw": found.hw, "still": found.still, "shape": sink.shape}
        probed, times = read(path, **options, sink=sink)
    return {"probe": asdict(probed), "times": times.tolist(), "shape": [len(times), *sink.shape]}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to one request: probe, times and shape, or the kind and text of an error."""
    path, limits = Path(request["path"]), Limits(**request["limits"])
    bound(limits)
    try:
        return _made(request, path, limits)
    except BrokenVideo as error:
        return {"broken": str(too_heavy(path, limits) if starved(error) else error)}
    except MemoryError:
        return {"broken": str(too_heavy(path, limits))}
    except UserError as error:
        return {"user": str(error)}
    except DiskFull as error:
        return {"disk": str(error)}
    except Exception as error:  # a fault of ours, which must not pass for a broken video
        return {"bug": " ".join(traceback.format_exception(error)[-2:])}


def main() -> None:
    """Answer requests until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides; an interrupted parent closes our input
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="ascii")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    replies.write('{"ready": true}\n')
    replies.flush()
    for line in sys.stdin:
        replies.write(json.dumps(answer(json.loads(line))) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
