"""Where the shared folder of golden vectors and real clips is, if this checkout has one beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


def shared(*parts: str) -> Path:
    """Return a path inside ``../shared``, or skip the calling test with the reason."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path} is not there: this check needs the shared golden vectors or clips beside the checkout")
    return path
