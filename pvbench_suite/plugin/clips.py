"""Decoding for a run: a video is decoded at most once, and a broken one is known as broken for all its pairs."""

from __future__ import annotations

import json
from pathlib import Path

from pvbench_suite.errors import BrokenVideo
from pvbench_suite.files import write_atomic
from pvbench_suite.perception.cache import DECODE_SPEC
from pvbench_suite.video.decode import decode_isolated
from pvbench_suite.video.types import DEFAULT_LIMITS, Clip, Limits, Video


class Clips:
    """Hands out the clip of the current video; earlier ones are forgotten."""

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self.limits = limits
        self._video: Video | None = None
        self._found: Clip | BrokenVideo | None = None
        self._known: tuple[tuple[Video, str], list[str]] | None = None

    def get(self, video: Video) -> Clip:
        """Return the decoded clip of `video`.

        Raises
        ------
        BrokenVideo
            If it cannot be decoded (the same each time it is asked for).
        """
        if video != self._video or self._found is None:
            self._video, self._found = video, self._decode(video)
        if isinstance(self._found, BrokenVideo):
            raise self._found
        return self._found

    def _decode(self, video: Video) -> Clip | BrokenVideo:
        try:
            return decode_isolated(video.path, limits=self.limits, fps=video.fps)[1]
        except BrokenVideo as broken:
            return broken

    def warnings(self, video: Video, digest: str, folder: Path, *, write: bool) -> list[str]:
        """Return the protocol warnings of `video`, decoding it once ever to know that it can be decoded.

        The answer is kept beside the video's products in the cache `folder`; a broken video is tried again in every
        run.

        Raises
        ------
        BrokenVideo
            If it cannot be decoded.
        """
        if self._known is None or self._known[0] != (video, digest):
            self._known = ((video, digest), self._warnings(video, digest, folder, write=write))
        return list(self._known[1])

    def _warnings(self, video: Video, digest: str, folder: Path, *, write: bool) -> list[str]:
        note = folder / digest[:2] / digest / "decoded.json"
        try:
            known = json.loads(note.read_text(encoding="utf-8"))
            if known["spec"] == DECODE_SPEC and all(isinstance(w, str) for w in known["warnings"]):
                return list(known["warnings"])
        except (OSError, ValueError, KeyError, TypeError):
            pass
        found = list(self.get(video).warnings)
        if write:
            write_atomic(note, json.dumps({"spec": DECODE_SPEC, "warnings": found}).encode())
        return found
