"""Threads that decode pictures, so that no stream waits long for another's.

A file of 16 KB may be a picture that takes a tenth of a second. Pictures of one stream are decoded one after the other,
and large ones have threads of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from knob_core.serving.decode import MAX_PIXELS, TooManyPixels, frame_of
from knob_core.serving.engine import Full, Refusal
from knob_core.serving.messages import Frame, Header

QUICK_PIXELS = 1_000_000  # of a picture that is decoded beside the others
MOST_BYTES, MOST_OF_STREAM = 128_000_000, 8_000_000  # of files that wait
MOST_FILES = 64  # of one stream that wait


@dataclass
class Line:
    """The files of one stream that wait, and the one that is decoded."""

    files: int = 0
    bytes: int = 0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class Decoders:
    def __init__(self, threads: int) -> None:
        self._quick = ThreadPoolExecutor(threads, "knob decoder")
        self._large = ThreadPoolExecutor(threads, "knob decoder of large pictures")
        self._lines: dict[str, Line] = {}
        self._bytes = 0

    async def run(
        self, id: str, admit: Callable[[], None],
        header: Header, content: bytes | memoryview, prepare: Callable[[np.ndarray], np.ndarray],
    ) -> tuple[Frame, np.ndarray | None]:  # fmt: skip
        """What `frame_of` returns; `admit` raises where the frame could not be taken by the time it is its turn."""
        line, size = self._lines.get(id) or Line(), len(content)
        if line.files >= MOST_FILES or (line.bytes and line.bytes + size > MOST_OF_STREAM):
            raise Refusal("full", f"{line.files} pictures of this stream wait to be decoded already")
        if self._bytes and self._bytes + size > MOST_BYTES:
            raise Full(f"{self._bytes:,} bytes of pictures wait to be decoded already, try again")
        self._lines[id] = line
        line.files, line.bytes, self._bytes = line.files + 1, line.bytes + size, self._bytes + size
        try:
            async with line.turn:
                admit()
                loop = asyncio.get_running_loop()
                try:
                    return await loop.run_in_executor(self._quick, frame_of, header, content, prepare, QUICK_PIXELS)
                except TooManyPixels:
                    return await loop.run_in_executor(self._large, frame_of, header, content, prepare, MAX_PIXELS)
        finally:
            line.files, line.bytes, self._bytes = line.files - 1, line.bytes - size, self._bytes - size
            if not line.files:
                del self._lines[id]

    def close(self) -> None:
        for threads in (self._quick, self._large):
            threads.shutdown(wait=False, cancel_futures=True)
