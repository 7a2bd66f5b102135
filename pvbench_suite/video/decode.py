"""Decodes a video, once, into a `Clip` at working resolution and a `Probe` of what was found.

Conventions
-----------
Time is the container's timestamp.  Frames are shrunk while decoding, so memory is that of the working frames and one
full frame.  Whatever is wrong with the file is one `BrokenVideo` of one line that names file and cause; a single frame
is a `Clip` like any other.  `decode_isolated` does the same in a worker process, so that a decoder that crashes or
hangs costs one video.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pvbench_suite.video import webp
from pvbench_suite.video.container import ContainerSource, open_container
from pvbench_suite.video.faults import FAULTS, broken, cause_of, starved, timed_out, too_heavy, too_large, too_long
from pvbench_suite.video.flow import ArraySink, Sink, Source
from pvbench_suite.video.folder import open_folder
from pvbench_suite.video.isolate import decode_isolated, first_isolated, probe_isolated
from pvbench_suite.video.pixels import Shaper
from pvbench_suite.video.protocol import protocol_warnings
from pvbench_suite.video.structure import truncation
from pvbench_suite.video.timing import Floats, rate_of, repair, usual_step
from pvbench_suite.video.types import DEFAULT_LIMITS, Clip, First, Limits, Probe

__all__ = [
    "Limits", "decode", "decode_isolated", "decode_with_probe", "first", "first_isolated", "probe", "probe_isolated",
    "read",
]  # fmt: skip

LONG_SIDE = 640
#: Codecs whose packets may hold frames that are never shown, so that packets cannot be counted.
_HIDDEN_FRAMES = frozenset({"vp8", "libvpx"})


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


def read(path: Path, *, long_side: int, limits: Limits, fps: float | None, sink: Sink | None) -> tuple[Probe, Floats]:
    """Return the probe and the times (T,) [s] of a video; its working frames go to `sink`, if there is one."""
    deadline = time.monotonic() + limits.seconds
    with _open(path, limits, fps) as source:
        shaper = Shaper(long_side, source.aspect)
        stamps: list[float | None] = []
        if sink is not None:
            sink.expect(min(source.expected(), limits.max_frames))
        try:
            for frame, stamp in source.frames():
                if frame.width * frame.height > limits.max_pixels:
                    raise too_large(path, frame.width, frame.height, limits)
                if len(stamps) == limits.max_frames:
                    raise too_long(path, limits)
                if time.monotonic() > deadline:
                    raise timed_out(path, limits)
                if sink is None:
                    shaper.look(frame)
                else:
                    sink.add(shaper.image(frame))
                stamps.append(stamp)
        except FAULTS as error:
            # Eight bytes hold a pixel of any format.
            if starved(error, 8 * (shaper.hw[0] * shaper.hw[1] or limits.max_pixels)):
                raise too_heavy(path, limits) from error
            declared = source.declared()
            place = f"after {len(stamps)} of {declared} frames" if declared else f"after {len(stamps)} frames"
            cut = truncation(path)
            raise broken(path, f"{cause_of(error)} {place}{f' ({cut})' if cut else ''}") from error
        return _conclude(path, source, shaper, stamps)


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
    path: Path, *, long_side: int = LONG_SIDE, limits: Limits = DEFAULT_LIMITS, fps: float | None = None
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


def first(
    path: Path, *, long_side: int = LONG_SIDE, limits: Limits = DEFAULT_LIMITS, fps: float | None = None
) -> First:
    """Return the first picture of a video or image; nothing after it is read.  Parameters and errors as above."""
    with _open(path, limits, fps) as source:
        shaper = Shaper(long_side, source.aspect)
        try:
            frame = next((frame for frame, _ in source.frames()), None)
        except FAULTS as error:
            raise broken(path, cause_of(error)) from error
        if frame is None:
            raise broken(path, "no frame decodes")
        if frame.width * frame.height > limits.max_pixels:
            raise too_large(path, frame.width, frame.height, limits)
        return First(shaper.image(frame), shaper.hw, isinstance(source, ContainerSource) and source.is_still)


def decode(
    path: Path, *, long_side: int = LONG_SIDE, limits: Limits = DEFAULT_LIMITS, fps: float | None = None
) -> Clip:
    """Return the frames of a video at working resolution; parameters and errors as in `decode_with_probe`."""
    return decode_with_probe(path, long_side=long_side, limits=limits, fps=fps)[1]


def probe(path: Path, *, limits: Limits = DEFAULT_LIMITS, fps: float | None = None, full: bool = True) -> Probe:
    """Return what is known of a video; errors as in `decode_with_probe`.

    With `full` every frame is decoded.  Without it only the first is, and the others are counted from the container's
    packets: forty times faster, but damage inside a frame goes unseen.
    """
    path = Path(path)
    if not full and path.is_file() and not webp.is_animated(path):
        with open_container(path, limits) as source:
            if source.codec not in _HIDDEN_FRAMES:
                return _outlined(path, source, limits)
    return read(path, long_side=LONG_SIDE, limits=limits, fps=fps, sink=None)[0]


def _outlined(path: Path, source: ContainerSource, limits: Limits) -> Probe:
    """Return the probe from the first frame and the packets."""
    shaper = Shaper(LONG_SIDE, source.aspect)
    try:
        first, stamps = source.outline()
    except FAULTS as error:
        raise broken(path, cause_of(error)) from error
    if first is None:
        stamps = []
    else:
        shaper.look(first)
    if len(stamps) > limits.max_frames:
        raise too_long(path, limits)
    return _conclude(path, source, shaper, stamps)[0]
