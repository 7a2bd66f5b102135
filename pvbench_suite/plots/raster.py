"""Maps of numbers as PNG data, for use inside an SVG drawing."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: The scale's colors: white, yellow, orange, red, dark red.
_SCALE = np.array([[255, 255, 255], [254, 217, 118], [253, 141, 60], [227, 26, 28], [103, 0, 13]], dtype=float)
_MISSING = np.array([190, 190, 190], dtype=np.uint8)


def colored(values: Floats, low: float, high: float) -> NDArray[np.uint8]:
    """Return the colors (H, W, 3) of a map; what is missing is grey."""
    share = np.clip((values - low) / max(high - low, 1e-12), 0.0, 1.0) * (len(_SCALE) - 1)
    known = np.isfinite(share)
    share = np.where(known, share, 0.0)
    first = np.minimum(share.astype(int), len(_SCALE) - 2)
    part = (share - first)[..., None]
    mixed = (1.0 - part) * _SCALE[first] + part * _SCALE[first + 1]
    return np.where(known[..., None], np.round(mixed).astype(np.uint8), _MISSING)


def png(pixels: NDArray[np.uint8]) -> bytes:
    """Return an image (H, W, 3) uint8 as a PNG file."""
    height, width = pixels.shape[:2]
    rows = np.concatenate([np.zeros((height, 1), dtype=np.uint8), pixels.reshape(height, -1)], axis=1)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b"")]
    chunks = [struct.pack(">I", len(d)) + n + d + struct.pack(">I", zlib.crc32(n + d)) for n, d in parts]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def data_uri(values: Floats, low: float, high: float) -> str:
    """Return a map of numbers as a ``data:`` address."""
    return "data:image/png;base64," + base64.b64encode(png(colored(values, low, high))).decode()
