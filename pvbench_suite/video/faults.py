"""The ways a video can be broken: each one line that names file and cause, and the option of a limit."""

from __future__ import annotations

import contextlib
import errno
from pathlib import Path

import av

from pvbench_suite.errors import BrokenVideo
from pvbench_suite.video.names import shown
from pvbench_suite.video.types import Limits

#: What PyAV raises on bad data, beside its own errors.
FAULTS = (av.FFmpegError, ValueError, RuntimeError, OverflowError, NotImplementedError)


def broken(path: Path, cause: str) -> BrokenVideo:
    """Return the error that names file and cause in one line."""
    return BrokenVideo(f"{shown(path.name)}: {shown(cause, 300)}")


def cause_of(error: BaseException) -> str:
    """Return what FFmpeg or the operating system says, without path and number."""
    if isinstance(error, av.error.InvalidDataError):
        return "invalid data"
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).partition("\n")[0]


def too_large(path: Path, width: int, height: int, limits: Limits) -> BrokenVideo:
    """Return the error for a frame beyond `Limits.max_pixels`."""
    allowed = f"more than {limits.max_pixels:,} pixels (--pv-max-pixels)"
    return broken(path, f"{width}x{height} is {allowed}; downscale it or raise the limit")


def too_long(path: Path, limits: Limits) -> BrokenVideo:
    """Return the error for a video beyond `Limits.max_frames`."""
    return broken(path, f"more than {limits.max_frames} frames (--pv-max-frames); cut it or raise the limit")


def timed_out(path: Path, limits: Limits) -> BrokenVideo:
    """Return the error for a video that takes longer than `Limits.seconds`."""
    return broken(path, f"decoding took longer than {limits.seconds:g} s (--pv-decode-timeout)")


def starved(error: BaseException | None, need: int = 0) -> bool:
    """Return whether an error, or one that it was raised from, is for lack of memory.

    FFmpeg's decoders call a frame that they got no memory for invalid data, so it also counts when this process has
    less than `need` bytes left of its bound.
    """
    while error is not None:
        if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
            return True
        error = error.__cause__
    room = _room()
    return room is not None and room < need


def _room() -> int | None:
    """Return how much memory this process may still take [bytes], or None where nothing bounds it (Linux only)."""
    with contextlib.suppress(ImportError, OSError, ValueError, IndexError):
        import resource

        allowed = resource.getrlimit(resource.RLIMIT_DATA)[0]
        if allowed != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5])
            return allowed - pages * resource.getpagesize()
    return None


def too_heavy(path: Path, limits: Limits) -> BrokenVideo:
    """Return the error for a video that needs more than `Limits.memory`."""
    return broken(path, f"decoding needs more than {limits.memory:,} MiB of memory (--pv-max-memory)")
