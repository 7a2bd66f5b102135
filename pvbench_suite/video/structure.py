"""Structure of container files: whether a file ends before the end that it declares itself.

Conventions
-----------
Only headers are read, of GIF the chain of blocks.  A truncated download decodes without a word in FFmpeg, and WebM
declares no number of frames; but MP4 boxes and the Matroska segment state their sizes, which settles it exactly.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

_EBML = b"\x1a\x45\xdf\xa3"
_SEGMENT = b"\x18\x53\x80\x67"
_MAX_GIF = 256 * 1024 * 1024
_DATA_BOXES = (b"mdat", b"moov", b"moof")


def truncation(path: Path) -> str | None:
    """Return one clause that says how the file is cut off, or None where nothing speaks for it.

    Sources: ISO/IEC 14496-12, section 4.2 (boxes); RFC 8794, section 4 (EBML variable-size integers); RFC 9559
    (Segment).
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            head = stream.read(12)
            stream.seek(0)
            if head.startswith(_EBML):
                return _matroska(stream, size)
            if head[:4] == b"GIF8":
                return _gif(stream.read(_MAX_GIF))
            return _boxes(stream, size) if head[4:8] in (b"ftyp", b"moov", b"mdat", b"styp", b"free", b"wide") else None
    except OSError:
        return None


def _cut(size: int, end: int) -> str:
    return f"cut off: {size:,} of {end:,} bytes"


def _boxes(stream: BinaryIO, size: int) -> str | None:
    """Return what is wrong with the boxes at the top level of an MP4 or QuickTime file."""
    at, kinds = 0, set()
    while at + 8 <= size:
        stream.seek(at)
        head = stream.read(16)
        length, kind = int.from_bytes(head[:4]), head[4:8]
        if length == 1 and len(head) == 16:
            length = int.from_bytes(head[8:])
        elif length == 0:
            length = size - at  # to the end of the file
        if length < 8:
            return None  # no box: whatever it is, its end is not known
        kinds.add(kind)
        if at + length > size:
            return _cut(size, at + length) if kind in _DATA_BOXES else None
        at += length
    if b"moov" not in kinds:
        return "cut off: the index (moov) is missing"
    return None


def _number(stream: BinaryIO) -> int | None:
    """Return the next variable-size integer, None where it says "unknown" (a live recording) or ends."""
    first = stream.read(1)
    if not first or not first[0]:
        return None
    width = 9 - first[0].bit_length()
    rest = stream.read(width - 1)
    mask = (1 << (8 - width)) - 1
    value = int.from_bytes(bytes([first[0] & mask]) + rest)
    return None if len(rest) < width - 1 or value == (1 << (7 * width)) - 1 else value


def _matroska(stream: BinaryIO, size: int) -> str | None:
    """Return what the Segment's size says about a Matroska or WebM file."""
    stream.seek(4)
    header = _number(stream)
    if header is None:
        return None
    stream.seek(header, 1)
    if stream.read(4) != _SEGMENT:
        return "cut off: no segment" if stream.tell() >= size else None
    length = _number(stream)
    if length is None or stream.tell() + length <= size:
        return None
    return _cut(size, stream.tell() + length)


def _gif(data: bytes) -> str | None:
    """Return whether a GIF ends inside a block; one that only lacks its trailer shows all it has."""

    def table(flags: int) -> int:
        return 3 << ((flags & 7) + 1) if flags & 0x80 else 0

    try:
        at = 13 + table(data[10])
        while at < len(data) and data[at] in (0x21, 0x2C):
            # An image has a descriptor, perhaps a table, a code size; an extension a label; then come sub-blocks.
            at += 11 + table(data[at + 9]) if data[at] == 0x2C else 2
            while data[at]:
                at += 1 + data[at]
            at += 1
    except IndexError:
        return "cut off: it ends inside an image" if len(data) < _MAX_GIF else None
    return None
