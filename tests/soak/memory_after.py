"""Does the server give memory back? Hostile sockets and honest visitors with uploads come, and all of them leave.

    python -m tests.soak.memory_after --hostile 100 --honest 25 --seconds 600

A first visitor has everything loaded (PyTorch, compiled loops, a stream of each kind) and leaves: what is resident when
it is forgotten is the start. Then the others come: each honest visitor uploads logits, turns a knob and asks for a
stream that must be computed, while hostile sockets flood the server. Printed: memory at the start, at the most, and
every minute after the last one left. Exit code 1 where it stays more than ROOM above the start.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import os
import sys
import time

import numpy as np

from tests.helpers.memory import resident
from tests.helpers.visitors import PATIENCE, Visitor
from tools.screenshots import ROOT, Served, served, started

ROOM = 100.0  # MB
COMPUTED = "method=knob-ode&model=1&content=fixed&image=3&frames=60&realisations=1&seed={}"
TURNS = 4


def logits(megabytes: float) -> bytes:
    """An .npz file of about so many MB."""
    rng, file = np.random.default_rng(0), io.BytesIO()
    paths = max(1, round(megabytes * 1e6 / (1000 * 100 * 4)))
    z = rng.normal(0, 3, (paths, 1000, 100)).astype(np.float32)
    np.savez(file, logits=z, labels=rng.integers(0, 100, (paths, 1000)))
    return file.getvalue()


async def computed(url: str, seed: int, patience: float = PATIENCE) -> None:
    """Ask for a stream that does not ship, and wait for it as a page does."""
    async with Visitor(url, COMPUTED.format(seed)) as visitor:
        ends = time.monotonic() + patience
        while any(element.WhichOneof("type") == "progress" for element in visitor.elements):
            assert time.monotonic() < ends, "the stream was not computed"
            await asyncio.sleep(1)
            await visitor.run()
        assert not visitor.shown("exception")


async def honest(url: str, name: str, content: bytes, stay: asyncio.Event) -> None:
    """Upload logits, turn the knob on them, and stay until all may leave."""
    async with Visitor(url, page="your_stream") as visitor:
        await visitor.upload(name, content)
        assert not visitor.shown("exception") and visitor.tokens, "the upload is not shown"
        line = await visitor.line()
        token = next(name for name in visitor.tokens if "console" in name)
        for turn in range(TURNS):
            await line.send(visitor.turn(0.3 + 0.05 * turn, token))
            await asyncio.wait_for(line.recv(), PATIENCE)
        await stay.wait()


async def visit_all(app: Served, hostile: int, count: int, megabytes: float, seconds: float) -> float:
    """Everybody at once, for so many seconds at least; the most memory that was seen."""
    stay, most, content = asyncio.Event(), resident(app.pid), logits(megabytes)
    async with Visitor(app.url) as bad:
        address, token = bad.address, bad.tokens["knob_console"]
        flooding = [sys.executable, "-m", "tests.attacks.flood", address, token, str(hostile)]
        with started(flooding, dict(os.environ)) as flood:
            visits = [asyncio.create_task(honest(app.url, f"{i}.npz", content, stay)) for i in range(count)]
            computing = asyncio.create_task(computed(app.url, 11))
            ends = time.monotonic() + seconds
            while time.monotonic() < ends or not computing.done():
                most = max(most, resident(app.pid))
                await asyncio.sleep(1)
            assert flood.poll() is None, "the hostile sockets gave up"
            flood.kill()
        await computing
        stay.set()
        await asyncio.gather(*visits)
    return max(most, resident(app.pid))


async def first_visit(url: str) -> None:
    """Have everything loaded that stays for good."""
    stay = asyncio.Event()
    stay.set()
    await computed(url, 10)
    await honest(url, "first.npz", logits(1.0), stay)


def measure(
    app: Served, hostile: int, count: int, megabytes: float, seconds: float, forgotten: float, soon: bool
) -> float:
    """MB above the start when the time is over; with `soon`, as soon as it is little enough."""
    print(f"{resident(app.pid):.0f} MB before the first visit", flush=True)
    asyncio.run(first_visit(app.url))
    time.sleep(forgotten)
    start = resident(app.pid)
    print(f"{start:.0f} MB at the start: everything loaded, nobody there", flush=True)
    most = asyncio.run(visit_all(app, hostile, count, megabytes, max(2.0, seconds / 20)))
    print(
        f"{most:.0f} MB at the most, with {count} visitors of {megabytes:g} MB and {hostile} hostile sockets",
        flush=True,
    )
    ends = time.monotonic() + seconds
    while (left := ends - time.monotonic()) > 0:
        time.sleep(min(60.0, left, seconds / 10))
        print(f"{resident(app.pid):.0f} MB {seconds - max(0.0, ends - time.monotonic()):.0f} s later", flush=True)
        if soon and resident(app.pid) - start <= ROOM:
            break
    return resident(app.pid) - start


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for flag, kind, default in (("hostile", int, 100), ("honest", int, 25), ("megabytes", float, 16.0),
                                ("seconds", float, 600.0), ("ttl", int, 120)):  # fmt: skip
        parser.add_argument(f"--{flag}", type=kind, default=default)
    parser.add_argument("--soon", action="store_true", help="end as soon as memory is back")
    given = parser.parse_args(arguments)
    environment = {
        "STREAMLIT_SERVER_ENABLE_XSRF_PROTECTION": "false",
        "STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": str(given.ttl),
    }
    with served(ROOT / "app" / "main.py", **environment) as app:
        above = measure(app, given.hostile, given.honest, given.megabytes, given.seconds, 1.5 * given.ttl, given.soon)
    print(f"{above:+.0f} MB against the start, expected at most {ROOM:+.0f}")
    return int(above > ROOM)


if __name__ == "__main__":
    sys.exit(main())
