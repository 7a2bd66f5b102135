"""Pixels: from a decoder's frame to RGB at working resolution, as a viewer would see it.

Conventions
-----------
A display matrix maps coded pixels (x right, y down) to displayed ones; of it the eight that keep pixels on the grid are
applied (quarter turns and mirrorings).  Colours without a tag are read as Rec. 601, limited range, which is what FFmpeg
itself does and what generators write when they leave the tag out.  Downscaling averages areas; nothing is ever enlarged
except to square pixels.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import cast

import numpy as np
from av import VideoFrame
from av.buffer import Buffer
from av.video.reformatter import Interpolation, VideoReformatter
from numpy.typing import NDArray

Image = NDArray[np.uint8]

# Without full chroma and accurate rounding, swscale's fast path darkens by 2 grey levels (measured on 720p).
_SCALING = (
    Interpolation.AREA
    | Interpolation.ACCURATE_RND
    | Interpolation.FULL_CHR_H_INT
    | Interpolation.FULL_CHR_H_INP
    | Interpolation.BITEXACT
)


@dataclass(frozen=True, slots=True)
class Orientation:
    """A quarter turn with mirroring: transpose first, then flip columns, then rows."""

    transpose: bool = False
    columns: bool = False
    rows: bool = False
    warning: str | None = None

    @property
    def mirrored(self) -> bool:
        """Return whether left and right are exchanged, beyond any rotation."""
        return self.transpose ^ self.columns ^ self.rows

    @property
    def degrees(self) -> int:
        """Return the rotation clockwise, 0, 90, 180 or 270; where mirrored, the one after left and right."""
        if self.transpose:
            return 90 if self.columns else 270
        return 180 if self.rows else 0

    def apply(self, image: Image) -> Image:
        """Return the image (h, w, 3) as displayed; a view where possible."""
        if self.transpose:
            image = image.transpose(1, 0, 2)
        return image[:: -1 if self.rows else 1, :: -1 if self.columns else 1]


def orientation(frame: VideoFrame) -> Orientation:
    """Return how to turn a frame, by its display matrix; with a warning when that is no quarter turn."""
    data = cast(Mapping[str, Buffer], frame.side_data).get("DISPLAYMATRIX")
    if data is None or data.buffer_size < 36:
        return Orientation()
    a, b, _, c, d = struct.unpack("=5i", bytes(data)[:20])
    size = math.hypot(a, b)
    straight, turned = abs(a) + abs(d), abs(b) + abs(c)
    if size == 0 or min(straight, turned) > 0.02 * max(straight, turned):
        return Orientation(warning="display matrix is no quarter turn, not applied")
    if straight >= turned:
        return Orientation(columns=a < 0, rows=d < 0)
    # x' = c y and y' = b x: transposed, so c tells the direction of columns and b that of rows.
    return Orientation(transpose=True, columns=c < 0, rows=b < 0)


def display_size(width: int, height: int, aspect: Fraction | None) -> tuple[int, int, str | None]:
    """Return (width, height) [px] with square pixels, before rotation, and a warning or None.

    Pixels that are not square are stretched along the axis that grows, so that none are lost.
    """
    if aspect is None or aspect <= 0 or aspect == 1:
        return width, height, None
    if not Fraction(1, 8) <= aspect <= 8:
        return width, height, f"pixel aspect {aspect} is not plausible, not applied"
    wide, high = (round(width * aspect), height) if aspect > 1 else (width, round(height / aspect))
    if (wide, high) == (width, height):
        return width, height, None
    return wide, high, f"pixels are not square ({aspect.numerator}:{aspect.denominator}), stretched to {wide}x{high}"


def working_size(width: int, height: int, long_side: int) -> tuple[int, int]:
    """Return (width, height) [px] scaled so that the longer is at most `long_side`, each at least 1."""
    scale = min(1.0, long_side / max(width, height))
    return max(1, round(width * scale)), max(1, round(height * scale))


@dataclass(slots=True)
class Shaper:
    """Turns the frames of one video into images of one size; the first frame decides which."""

    long_side: int
    aspect: Fraction | None = None
    hw: tuple[int, int] = (0, 0)
    turn: Orientation = field(default_factory=Orientation)
    warnings: list[str] = field(default_factory=list)
    _coded: tuple[int, int] = (0, 0)
    _size: tuple[int, int] = (0, 0)
    _scaler: VideoReformatter = field(default_factory=VideoReformatter)

    def look(self, frame: VideoFrame) -> None:
        """Take size and orientation from the first frame; note when a later one differs."""
        if self._coded == (0, 0):
            self._begin(frame)
        elif (frame.width, frame.height) != self._coded:
            self._note(f"frame size changes from {self._coded[0]}x{self._coded[1]}, scaled to the first")

    def image(self, frame: VideoFrame) -> Image:
        """Return the frame as an image (h, w, 3) uint8 RGB, contiguous; transparent pixels lie on black."""
        self.look(frame)
        alpha = any(component.is_alpha for component in frame.format.components)
        width, height = self._size
        scaled = self._scaler.reformat(
            frame, width, height, "rgba" if alpha else "rgb24", interpolation=int(_SCALING), threads=1
        )
        image: Image = scaled.to_ndarray().astype(np.uint8, copy=False)
        if alpha:
            image = self._on_black(image)
        return np.ascontiguousarray(self.turn.apply(image))

    def _begin(self, frame: VideoFrame) -> None:
        self._coded = frame.width, frame.height
        self.turn = orientation(frame)
        width, height, warning = display_size(frame.width, frame.height, self.aspect)
        for clause in (warning, self.turn.warning, "display matrix mirrors, applied" if self.turn.mirrored else None):
            if clause:
                self._note(clause)
        self._size = working_size(width, height, self.long_side)
        self.hw = (width, height) if self.turn.transpose else (height, width)

    def _on_black(self, image: Image) -> Image:
        """Return RGB of RGBA (h, w, 4), composed over black; the warning is given only where it shows."""
        opacity = image[..., 3:]
        if opacity.min() == 255:
            return image[..., :3]
        self._note("transparent pixels, shown on black")
        return ((image[..., :3].astype(np.uint16) * opacity + 127) // 255).astype(np.uint8)

    def _note(self, clause: str) -> None:
        if clause not in self.warnings:
            self.warnings.append(clause)
