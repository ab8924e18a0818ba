"""Work on large requests in one thread, with a rest after each: all others' frames come first.

Python holds the interpreter in a thread too: without the rest, a client that sends one large request after another
would make everybody wait.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from knob_core.serving.engine import Full

REST = 4.0  # times the CPU time of a piece of work, until the next one begins
MOST_WAITING = 8  # each holds its whole request in memory


class OneAtATime:
    """One piece of work at a time, and at most 1 / (1 + REST) of the time."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "knob lists")
        self._lock = asyncio.Lock()
        self._waiting = 0

    async def run(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """What the work returns; `Full` where too much waits already."""
        if self._waiting >= MOST_WAITING:
            raise Full(f"{self._waiting} large requests wait already, try again")
        self._waiting += 1
        try:
            await self._lock.acquire()
        finally:
            self._waiting -= 1
        loop, took = asyncio.get_running_loop(), [0.0]
        try:
            return await loop.run_in_executor(self._thread, _timed, took, work, arguments)
        finally:
            loop.call_later(REST * took[0], self._lock.release)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)


def _timed(took: list[float], work: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    began = time.thread_time()
    try:
        return work(*arguments)
    finally:
        took[0] = time.thread_time() - began
