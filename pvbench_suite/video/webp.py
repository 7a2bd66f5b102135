"""Animated WebP, which FFmpeg cannot decode as a whole: each frame is decoded as a still and composed here.

Conventions
-----------
Chunks as in the WebP container specification (Google, RFC 9649): a canvas, and frames with place, duration, blending
and disposal.  Sizes are little-endian.  The background is transparent, as browsers show it.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from pvbench_suite.video.faults import broken, too_large
from pvbench_suite.video.types import Limits

Image = NDArray[np.uint8]
_ANIMATED, _KEEP_ALPHA, _DISPOSE = 0x02, 0x02, 0x01


def is_animated(path: Path) -> bool:
    """Return whether a file is a WebP whose header says that it is animated."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as stream:
            head = stream.read(21)
    except OSError:
        return False
    return head[:4] == b"RIFF" and head[8:16] == b"WEBPVP8X" and len(head) == 21 and bool(head[20] & _ANIMATED)


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield (name, payload) of the chunks; ValueError when one is cut off."""
    at = 0
    while at + 8 <= len(data):
        size = int.from_bytes(data[at + 4 : at + 8], "little")
        if at + 8 + size > len(data):
            raise ValueError(f"cut off: {len(data):,} of {at + 8 + size:,} bytes")
        yield data[at : at + 4], data[at + 8 : at + 8 + size]
        at += 8 + size + size % 2


def _riff(*chunks: tuple[bytes, bytes]) -> bytes:
    body = b"".join(n + len(p).to_bytes(4, "little") + p + b"\0" * (len(p) % 2) for n, p in chunks)
    return b"RIFF" + (len(body) + 4).to_bytes(4, "little") + b"WEBP" + body


def _still(payload: bytes, width: int, height: int) -> Image:
    """Return one frame's own image (h, w, 4) RGBA, from its ANMF chunk without the 16 byte header."""
    parts = [(n, p) for n, p in _chunks(payload) if n in (b"ALPH", b"VP8 ", b"VP8L")]
    if any(name == b"ALPH" for name, _ in parts):
        size = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
        parts.insert(0, (b"VP8X", b"\x10\0\0\0" + size))
    with av.open(io.BytesIO(_riff(*parts)), "r", format="webp_pipe") as container:
        frame = next(container.decode(video=0))
    if (frame.width, frame.height) != (width, height):
        raise ValueError("a frame's size differs from what its header says")
    return frame.to_ndarray(format="rgba").astype(np.uint8, copy=False)


@dataclass(slots=True)
class WebpSource:
    """The frames of an animated WebP, with timestamps that add up the stated durations."""

    path: Path
    limits: Limits
    codec: str = "webp"
    aspect: Fraction | None = None
    nominal_step: float | None = None
    tick: float | None = 0.001
    warnings: list[str] = field(default_factory=list)
    corrupt: int = 0
    end: float = 0.0

    def frames(self) -> Iterator[tuple[av.VideoFrame, float | None]]:
        """Yield (frame, timestamp [s]) as composed on the canvas."""
        canvas: Image | None = None
        for name, payload in _chunks(self.path.read_bytes()[12:]):
            if name == b"VP8X":
                width, height = (int.from_bytes(payload[k : k + 3], "little") + 1 for k in (4, 7))
                if width * height > self.limits.max_pixels:
                    raise too_large(self.path, width, height, self.limits)
                canvas = np.zeros((height, width, 4), np.uint8)
            elif name == b"ANMF" and canvas is not None and len(payload) > 16:
                numbers = [int.from_bytes(payload[k : k + 3], "little") for k in range(0, 15, 3)]
                left, top, width, height = numbers[0] * 2, numbers[1] * 2, numbers[2] + 1, numbers[3] + 1
                place = canvas[top : top + height, left : left + width]
                if place.shape[:2] != (height, width):
                    raise ValueError("a frame lies outside the canvas")
                self._blend(place, _still(payload[16:], width, height), opaque=bool(payload[15] & _KEEP_ALPHA))
                yield av.VideoFrame.from_ndarray(canvas, format="rgba"), self.end
                self.end += max(numbers[4], 1) / 1000
                if payload[15] & _DISPOSE:
                    place[:] = 0

    @staticmethod
    def _blend(place: Image, image: Image, *, opaque: bool) -> None:
        """Draw `image` into `place`, over what is there or instead of it."""
        alpha = image[..., 3:].astype(np.float32) / 255
        if opaque or alpha.min() == 1:
            place[:] = image
            return
        under = place[..., 3:].astype(np.float32) / 255 * (1 - alpha)
        total = alpha + under
        mixed = (image[..., :3] * alpha + place[..., :3] * under) / np.maximum(total, 1e-6)
        place[..., :3] = np.round(mixed)
        place[..., 3:] = np.round(total * 255)

    def declared(self) -> int:
        """Return 0: the number of frames is not stated."""
        return 0

    expected = declared

    def verify(self, frames: int, step: float | None) -> None:
        """Raise `BrokenVideo` if no frame came out."""
        if frames == 0:
            raise broken(self.path, "no frame decodes")
