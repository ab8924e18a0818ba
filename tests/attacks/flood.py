"""Hostile drag sockets with one token, until killed: `python -m tests.attacks.flood ws://127.0.0.1:8501 TOKEN 100`.

Each sends as soon as it is answered, and comes back as soon as it is closed.
"""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress

from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException


async def one(address: str, token: str) -> None:
    """One socket after the other."""
    for seq in range(10**9):
        with suppress(WebSocketException, OSError):
            async with connect(f"{address}/knob-drag") as line:
                while True:
                    controls = {"epoch": 0, "mount": "a", "seq": seq, "zeta": 0.5, "omega_n": 0.4, "released": False}
                    await line.send(json.dumps({"token": token, "controls": controls}))
                    await line.recv()


async def flood(address: str, token: str, sockets: int) -> None:
    """All of them."""
    await asyncio.gather(*(one(address, token) for _ in range(sockets)))


if __name__ == "__main__":
    asyncio.run(flood(sys.argv[1], sys.argv[2], int(sys.argv[3])))
