"""Bodies and WebSocket messages that are not whole yet: how long each may take, and how much all of them may hold."""

from __future__ import annotations

WITHIN = 10.0  # s for a whole one, and for a pause in it
SLOWEST = 100_000.0  # bytes that give it a second more
MOST = 64_000_000  # bytes that all of them may hold
SMALL = 65_536  # bytes of one that are taken all the same; uvicorn reads as many ahead


class Unfinished:
    """One of them."""

    in_all = 0  # bytes of this process

    def __init__(self, now: float) -> None:
        self.began, self.bytes = now, 0

    def hold(self, size: int) -> None:
        """So many bytes from now on."""
        Unfinished.in_all += size - self.bytes
        self.bytes = size

    def due(self, now: float) -> float:
        """When the next bytes are to be there at the latest."""
        return WITHIN + min(now, self.began + self.bytes / SLOWEST)

    def is_too_much(self, largest: int) -> bool:
        """Whether it is not taken beside the others; `largest`: bytes that one may have."""
        return self.bytes > SMALL and Unfinished.in_all > max(MOST, 2 * largest)
