"""`Video`, `Clip` and `Probe`: a file of a run, its decoded frames, and what decoding found out about it.

Conventions
-----------
T frames; h, w rows and columns [px] of the working grid; H, W those of the full frame as displayed, that is after the
sample aspect ratio and the display rotation.  Times are container timestamps in seconds [s], the first at 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Modality = Literal["t2v", "i2v"]
MODALITIES: tuple[Modality, ...] = ("t2v", "i2v")


@dataclass(frozen=True, slots=True)
class Video:
    """One file (or folder of frames) of one model, and the prompt group it answers.

    `id` is unique within a model and modality and safe in a test id (``[A-Za-z0-9_.-]``, at most 80 characters).
    `group` is the id of a prompt group, or None for a video that belongs to none.  `fps` is given for folders of frames
    only.
    """

    id: str
    path: Path
    model: str
    modality: Modality
    group: str | None = None
    seed: int | None = None
    prompt: str | None = None
    reference: Path | None = None
    fps: float | None = None
    dimensions: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        return f"{self.model}-{self.modality}-{self.id}"


@dataclass(frozen=True, slots=True)
class Limits:
    """What decoding one video may cost; beyond any of them the video is broken, and the message names the option.

    Parameters
    ----------
    max_pixels : int
        Pixels of one frame as coded; the default is 4096 x 2160 (``--pv-max-pixels``).
    max_frames : int
        Frames of one video; the default is 10 s at 240 frames per second (``--pv-max-frames``).
    seconds : float
        Wall-clock time to decode one video [s] (``--pv-decode-timeout``).
    memory : int
        Memory of the decoder's process, itself included [MiB]; the default is 2 GiB (``--pv-max-memory``).
    """

    max_pixels: int = 4096 * 2160
    max_frames: int = 2400
    seconds: float = 120.0
    memory: int = 2048


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Probe:
    """What decoding found out about a video.

    `hw` = (H, W) [px] as displayed; `frames` decoded; `seconds` from the first timestamp to the end of the last frame,
    None where one frame stands alone and states no duration; `rate` [frame/s] from the usual step between timestamps,
    None for one frame; `vfr` whether steps differ beyond the rounding of timestamps; `rotation` degrees clockwise that
    the display matrix asked for and that were applied (0, 90, 180, 270); `warnings` short clauses about the file itself
    (several streams, repaired timestamps, ...), not about the protocol.
    """

    hw: tuple[int, int]
    frames: int
    seconds: float | None
    rate: float | None
    vfr: bool
    codec: str
    rotation: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class First:
    """The first picture of a file: `image` (h, w, 3) uint8 RGB at working resolution, as displayed.

    `hw` = (H, W) [px] of the full picture; `still` whether the file is a single image.
    """

    image: NDArray[np.uint8]
    hw: tuple[int, int]
    still: bool


@dataclass(frozen=True, eq=False, slots=True)
class Clip:
    """The decoded frames of a video at working resolution.

    `frames` (T, h, w, 3) uint8 RGB, rotation applied, long side at most the working size; `times` (T,) [s], strictly
    increasing container timestamps, the first at 0; `hw` = (H, W) [px] of the full frame after rotation; `warnings` are
    those of the probe and the deviations from the protocol (size, length, rate, variable rate), one short clause each.
    """

    frames: NDArray[np.uint8]
    times: NDArray[np.float64]
    hw: tuple[int, int]
    warnings: tuple[str, ...] = ()

    def luma(self) -> NDArray[np.uint8]:
        """Return the luma (T, h, w) uint8, 0..255 (Rec. 601 weights, rounded)."""
        weights = np.array([77, 150, 29], dtype=np.uint16)
        out = np.empty(self.frames.shape[:3], dtype=np.uint8)
        for k, frame in enumerate(self.frames):
            out[k] = (frame.astype(np.uint16) * weights).sum(axis=-1, dtype=np.uint16) >> 8
        return out
