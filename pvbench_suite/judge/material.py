"""What requests are made of: encoded frames and reference images, each made once for the questions about one video."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from pvbench_suite.errors import BrokenVideo
from pvbench_suite.judge.request import Question, request
from pvbench_suite.judge.sampling import Frames, Reference, frames_of, jpeg
from pvbench_suite.judge.settings import Settings
from pvbench_suite.video.types import Clip

#: Videos whose encoded frames are kept for their next question.
_KEPT = 4


class Material:
    """Makes frames and pictures, one video at a time, and keeps those of the last few videos."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._frames: OrderedDict[str, Frames] = OrderedDict()

    def frames(self, digest: str, clip: Callable[[], Clip]) -> Frames:
        """Return the encoded frames of the video with that digest; `clip` is called only if they are not at hand.

        Decoding is done by one thread at a time, so that no more than one clip is in memory here.
        """
        with self._lock:
            found = self._frames.pop(digest, None) or frames_of(clip(), self._settings)
            self._frames[digest] = found
            while len(self._frames) > _KEPT:
                self._frames.popitem(last=False)
            return found

    def reference(self, path: Path) -> Reference:
        """Return the reference image at `path`.

        Raises
        ------
        BrokenVideo
            If it cannot be read.
        """
        return reference_picture(path, path.stat().st_mtime_ns if path.is_file() else 0)

    def text_tokens(self, asked: Question, frames: int) -> int:
        """Return about how many tokens a request has beside its frames."""
        return request(asked, Frames((), (), 0.0)).tokens + frames * 8


@lru_cache(maxsize=16)
def reference_picture(path: Path, changed: int) -> Reference:
    """Return the image at `path`; `changed` is its time of change, so that a new one is read."""
    from pvbench_suite.video.decode import decode_isolated

    if not path.is_file():
        raise BrokenVideo(f"{path}: the reference image is not there")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Reference(jpeg(decode_isolated(path)[1].frames[0]), digest)
