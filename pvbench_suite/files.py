"""Files: written so that a reader never sees half of one, and kept to the folder that was named."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_atomic(path: Path, content: bytes) -> None:
    """Write `content` to `path` by a temporary file in the same folder and a rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(name, 0o644)  # noqa: PTH101 - mkstemp gives 0600, a shared cache must be readable
        os.replace(name, path)  # noqa: PTH105
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def holds(root: Path, path: Path) -> bool:
    """Return whether `path`, links followed, lies in `root` or in the blobs of the Hugging Face cache `root` is of.

    A snapshot there (``.../snapshots/<revision>``) holds nothing but links into ``.../blobs``.
    """
    real, found = root.resolve(), path.resolve()
    snapshots = next((p for p in real.parents if p.name == "snapshots"), None)
    blobs = None if snapshots is None else snapshots.parent / "blobs"
    return found.is_relative_to(real) or (blobs is not None and found.is_relative_to(blobs))
