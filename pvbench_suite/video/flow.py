"""Where frames come from and where they go: the two small protocols between decoding and its parts."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Protocol

import av
import numpy as np
from numpy.typing import NDArray

from pvbench_suite.video.pixels import Image


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

    def declared(self) -> int:
        """Return how many frames are promised; 0 where no number is stated."""

    def expected(self) -> int:
        """Return about how many frames will come; 0 where nothing is known."""

    def frames(self) -> Iterator[tuple[av.VideoFrame, float | None]]:
        """Yield (frame, timestamp [s] or None) in the order of display."""

    def verify(self, frames: int, step: float | None) -> None:
        """Raise `BrokenVideo` if fewer frames came out than declared."""


class Sink(Protocol):
    """Takes the working frames one by one."""

    def expect(self, count: int) -> None:
        """Take a hint of how many frames will come."""

    def add(self, image: Image) -> None:
        """Take one image (h, w, 3) uint8; all have one shape."""


class ArraySink:
    """Collects frames in one array that doubles when full; pages that are never written cost no memory."""

    def __init__(self) -> None:
        self._hint = 64
        self._frames: NDArray[np.uint8] = np.empty((0, 0, 0, 3), np.uint8)
        self._count = 0

    def expect(self, count: int) -> None:
        """Take a hint of how many frames will come, so that the array need not be copied to grow."""
        self._hint = max(64, count)

    def add(self, image: Image) -> None:
        """Take one image (h, w, 3) uint8."""
        if self._count == len(self._frames):
            grown = np.empty((max(self._hint, 2 * self._count), *image.shape), np.uint8)
            grown[: self._count] = self._frames[: self._count] if self._count else 0
            self._frames = grown
        self._frames[self._count] = image
        self._count += 1

    def array(self) -> NDArray[np.uint8]:
        """Return the frames (T, h, w, 3)."""
        return self._frames[: self._count]
