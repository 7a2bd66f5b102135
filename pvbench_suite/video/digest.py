"""Digests of videos, and an index that remembers them, so that a start does not read 1,200 clips.

Conventions
-----------
A digest is the sha256 of the file's bytes, 64 hex digits; of a folder of frames, that of its sorted names and bytes.
The index knows a file by (device, inode, size, mtime in ns), so a renamed file is known and a rewritten one is not.  It
is only a memory: one that is damaged is ignored.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import time
from pathlib import Path

from pvbench_suite.errors import ModelDirError
from pvbench_suite.video.folder import frame_files
from pvbench_suite.video.names import shown

_HEX = re.compile(r"[0-9a-f]{64}")
_MAX_BYTES = 64 * 1024 * 1024
_MAX_ENTRIES = 100_000
#: A file as young as this may still change without a new mtime, so it is not remembered [ns].
_YOUNG = 2_000_000_000


def digest(path: Path) -> str:
    """Return the sha256 of a video as 64 hex digits.

    Raises
    ------
    ModelDirError
        If the file or folder cannot be read.
    """
    try:
        if path.exists() and not (path.is_dir() or path.is_file()):
            raise ModelDirError(f"{shown(path)}: is no regular file")
        if not path.is_dir():
            with path.open("rb") as stream:
                return hashlib.file_digest(stream, "sha256").hexdigest()
        total = hashlib.sha256()
        for file in sorted(frame_files(path), key=lambda p: os.fsencode(p.name)):
            with file.open("rb") as stream:
                part = hashlib.file_digest(stream, "sha256").hexdigest()
            # The parts are fixed in length, so no two different folders give the same bytes.
            total.update(hashlib.sha256(os.fsencode(file.name)).digest() + part.encode())
        return total.hexdigest()
    except OSError as error:
        raise ModelDirError(f"{shown(path)}: cannot be read: {error.strerror or error}") from error


class DigestIndex:
    """Remembers digests by what the file system says of a file.

    Parameters
    ----------
    path : Path
        The JSON file that keeps them; it need not exist, and whatever in it is not sound is ignored.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known = self._read()
        self._changed = False

    def get(self, path: Path) -> str:
        """Return the digest of a video, from memory if it has not changed; ModelDirError if it cannot be read."""
        key, settled = self._key(path)
        if key in self._known:
            return self._known[key]
        found = digest(path)
        if settled and self._key(path)[0] == key:
            self._known[key] = found
            self._changed = True
        return found

    def save(self) -> None:
        """Write what is new, atomically, with what others have written meanwhile; a folder without room is no error."""
        if not self._changed:
            return
        merged = self._read() | self._known
        for key in list(merged)[: max(0, len(merged) - _MAX_ENTRIES)]:
            del merged[key]
        temporary: str | None = None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=self.path.parent, delete=False, encoding="ascii") as stream:
                temporary = stream.name
                json.dump({"version": 1, "sha256": merged}, stream)
            Path(temporary).replace(self.path)
            self._changed = False
        except OSError:
            if temporary is not None:
                Path(temporary).unlink(missing_ok=True)

    def _read(self) -> dict[str, str]:
        """Return the sound entries of the file, or none."""
        try:
            with self.path.open("rb") as stream:
                data = json.loads(stream.read(_MAX_BYTES))
            entries = data["sha256"].items() if data["version"] == 1 else ()
            return {k: v for k, v in entries if isinstance(v, str) and _HEX.fullmatch(v)}
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return {}

    @staticmethod
    def _key(path: Path) -> tuple[str, bool]:
        """Return what the file system says of `path` as text, and whether it has been left alone for a while."""
        try:
            files = [path, *frame_files(path)] if path.is_dir() else [path]
            stats = [(file.name, file.stat()) for file in files]
        except OSError as error:
            raise ModelDirError(f"{shown(path)}: cannot be read: {error.strerror or error}") from error
        parts = [f"{s.st_dev}:{s.st_ino}:{s.st_size}:{s.st_mtime_ns}" for _, s in stats]
        settled = time.time_ns() - max(s.st_mtime_ns for _, s in stats) > _YOUNG
        if len(parts) == 1:
            return parts[0], settled
        named = "\0".join(f"{name}\0{part}" for (name, _), part in zip(stats, parts, strict=True))
        return "frames:" + hashlib.sha256(named.encode("utf-8", "surrogateescape")).hexdigest(), settled
