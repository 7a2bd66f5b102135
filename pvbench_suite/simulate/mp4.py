"""Writes pictures as an MP4 that every player shows: H.264, yuv420p."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

#: Settings under which the same build of the encoder writes the same bytes: x264's lookahead (macroblock tree, weighted
#: prediction) gave up to 9 different files in 12 encodings of one film, with one thread too.
_X264 = "threads=1:lookahead-threads=1:sync-lookahead=0:no-mbtree=1:rc-lookahead=0:weightp=0"
_OPTIONS = {"crf": "15", "preset": "fast", "x264-params": _X264}


def write_mp4(path: Path, frames: NDArray[np.uint8], fps: int) -> None:
    """Write `frames` (T, H, W, 3) uint8 RGB to `path` at a constant rate of `fps`; H and W are even."""
    with av.open(str(path), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=fps, options=_OPTIONS)
        stream.height, stream.width = frames.shape[1:3]
        stream.pix_fmt = "yuv420p"
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode())
