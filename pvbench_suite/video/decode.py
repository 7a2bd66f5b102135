"""Decodes a video, once, into a `Clip` at working resolution and a `Probe` of what was found.

Conventions
-----------
Time is the container's timestamp.  Frames are shrunk while decoding, so memory is that of the working frames and one full
frame.  Whatever is wrong with the file is one `BrokenVideo` of one line that names file and cause; a single frame is a `Clip` like any
other.  `decode_isolated` does the same in a worker process, so that a decoder that crashes or hangs costs one video.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Protocol

import av
import numpy as np
from numpy.typing import NDArray

from pvbench_suite.video import webp
from pvbench_suite.video.container import FAULTS, ContainerSource, broken, cause_of, open_container, too_large
from pvbench_suite.video.folder import open_folder
from pvbench_suite.video.isolate import decode_isolated, probe_isolated
from pvbench_suite.video.pixels import Image, Shaper
from pvbench_suite.video.protocol import protocol_warnings
from pvbench_suite.video.timing import Floats, rate_of, repair, usual_step
from pvbench_suite.video.types import Clip, Limits, Probe

__all__ = ["Limits", "decode", "decode_isolated", "decode_with_probe", "probe", "probe_isolated", "read"]

LONG_SIDE = 640


class Source(Protocol):
    """Frames with timestamps, from a container, an animated WebP or a folder."""

    @property
    def codec(self) -> str:
        """Return the decoder's name."""

    @property
    def aspect(self) -> Fraction | None:
        """Return the sample aspect ratio, or None."""

    @property
    def nominal_step(self) -> float | None:
        """Return the declared duration of a frame [s], or None."""

    @property
    def tick(self) -> float | None:
        """Return the unit of the timestamps [s], or None."""

    @property
    def warnings(self) -> list[str]:
        """Return short clauses about the file."""

    @property
    def corrupt(self) -> int:
        """Return how many frames the decoder marked as damaged."""

    @property
    def end(self) -> float:
        """Return the end of what was read [s]."""

    def frames(self) -> Iterator[tuple[av.VideoFrame, float | None]]:
        """Yield (frame, timestamp [s] or None) in the order of display."""

    def verify(self, frames: int, step: float | None) -> None:
        """Raise `BrokenVideo` if fewer frames came out than declared."""


class Sink(Protocol):
    """Takes the working frames one by one."""

    def add(self, image: Image) -> None:
        """Take one image (h, w, 3) uint8; all have one shape."""


class ArraySink:
    """Collects frames in one array that doubles when full; pages that are never written cost no memory."""

    def __init__(self) -> None:
        self._frames: NDArray[np.uint8] = np.empty((0, 0, 0, 3), np.uint8)
        self._count = 0

    def add(self, image: Image) -> None:
        """Take one image (h, w, 3) uint8."""
        if self._count == len(self._frames):
            grown = np.empty((max(64, 2 * self._count), *image.shape), np.uint8)
            grown[: self._count] = self._frames[: self._count] if self._count else 0
            self._frames = grown
        self._frames[self._count] = image
        self._count += 1

    def array(self) -> NDArray[np.uint8]:
        """Return the frames (T, h, w, 3)."""
        return self._frames[: self._count]


@contextmanager
def _open(path: Path, limits: Limits, fps: float | None) -> Iterator[Source]:
    """Yield the source that fits `path`."""
    if path.is_dir():
        yield open_folder(path, limits, fps)
    elif webp.is_animated(path):
        yield webp.WebpSource(path, limits)
    else:
        with open_container(path, limits) as source:
            yield source


def read(
    path: Path, *, long_side: int, limits: Limits, fps: float | None, sink: Sink | None
) -> tuple[Probe, Floats]:
    """Return the probe and the times (T,) [s] of a video; its working frames go to `sink`, if there is one."""
    deadline = time.monotonic() + limits.seconds
    with _open(path, limits, fps) as source:
        shaper = Shaper(long_side, source.aspect)
        stamps: list[float | None] = []
        try:
            for frame, stamp in source.frames():
                if frame.width * frame.height > limits.max_pixels:
                    raise too_large(path, frame.width, frame.height, limits)
                if len(stamps) == limits.max_frames:
                    raise broken(path, f"more than {limits.max_frames} frames (--pv-max-frames); cut it or raise the limit")
                if time.monotonic() > deadline:
                    raise timed_out(path, limits)
                if sink is None:
                    shaper.look(frame)
                else:
                    sink.add(shaper.image(frame))
                stamps.append(stamp)
        except (*FAULTS, av.error.EOFError) as error:
            raise broken(path, f"{_cause(source, error)} after {len(stamps)} frames") from error
        return _conclude(path, source, shaper, stamps)


def timed_out(path: Path, limits: Limits) -> Exception:
    """Return the error for a video that takes longer than `Limits.seconds`."""
    return broken(path, f"decoding took longer than {limits.seconds:g} s (--pv-decode-timeout)")


def _cause(source: Source, error: Exception) -> str:
    """Return the cause of a fault while decoding, with the number of frames that the header promised."""
    declared = source.declared() if isinstance(source, ContainerSource) else 0
    return cause_of(error) + (f" in the {declared} declared frames" if declared else "")


def _conclude(path: Path, source: Source, shaper: Shaper, stamps: list[float | None]) -> tuple[Probe, Floats]:
    """Return probe and times once every frame has come; `BrokenVideo` if some are missing."""
    try:
        times, repaired = repair(stamps, source.nominal_step)
    except ValueError as error:
        raise broken(path, cause_of(error)) from error
    step = usual_step(times) or source.nominal_step
    source.verify(len(times), step)
    rate, vfr = rate_of(times, source.tick)
    tail = step
    if len(times) == 1:
        start = stamps[0] or 0.0
        tail = source.end - start if source.end > start else None
    damaged = (f"{source.corrupt} frames damaged",) if source.corrupt else ()
    probe = Probe(
        hw=shaper.hw,
        frames=len(times),
        seconds=None if tail is None else float(times[-1]) + tail,
        rate=rate,
        vfr=vfr,
        codec=source.codec,
        rotation=shaper.turn.degrees,
        warnings=(*source.warnings, *shaper.warnings, *repaired, *damaged),
    )
    return probe, times


def decode_with_probe(
    path: Path, *, long_side: int = LONG_SIDE, limits: Limits = Limits(), fps: float | None = None
) -> tuple[Probe, Clip]:
    """Return what is known of a video and its frames at working resolution, from one pass.

    Parameters
    ----------
    path : Path
        A video file, an animated or still image, or a folder of PNG or JPEG frames.
    long_side : int
        Longest side of the working frames [px]; smaller videos keep their size.
    limits : Limits
        What decoding may cost.
    fps : float, optional
        Rate of a folder of frames [frame/s]; of no use for files, whose timestamps count.

    Raises
    ------
    BrokenVideo
        If the file cannot be decoded, decodes to fewer frames than it declares, or exceeds a limit.
    UserError
        If `path` is a folder and `fps` is not given.
    """
    sink = ArraySink()
    probe, times = read(Path(path), long_side=long_side, limits=limits, fps=fps, sink=sink)
    return probe, Clip(sink.array(), times, probe.hw, (*probe.warnings, *protocol_warnings(probe)))


def decode(
    path: Path, *, long_side: int = LONG_SIDE, limits: Limits = Limits(), fps: float | None = None
) -> Clip:
    """Return the frames of a video at working resolution; parameters and errors as in `decode_with_probe`."""
    return decode_with_probe(path, long_side=long_side, limits=limits, fps=fps)[1]


def probe(path: Path, *, limits: Limits = Limits(), fps: float | None = None, full: bool = True) -> Probe:
    """Return what is known of a video after decoding every frame of it; errors as in `decode_with_probe`."""
    return read(Path(path), long_side=LONG_SIDE, limits=limits, fps=fps, sink=None)[0]
