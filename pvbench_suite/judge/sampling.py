"""Which frames a judge sees, and how they are sent.

Conventions
-----------
Frames are chosen by timestamp, both ends in, so that the frame rate of the file does not matter.  A picture is a JPEG
(or PNG for drawings) with its long side capped; equal input gives equal bytes under one build of OpenCV.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from pvbench_suite.judge.settings import FRAMES_PER_SECOND, JPEG_QUALITY, LONG_SIDE, Settings
from pvbench_suite.video.types import Clip

#: How many pixels square one token of a picture covers in the default judge (patches of 16, merged two by two).
TOKEN_SIDE = 32


@dataclass(frozen=True)
class Picture:
    """One encoded picture; `hw` (H, W) [px] as sent."""

    data: bytes
    mime: str
    hw: tuple[int, int]

    @property
    def tokens(self) -> int:
        """About how many tokens the default judge spends on it."""
        return -(-self.hw[0] // TOKEN_SIDE) * -(-self.hw[1] // TOKEN_SIDE)


@dataclass(frozen=True)
class Reference:
    """A reference image as it is sent, and the sha256 (hex) of its file, which identifies it."""

    picture: Picture
    digest: str


@dataclass(frozen=True)
class Frames:
    """The sampled frames of a clip with their times [s], and the length of the clip [s]."""

    pictures: tuple[Picture, ...]
    times: tuple[float, ...]
    seconds: float


def sample(times: ArrayLike, most: int, least: int, per_second: float = FRAMES_PER_SECOND) -> NDArray[np.intp]:
    """Return the indices of the frames nearest to evenly spaced instants, both ends in, without repetition.

    Parameters
    ----------
    times : (T,) float
        Timestamps [s], increasing.
    most, least : int
        Bounds of the number of frames; a clip with fewer than `least` gives all it has.
    per_second : float
        Frames per second of video between those bounds.

    Returns
    -------
    (M,) int
        Increasing indices, M <= `most`.

    Examples
    --------
    >>> sample([0.0, 0.1, 0.2, 0.3, 5.0], most=3, least=3).tolist()
    [0, 3, 4]
    """
    t = np.asarray(times, dtype=float)
    wanted = int(np.clip(np.floor((t[-1] - t[0]) * per_second + 0.5) + 1, least, most))
    if len(t) <= wanted:
        return np.arange(len(t))
    instants = np.linspace(t[0], t[-1], wanted)
    # Of two frames at the same distance the earlier counts, so that the choice never depends on rounding noise.
    right = np.clip(np.searchsorted(t, instants - 1e-9), 0, len(t) - 1)
    left = np.maximum(right - 1, 0)
    nearest = np.where(instants - t[left] <= t[right] - instants + 1e-9, left, right)
    return np.unique(nearest)


def jpeg(frame: NDArray[np.uint8], long_side: int = LONG_SIDE) -> Picture:
    """Return an RGB frame (h, w, 3) as a JPEG whose long side is at most `long_side` [px]."""
    h, w = frame.shape[:2]
    if max(h, w) > long_side:
        scale = long_side / max(h, w)
        h, w = max(1, round(h * scale)), max(1, round(w * scale))
        frame = np.asarray(cv2.resize(frame, (w, h), interpolation=cv2.INTER_AREA), dtype=np.uint8)
    return _encoded(frame, ".jpg", "image/jpeg", [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])


def png(drawing: NDArray[np.uint8]) -> Picture:
    """Return an RGB drawing (h, w, 3) as a PNG."""
    return _encoded(drawing, ".png", "image/png", [cv2.IMWRITE_PNG_COMPRESSION, 6])


def _encoded(frame: NDArray[np.uint8], suffix: str, mime: str, flags: list[int]) -> Picture:
    ok, data = cv2.imencode(suffix, np.ascontiguousarray(frame[..., ::-1]), flags)
    if not ok:
        raise RuntimeError(f"OpenCV could not encode a picture of shape {frame.shape}")
    return Picture(data.tobytes(), mime, (int(frame.shape[0]), int(frame.shape[1])))


def frames_of(clip: Clip, settings: Settings) -> Frames:
    """Return the frames of `clip` that a judge sees."""
    chosen = sample(clip.times, settings.frames, settings.least_frames)
    times = tuple(round(float(clip.times[k]), 3) for k in chosen)
    return Frames(tuple(jpeg(clip.frames[k]) for k in chosen), times, round(float(clip.times[-1] - clip.times[0]), 3))
