"""What a picture file would be decoded to, read from its own blocks before a decoder takes memory for it.

GIF: a later frame may enlarge the canvas. WebP: the canvas is taken, twice, when the file is opened.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from knob_core.uploads.limits import MAX_BLOCKS, MAX_MOVING_PIXELS, MAX_PIXELS, MAX_STRAY
from knob_core.uploads.picture_blocks import OFTEN

MOVES = " where it moves"
BEGINS = re.compile(b"[!,;]")
EXTENSION, IMAGE, TRAILER, COMMENT = b"!", b",", b";", 254


def require_pixels(name: str, width: int, height: int, most: int = MAX_PIXELS, what: str = "") -> None:
    """Refuse a picture, or one frame of it, that is too large."""
    if width * height > most:
        raise ValueError(f"{name} has {width} x {height} pixels, expected at most {most:,}{what}")


def webp_size(content: bytes) -> tuple[int, int]:
    """(width, height) of a WebP file's canvas; (0, 0) where it has none."""
    kind, head = content[12:16], content[20:30]
    if len(head) < 10:
        return 0, 0
    if kind == b"VP8X":
        return int.from_bytes(head[4:7], "little") + 1, int.from_bytes(head[7:10], "little") + 1
    if kind == b"VP8L":
        bits = int.from_bytes(head[1:5], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return int.from_bytes(head[6:8], "little") & 0x3FFF, int.from_bytes(head[8:10], "little") & 0x3FFF


def require_canvas(name: str, content: bytes, check: Callable[[], None]) -> None:
    """Refuse a GIF one of whose frames makes the canvas too large; walks its blocks as the decoder will."""
    blocks = _Blocks(content, check)
    width, height = blocks.number(6), blocks.number(8)
    blocks.at = 13 + blocks.palette(10)
    frames = comments = stray = 0
    while True:
        found = BEGINS.search(content, blocks.at)
        stray += (found.start() if found else max(len(content), blocks.at)) - blocks.at  # the decoder skips them singly
        if stray > MAX_STRAY:
            raise ValueError(f"{name} has {stray:,} bytes that belong to no block, expected at most {MAX_STRAY:,}")
        if found is None or found[0] == TRAILER:
            return
        blocks.at = found.end()
        if found[0] == EXTENSION:
            label = blocks.take(1)
            first = blocks.skip_one()
            if label != bytes([COMMENT]):
                blocks.skip_rest()
                continue
            while first:  # a comment is kept, block by block
                if (comments := comments + 1) > MAX_BLOCKS:
                    raise ValueError(f"{name} has more than {MAX_BLOCKS:,} blocks of comments, expected fewer")
                first = blocks.skip_one()
        else:
            check()
            at = blocks.at
            left, top, across, down = (blocks.number(at + i) for i in (0, 2, 4, 6))
            width, height = max(width, left + across), max(height, top + down)
            require_pixels(name, width, height)
            if (frames := frames + 1) > 1:
                require_pixels(name, width, height, MAX_MOVING_PIXELS, MOVES)
            blocks.at = at + 9 + blocks.palette(at + 8) + 1
            blocks.skip_rest()


class _Blocks:
    """A place in a GIF; past its end everything is 0."""

    def __init__(self, content: bytes, check: Callable[[], None]) -> None:
        self.content, self.check, self.at, self.skipped = content, check, 0, 0

    def take(self, n: int) -> bytes:
        self.at += n
        return self.content[self.at - n : self.at]

    def number(self, at: int) -> int:
        return int.from_bytes(self.content[at : at + 2], "little")

    def palette(self, at: int) -> int:
        """Bytes of the palette that the flags at `at` announce."""
        flags = self.content[at] if at < len(self.content) else 0
        return 3 << (flags & 7) + 1 if flags & 128 else 0

    def skip_one(self) -> int:
        """Bytes of the sub-block here."""
        self.skipped += 1
        if self.skipped % OFTEN == 0:
            self.check()
        size = self.take(1)
        self.at += size[0] if size else 0
        return size[0] if size and self.at - size[0] < len(self.content) else 0

    def skip_rest(self) -> None:
        while self.skip_one():
            pass
