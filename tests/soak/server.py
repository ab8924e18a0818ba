"""A server in use: visits, uploads, computations and restarts. Is there an error, does memory grow, do numbers agree?

    python -m tests.soak.server --seconds 1800 --lives 4 --pause 12

Every server's life begins with one visit of each kind, and of each page where there is time, so that what is loaded for
good is loaded; then visits come at random, `--pause` seconds apart on average.
A life ends with a kill, in turn a polite one (SIGTERM) and a hard one (SIGKILL). At the beginning and the end of each
life a witness opens one and the same link, turns the dials, and reads the cards: all must be the same every time.
Printed: visits, errors, the server's memory over each life, its share of a core. Exit code 1 where there was an error,
where numbers or dials did not agree, or where memory grew by more than ROOM within a life.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.exceptions import WebSocketException

from tests.goldens.uploads import SCORES, cases
from tests.helpers.memory import resident
from tests.helpers.visitors import PATIENCE, Visitor
from tools.screenshots import ROOT, Served, free_port, served

ROOM = 60.0  # MB that memory may grow by from the second to the last quarter of a life
LINK = "z=0.62&w=0.31&panel=bode"
DIALS = {"zeta": 0.85, "omega_n": 0.27}  # where the witness turns them
COMPUTED = "method=knob-ode&model=1&content=fixed&image=3&frames=60&realisations=1&seed={}"
PAGES = ("tune", "calibration", "learning", "results", "live", "lessons", "about")
FAULTS = ("Traceback", "was not answered", "Task exception", "never retrieved")  # in the server's log


@dataclass
class Notes:
    """What was seen."""

    visits: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)  # by the witness: cards and dials as text
    memory: list[list[float]] = field(default_factory=list)  # MB, by life
    busy: float = 0.0  # seconds of a core that the servers took


async def turned(visitor: Visitor, component: str, zeta: float, omega_n: float) -> dict[str, Any]:
    """The answer to a dial that was turned and released."""
    controls = {"epoch": 0, "seq": 1, "zeta": zeta, "omega_n": omega_n, "released": True}
    line = await visitor.line()
    for seq in (1, 2):  # the first answer tells the epoch
        controls["seq"] = seq
        await line.send(json.dumps({"token": visitor.tokens[component], "controls": controls}))
        answer = json.loads(await asyncio.wait_for(line.recv(), PATIENCE))
        controls["epoch"] = answer["controls"]["epoch"]
    return answer


async def witness(url: str) -> str:
    """Where the dials stand and what the cards say, of one link and one turn."""
    async with Visitor(url, LINK) as visitor:
        require_no_exception(visitor)
        answer = await turned(visitor, "knob_console", **DIALS)
    dials = {name: answer["controls"]["values"][name] for name in DIALS}
    assert dials == DIALS, f"the dials stand at {dials}, expected {DIALS}"
    cards = [(card["id"], card["now"], card["rest"]) for card in answer["display"]["readouts"]]
    return json.dumps([dials, cards, answer["display"]["film"]])


def require_no_exception(visitor: Visitor) -> None:
    wrong = visitor.shown("exception")
    assert not wrong, f"{visitor.page or 'console'} shows {wrong[0].type}: {wrong[0].message[:200]}"


async def console(url: str, rng: random.Random) -> None:
    """Open a link and drag."""
    link = (
        f"z={rng.uniform(0.1, 3):.3g}&w={rng.uniform(0.02, 3):.3g}&memory={rng.choice(['off', 'plain', 'attentive'])}"
    )
    async with Visitor(url, link) as visitor:
        require_no_exception(visitor)
        await visitor.drag(await visitor.line(), 5, 0.2)


async def upload(url: str, rng: random.Random) -> None:
    """Upload a table, damaged every other time, and drag on it."""
    whole = rng.random() < 0.5
    known = cases("good" if whole else "damaged")
    name, content = rng.choice([files[0] for _, files in known if files[0][0].endswith(SCORES)])
    async with Visitor(url, page="your_stream") as visitor:
        await visitor.upload(name, content)
        require_no_exception(visitor)
        assert not whole or "knob_console" in visitor.tokens, f"a good {name} is not shown"
        if "knob_console" in visitor.tokens:
            await turned(visitor, "knob_console", rng.uniform(0.1, 3), rng.uniform(0.02, 3))


async def compute(url: str, rng: random.Random) -> None:
    """Ask for a stream that does not ship, and wait for it as a page does."""
    async with Visitor(url, COMPUTED.format(rng.randrange(10**6))) as visitor:
        ends = time.monotonic() + PATIENCE
        while any(element.WhichOneof("type") == "progress" for element in visitor.elements):
            assert time.monotonic() < ends, "the stream was not computed"
            await asyncio.sleep(1)
            await visitor.run()
        require_no_exception(visitor)


async def page(url: str, rng: random.Random, name: str = "") -> None:
    """Look at another page, twice."""
    async with Visitor(url, page=name or rng.choice(PAGES)) as visitor:
        require_no_exception(visitor)
        await asyncio.sleep(0.5)
        await visitor.run()
        require_no_exception(visitor)


KINDS: dict[str, tuple[Callable[[str, random.Random], Awaitable[None]], float]] = {  # with how often each comes
    "console": (console, 4.0),
    "upload": (upload, 3.0),
    "compute": (compute, 1.0),
    "page": (page, 3.0),
}


async def live(app: Served, seconds: float, pause: float, rng: random.Random, notes: Notes) -> None:
    """One life of the server: every kind once, then visits at random until its time is over."""
    ends, memory = time.monotonic() + seconds, []
    notes.seen.append(await witness(app.url))
    first = [*KINDS, *(PAGES if seconds > 60 else ())]
    while first or time.monotonic() < ends:
        kind = first.pop() if first else rng.choices([*KINDS], [often for _, often in KINDS.values()])[0]
        try:
            await (KINDS[kind][0](app.url, rng) if kind in KINDS else page(app.url, rng, kind))
        except (AssertionError, OSError, TimeoutError, WebSocketException, KeyError, ValueError) as error:
            notes.errors.append(f"{kind}: {type(error).__name__}: {str(error)[:300]}")
        notes.visits[kind] += 1
        if not first:
            memory.append(resident(app.pid))
        await asyncio.sleep(rng.uniform(0.5, 1.5) * pause)
    notes.seen.append(await witness(app.url))
    notes.memory.append(memory)
    notes.busy += cpu_seconds(app.pid)


def cpu_seconds(pid: int) -> float:
    """Seconds of a core that a process took."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def growth(memory: list[float]) -> float:
    """MB from the second quarter of a life to its last; 0 where there are too few to tell."""
    quarter = len(memory) // 4
    if quarter < 2:
        return 0.0
    return statistics.median(memory[-quarter:]) - statistics.median(memory[quarter : 2 * quarter])


def soak(seconds: float, lives: int, pause: float, seed: int) -> Notes:
    """All lives, one after the other on one port."""
    notes, rng, port = Notes(), random.Random(seed), free_port()
    environment = {
        "STREAMLIT_SERVER_ENABLE_XSRF_PROTECTION": "false",
        "STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "20",
    }
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "server.log"
        for life in range(lives):
            with served(ROOT / "app" / "main.py", port, log, **environment) as app:
                asyncio.run(live(app, seconds / lives, pause, rng, notes))
                os.kill(app.pid, signal.SIGKILL if life % 2 else signal.SIGTERM)
            said = " ".join(f"{mb:.0f}" for mb in notes.memory[-1][:: max(1, len(notes.memory[-1]) // 12)])
            print(f"life {life + 1}: {said} MB; {growth(notes.memory[-1]):+.0f} MB", flush=True)
        lines = log.read_text(errors="replace").splitlines()
    notes.errors += [f"server: {line[:300]}" for line in lines if any(word in line for word in FAULTS)]
    return notes


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for flag, kind, default in (("seconds", float, 1800.0), ("lives", int, 4), ("pause", float, 12.0),
                                ("seed", int, 0)):  # fmt: skip
        parser.add_argument(f"--{flag}", type=kind, default=default)
    given = parser.parse_args(arguments)
    began = time.monotonic()
    notes = soak(given.seconds, given.lives, given.pause, given.seed)
    took, same, most = time.monotonic() - began, len(set(notes.seen)) == 1, max(map(growth, notes.memory))
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(notes.visits.items()))
    print(f"{sum(notes.visits.values())} visits ({kinds}) and {given.lives - 1} restarts in {took:.0f} s")
    print(f"{100 * notes.busy / took:.0f} % of a core; memory grew by {most:+.0f} MB at most, allowed {ROOM:+.0f}")
    print(f"dials and cards of {len(notes.seen)} looks at one link: {'all the same' if same else 'different'}")
    print(f"errors: {len(notes.errors)}", *notes.errors[:20], sep="\n  ")
    return int(bool(notes.errors) or not same or most > ROOM)


if __name__ == "__main__":
    sys.exit(main())
