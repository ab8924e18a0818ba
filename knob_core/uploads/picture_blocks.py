"""How many blocks a picture file is made of, counted before a decoder makes an object of each.

The smallest blocks have 4 to 12 bytes, and a decoder may keep a hundred for each, and longer than it keeps pixels.
    JPEG  FF, kind, then for most kinds the size (2 bytes, itself included) and data; up to the first scan
    PNG   size (4 bytes), kind (4), data, checksum (4)
    WebP  kind (4 bytes), size (4), data, filled up to an even size
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from knob_core.uploads.limits import MAX_BLOCKS, MAX_EXIF_PARTS, MAX_SCANS, MAX_SEGMENTS

OFTEN = 4096  # blocks between two looks at the clock
SCAN = b"\xff\xda"  # begins a scan; never part of a JPEG's packed pixels
EXIF = b"Exif\0\0"  # begins a segment of it, behind the size
MARKER = re.compile(rb"\xff([^\x00\xff])")  # FF 00 and FF FF are none
BARE = {0xC8, *range(0xD0, 0xDA), *range(0xF0, 0xFE)}  # without size and data
PIXELS = (b"IDAT", b"fdAT", b"fcTL")  # of a PNG: any number of them, nothing is kept


def require_blocks(name: str, kind: str, content: bytes, check: Callable[[], None] = lambda: None) -> None:
    """Refuse a file of format `kind` with more blocks than any picture needs; `check` may raise on the way."""
    if kind == "JPEG":
        _require_scans(name, content)
    if kind not in WALKS:
        return
    walk, most, what = WALKS[kind]
    count = 0
    for step, counts in enumerate(walk(content)):
        if step % OFTEN == 0:
            check()
        count += counts
        if count > most:
            raise ValueError(f"{name} has more than {most:,} {what}, expected fewer")
    if kind == "JPEG":
        _require_exif(name, content)


def _require_scans(name: str, content: bytes) -> None:
    """Refuse a JPEG that goes over its pixels again and again."""
    if (scans := content.count(SCAN)) > MAX_SCANS:
        raise ValueError(f"{name} has {scans:,} scans, expected at most {MAX_SCANS}")


def _require_exif(name: str, content: bytes) -> None:
    """Refuse a JPEG whose Exif is put together from many parts: it is read when the file is opened."""
    if (parts := sum(content.startswith(EXIF, at + 2) for at in _segments(content))) > MAX_EXIF_PARTS:
        raise ValueError(f"{name} has {parts:,} parts of Exif, expected at most {MAX_EXIF_PARTS}")


def _segments(content: bytes) -> Iterator[int]:
    """Where every segment before the first scan has its size; what is no marker is passed over, as the decoder does."""
    at = 2
    while (found := MARKER.search(content, at)) and found[0] != SCAN:
        at = found.end()
        yield at
        if found[1][0] not in BARE:
            at += max(2, int.from_bytes(content[at : at + 2], "big"))


def _chunks(content: bytes) -> Iterator[bool]:
    """Whether it is other than pixels, of every chunk."""
    at = 8
    while (kind := content[at + 4 : at + 8]) and kind != b"IEND":
        yield kind not in PIXELS
        at += 12 + int.from_bytes(content[at : at + 4], "big")


def _riff(content: bytes) -> Iterator[bool]:
    """True for every chunk of a WebP file."""
    at = 12
    while size := content[at + 4 : at + 8]:
        yield True
        at += 8 + (int.from_bytes(size, "little") + 1) // 2 * 2


WALKS: dict[str, tuple[Callable[[bytes], Iterator[bool]], int, str]] = {
    "JPEG": (lambda content: (True for _ in _segments(content)), MAX_SEGMENTS, "segments before its first scan"),
    "PNG": (_chunks, MAX_BLOCKS, "chunks besides its pixels"),
    "WEBP": (_riff, MAX_BLOCKS, "chunks"),
}
