"""Container files (MP4, WebM, GIF, stills, ...) as a source of frames with timestamps, read by PyAV.

Conventions
-----------
The file is untrusted.  It is opened as a byte stream, so that its name is never read as an address or pattern, and only
demuxers of media files are allowed: a playlist that names other files is no video.  Every fault is one `BrokenVideo` of
one line.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO, cast

import av
from av.container import InputContainer
from av.video.stream import VideoStream

from pvbench_suite.video.faults import FAULTS, broken, cause_of, too_large
from pvbench_suite.video.structure import truncation
from pvbench_suite.video.types import Limits

#: Demuxers that may be used; none of them opens a second file or an address.
_DEMUXERS = (
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,flv,gif,apng,mpegts,mpeg,mpegvideo,ogg,asf,rm,ivf,obu,h264,hevc,vvc,av1,m4v,mjpeg,"
    "mjpeg_2000,yuv4mpegpipe,nut,mxf,dv,webp_pipe,png_pipe,jpeg_pipe,jpegls_pipe,j2k_pipe,bmp_pipe,tiff_pipe,ppm_pipe,gif_pipe,jpegxl_pipe"
)


@dataclass(slots=True)
class ContainerSource:
    """The chosen video stream of an open container: its frames, its nominal values, and what was noticed."""

    path: Path
    container: InputContainer
    stream: VideoStream
    codec: str
    warnings: list[str] = field(default_factory=list)
    discarded: int = 0
    corrupt: int = 0
    end: float = 0.0

    @property
    def aspect(self) -> Fraction | None:
        """Return the sample aspect ratio, width over height of one pixel, or None where it is not stated."""
        return self.stream.sample_aspect_ratio

    @property
    def nominal_step(self) -> float | None:
        """Return the declared duration of a frame [s], or None where none is plausible."""
        rate = self.stream.guessed_rate or self.stream.average_rate
        return float(1 / rate) if rate and Fraction(1, 10) <= rate <= 480 else None

    @property
    def tick(self) -> float | None:
        """Return the unit of the timestamps [s]."""
        return float(self.stream.time_base) if self.stream.time_base else None

    @property
    def is_still(self) -> bool:
        """Return whether the file is a single image, whose duration FFmpeg makes up."""
        return self.container.format.name.endswith("_pipe")

    def packets(self) -> Iterator[av.Packet[Any]]:
        """Yield the packets of the video stream; notes the end of every stream and what is cut by an edit list."""
        for packet in self.container.demux():
            if packet.pts is not None and packet.time_base is not None and not self.is_still:
                self.end = max(self.end, float((packet.pts + (packet.duration or 0)) * packet.time_base))
            if packet.stream.index == self.stream.index:  # a flush packet has no stream_index
                self.discarded += packet.is_discard and packet.size > 0
                yield packet

    def frames(self) -> Iterator[tuple[av.VideoFrame, float | None]]:
        """Yield (frame, timestamp [s] or None) in the order of display."""
        for packet in self.packets():
            for frame in packet.decode():
                if not isinstance(frame, av.VideoFrame):
                    continue
                self.corrupt += frame.is_corrupt
                stamp = None if frame.pts is None or frame.time_base is None else float(frame.pts * frame.time_base)
                yield frame, stamp

    def outline(self) -> tuple[av.VideoFrame | None, list[float | None]]:
        """Return the first frame and the timestamps [s] of all, in the order of display, without decoding the rest."""
        first: av.VideoFrame | None = None
        stamps: list[float | None] = []
        for packet in self.packets():
            if first is None:
                first = next((frame for frame in packet.decode() if isinstance(frame, av.VideoFrame)), None)
            if packet.size > 0 and not packet.is_discard:
                unknown = packet.pts is None or packet.time_base is None
                stamps.append(None if unknown else float(cast(int, packet.pts) * packet.time_base))
        return first, sorted(stamps, key=lambda stamp: (stamp is None, stamp or 0.0))

    def expected(self) -> int:
        """Return about how many frames will come, by number or duration; 0 where nothing is known."""
        step, duration = self.nominal_step, self.container.duration
        return self.declared() or (round(duration / 1e6 / step) + 1 if step and duration and duration > 0 else 0)

    def declared(self) -> int:
        """Return how many frames the container promises to show, or 0 where it does not say.

        In MP4 the demuxer's index, which has gone through the edit list, counts instead of the header.  A GIF promises
        nothing: FFmpeg counts what it finds.
        """
        count = 0 if self.container.format.name == "gif" else self.stream.frames
        if count and "mp4" in self.container.format.name:
            count = min(count, len(self.stream.index_entries) or count)
        return max(0, count)

    def verify(self, frames: int, step: float | None) -> None:
        """Raise `BrokenVideo` if fewer frames came out than the container declares.

        Where it declares no number, its duration counts, with a tolerance of a tenth, half a second and three steps:
        the last frame may be held, and true timestamps may have gaps.
        """
        cut = truncation(self.path)
        suffix = f" ({cut})" if cut else ""
        seconds = self.container.duration / 1e6 if self.container.duration else 0.0
        declared = self.declared()
        if frames == 0:
            says = [f"{declared} frames"] * bool(declared) + [f"{seconds:.4g} s"] * bool(seconds)
            raise broken(
                self.path, f"no frame decodes{', the header claims ' + ', '.join(says) if says else ''}{suffix}"
            )
        if frames + self.discarded < declared:
            raise broken(self.path, f"{frames} of {declared} declared frames decode{suffix}")
        if cut and not declared:
            raise broken(self.path, f"{frames} frames decode, but the file is {cut}")
        if cut:
            self.warnings.append(f"all frames are there, but the file is {cut}")
        if not declared and seconds and self.end < seconds - max(0.1 * seconds, 0.5, 3 * (step or 0.0)):
            raise broken(self.path, f"{frames} frames reach {self.end:.4g} s of {seconds:.4g} s declared")


@contextmanager
def open_container(path: Path, limits: Limits) -> Iterator[ContainerSource]:
    """Yield the video stream of a file as a `ContainerSource`; `BrokenVideo` when there is none to decode."""
    try:
        if not path.is_file() and path.exists():
            raise broken(path, "is no regular file")  # a pipe would keep us waiting
        stream = path.open("rb")
    except OSError as error:
        raise broken(path, f"cannot be read: {cause_of(error)}") from error
    with stream:
        _refuse_large_png(path, stream, limits)
        try:
            options = {"format_whitelist": _DEMUXERS, "protocol_whitelist": "file"}
            container = av.open(stream, "r", options=options, metadata_errors="ignore")
        except (*FAULTS, OSError) as error:
            raise broken(path, _why_closed(path, error)) from error
        with container:
            yield _choose(path, container, limits)


def _refuse_large_png(path: Path, stream: BinaryIO, limits: Limits) -> None:
    """Raise `BrokenVideo` if a PNG is too large; FFmpeg learns a PNG's size late, and calls such a one invalid data."""
    head = stream.read(24)
    stream.seek(0)
    if head[:8] == b"\x89PNG\r\n\x1a\n" and len(head) == 24:
        width, height = int.from_bytes(head[16:20]), int.from_bytes(head[20:24])
        if width * height > limits.max_pixels:
            raise too_large(path, width, height, limits)


def _why_closed(path: Path, error: BaseException) -> str:
    """Return why a file cannot be opened as a video, as helpful as its first bytes allow."""
    if path.stat().st_size == 0:
        return "is empty (0 bytes)"
    return truncation(path) or f"is no video that FFmpeg can open ({cause_of(error)})"


def _choose(path: Path, container: InputContainer, limits: Limits) -> ContainerSource:
    """Return the video stream to read: the first that is marked default, else the largest; covers never count."""
    streams = [s for s in container.streams.video if not s.disposition & av.stream.Disposition.attached_pic]
    if not streams:
        others = sorted({s.type for s in container.streams if s.type != "data"})
        only = f" (only {', '.join(others)})" if others else ""
        raise broken(path, f"no video stream{only or ', or none in a codec that FFmpeg knows'}")
    known = [s for s in streams if s.codec_context is not None]
    if not known:
        raise broken(path, "the codec of its video stream is unknown to FFmpeg")
    default = [s for s in known if s.disposition & av.stream.Disposition.default]
    stream = default[0] if default else max(known, key=lambda s: s.width * s.height)
    if stream.width * stream.height > limits.max_pixels:
        raise too_large(path, stream.width, stream.height, limits)
    # One thread: the same order of events every run, and the runner already uses one process per core.
    stream.thread_type = "NONE"
    stream.codec_context.thread_count = 1
    stream.codec_context.options = {"max_pixels": str(limits.max_pixels)}
    source = ContainerSource(path, container, stream, stream.codec_context.name)
    if len(streams) > 1:
        sizes = ", ".join(f"{s.width}x{s.height}" for s in known)
        source.warnings.append(
            f"{len(streams)} video streams ({sizes}), read the {'first marked default' if default else 'largest'}"
        )
    return source
