"""Writes pictures as an MP4 that every player shows: H.264, yuv420p."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

#: One thread, so that the same build of the encoder writes the same bytes.
_OPTIONS = {"crf": "15", "preset": "fast", "threads": "1"}


def write_mp4(path: Path, frames: NDArray[np.uint8], fps: int) -> None:
    """Write `frames` (T, H, W, 3) uint8 RGB to `path` at a constant rate of `fps`; H and W are even."""
    with av.open(str(path), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=fps, options=_OPTIONS)
        stream.height, stream.width = frames.shape[1:3]
        stream.pix_fmt = "yuv420p"
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode())
