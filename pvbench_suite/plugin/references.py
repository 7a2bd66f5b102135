"""Reference images in a run: each I2V video's first frame is compared with its own once, and the rows say what differs.

Conventions
-----------
A remark is a warning of the row and changes no score.  A reference that is missing or cannot be read keeps only the
dimension that needs one from being scored: it is `not_perceived`, so that it is tried again when the image is there.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from pvbench_suite.dimensions import Dimension
from pvbench_suite.errors import BrokenVideo, NotPerceived
from pvbench_suite.files import write_atomic
from pvbench_suite.video.reference import SPEC, look
from pvbench_suite.video.types import Limits, Video

REMEDY = "give --pv-references DIR with an image <group id>.png, or name it in manifest.jsonl"


def mark(image: Path) -> str:
    """Return 12 hex digits over the bytes of an image, empty where it cannot be read."""
    try:
        with image.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()[:12]
    except OSError:
        return ""


class References:
    """Knows of the current video how its first frame relates to its reference image."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._video: Video | None = None
        self._remark: str | None = None
        self._fault = ""

    def warnings(self, video: Video, digest: str, folder: Path) -> list[str]:
        """Return the remark on `video`, if there is one; found once, then kept beside its products in `folder`."""
        if video != self._video:
            self._video, self._remark, self._fault = video, None, ""
            if video.reference is not None:
                self._compare(video, video.reference, folder / digest[:2] / digest / "reference.json")
        return [text for text in (self._fault, self._remark) if text]

    def require(self, video: Video, dimension: Dimension) -> None:
        """Raise `NotPerceived` if `dimension` needs a reference image and `video` has none that can be read."""
        if dimension.expectation == "reference" and (video.reference is None or self._fault):
            raise NotPerceived(self._fault or "no reference image is there", REMEDY)

    def _compare(self, video: Video, image: Path, note: Path) -> None:
        try:
            who = [SPEC, hashlib.sha256(image.read_bytes()).hexdigest()]
            known = _known(note, who)
            if known is None:
                known = [look(video, self._limits).warning]
                write_atomic(note, json.dumps({"image": who, "remark": known}).encode())
            self._remark = known[0]
        except OSError as error:
            self._fault = f"reference {image.name}: cannot be read: {error.strerror}"
        except BrokenVideo as error:
            self._fault = str(error)


def _known(note: Path, who: list[str]) -> list[str | None] | None:
    """Return what was found before with the same image, in a list, or None."""
    try:
        content = json.loads(note.read_text(encoding="utf-8"))
        remark = content["remark"][0]
        return [remark] if content["image"] == who and (remark is None or isinstance(remark, str)) else None
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None
