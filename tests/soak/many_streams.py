"""A service with many open streams, few of them active: is its memory flat, and does any active stream starve?

    python -m tests.soak.many_streams --streams 1000 --active 200 --seconds 600

All streams open a socket and send a frame; then the active ones send as fast as they are answered, so that there is
always more to do than can be done. Printed: frames, the slowest stream's part of its fair share, the service's memory.
Exit code 1 where the slowest got less than half of it, or where memory grew by more than ROOM from the middle third of
the time to the last.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from dataclasses import dataclass

import numpy as np

from knob_core.client import AsyncStream
from tests.helpers.memory import resident
from tests.helpers.services import Process

ROOM = 0.02  # of the memory
SHARE = 0.5  # of what every active stream would get if all got the same
AT_ONCE = 20  # streams that open a socket together


@dataclass(frozen=True)
class Found:
    """What was seen."""

    frames: list[int]  # of each active stream
    memory: list[float]  # MB

    @property
    def slowest(self) -> float:
        """Part of its fair share that the slowest active stream got."""
        return min(self.frames) / max(statistics.mean(self.frames), 1e-9)

    @property
    def growth(self) -> float:
        """Of the memory, from the middle third of the time to the last."""
        third = max(1, len(self.memory) // 3)
        return statistics.median(self.memory[-third:]) / statistics.median(self.memory[third : 2 * third]) - 1


async def soak(service: Process, streams: int, active: int, seconds: float) -> Found:
    frames, memory, over = [0] * active, [], asyncio.Event()
    everybody = asyncio.Event()  # has a socket

    async def one(k: int) -> None:
        draw = np.random.default_rng(k)
        async with AsyncStream(service.url, f"s{k}", timeout=300.0) as stream:
            await stream.step(draw.normal(0, 3, 10))
            opened.release()
            await everybody.wait()
            while k < active and not over.is_set():
                await stream.step(draw.normal(0, 3, 10))
                frames[k] += 1
            await over.wait()

    opened = asyncio.Semaphore(AT_ONCE)
    tasks = []
    for k in range(streams):
        await opened.acquire()
        tasks.append(asyncio.create_task(one(k)))
    for _ in range(AT_ONCE):
        await opened.acquire()
    everybody.set()
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        memory.append(resident(service.process.pid))
        await asyncio.sleep(min(1.0, seconds / 10))
    over.set()
    await asyncio.gather(*tasks)
    return Found(frames, memory)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for flag, kind, default in (("streams", int, 1000), ("active", int, 200), ("seconds", float, 600.0)):
        parser.add_argument(f"--{flag}", type=kind, default=default)
    given = parser.parse_args(arguments)
    service = Process("logits:10", "--idle", "100000", "--capacity", str(given.streams))
    try:
        found = asyncio.run(soak(service, given.streams, given.active, given.seconds))
    finally:
        service.kill()
    print(
        f"{given.streams} streams, {given.active} active, {given.seconds:g} s: {sum(found.frames)} frames; the slowest"
    )
    print(f"active stream got {found.slowest:.2f} of its fair share, expected {SHARE} or more;")
    said = " ".join(f"{mb:.1f}" for mb in found.memory[:: max(1, len(found.memory) // 12)])
    print(f"memory {said} MB: {100 * found.growth:+.1f} %, expected at most {100 * ROOM:+.0f} %")
    return int(found.slowest < SHARE or found.growth > ROOM)


if __name__ == "__main__":
    sys.exit(main())
