"""Hostile drag sockets of one session beside honest sessions: how much slower do the honest ones get their answers?

    python -m tests.attacks.sockets --hostile 100 --honest 25 --answers 200

serves the app, lets honest sessions drag without and then with the hostile sockets, and prints both medians and their
ratio. Ratios within one run, never seconds: the machine may be slow.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
from contextlib import AsyncExitStack

from tests.helpers.visitors import Visitor
from tools.screenshots import ROOT, served, started

PAUSE = 0.05  # seconds from an answer to the next message of an honest drag
SLOWER = 2.0  # times the median without hostile sockets


async def medians(url: str, hostile: int, honest: int, answers: int) -> tuple[float, float]:
    """The median seconds of an honest answer, without and with hostile sockets."""
    async with AsyncExitStack() as open_:
        visitors = [await open_.enter_async_context(Visitor(url)) for _ in range(honest)]
        lines = [await visitor.line() for visitor in visitors]
        bad = await open_.enter_async_context(Visitor(url))

        async def drags() -> float:
            each = zip(visitors, lines, strict=True)
            took = await asyncio.gather(*(visitor.drag(line, answers // honest, PAUSE) for visitor, line in each))
            return statistics.median(seconds for drag in took for seconds in drag)

        await drags()  # a first time for what is loaded on the way
        before = await drags()
        flooding = [sys.executable, "-m", "tests.attacks.flood", bad.address, bad.tokens["knob_console"], str(hostile)]
        with started(flooding, dict(os.environ)) as flood:  # a process of its own: only the server may be slow
            await asyncio.sleep(3)
            during = await drags()
            assert flood.poll() is None, "the hostile sockets gave up"
            flood.kill()
    return before, during


def main(arguments: list[str] | None = None) -> int:
    """Print both medians; 1 where the honest ones were slowed down too much."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for flag, default in (("hostile", 100), ("honest", 25), ("answers", 500)):
        parser.add_argument(f"--{flag}", type=int, default=default)
    given = parser.parse_args(arguments)
    with served(ROOT / "app" / "main.py") as app:
        before, during = asyncio.run(medians(app.url, given.hostile, given.honest, given.answers))
    print(f"{given.honest} honest sessions, median answer {1000 * before:.1f} ms without and {1000 * during:.1f} ms")
    print(f"with {given.hostile} hostile sockets: {during / before:.2f} times as long")
    return int(during > SLOWER * before)


if __name__ == "__main__":
    sys.exit(main())
