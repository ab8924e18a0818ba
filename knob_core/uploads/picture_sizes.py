"""What a picture file would be decoded to, read from its own blocks before a decoder takes memory for it.

GIF: a later frame may enlarge the canvas.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from knob_core.uploads.limits import MAX_BLOCKS, MAX_PIXELS, MAX_STRAY
from knob_core.uploads.picture_blocks import OFTEN

BEGINS = re.compile(b"[!,;]")
EXTENSION, IMAGE, TRAILER, COMMENT = b"!", b",", b";", 254


def require_pixels(name: str, width: int, height: int, most: int = MAX_PIXELS) -> None:
    """Refuse a picture, or one frame of it, that is too large."""
    if width * height > most:
        raise ValueError(f"{name} has {width} x {height} pixels, expected at most {most:,}")


def require_canvas(name: str, content: bytes, check: Callable[[], None]) -> None:
    """Refuse a GIF one of whose frames makes the canvas too large; walks its blocks as the decoder will."""
    blocks = _Blocks(content, check)
    width, height = blocks.number(6), blocks.number(8)
    blocks.at = 13 + blocks.palette(10)
    comments = stray = 0
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
