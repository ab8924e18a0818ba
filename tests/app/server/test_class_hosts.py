"""The console for a class, as docs/teaching.md starts it: the computer's name opens its sockets, and no other does."""

from __future__ import annotations

import asyncio
import os
import sys
import time
import urllib.request
from collections.abc import Iterator

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tools.screenshots import free_port, started

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """`knob app` that is told the name of its computer; only the address differs from a class's, 0.0.0.0."""
    port = free_port()
    options = ["--server.address", "127.0.0.1", "--server.allowedHosts", "class-computer"]
    options += ["--server.port", str(port), "--server.headless", "true", "--server.fileWatcherType", "none"]
    command = [sys.executable, "-m", "knob_core.cli", "app", *options]
    process = started(command, dict(os.environ))
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait(30)


async def is_open(port: int, name: str, path: str) -> bool:
    """Whether a page that was opened under this name gets the socket."""
    address, origin = f"ws://{name}:{port}{path}", f"http://{name}:{port}"
    try:
        async with connect(address, origin=origin, host="127.0.0.1", port=port):  # type: ignore[arg-type]
            return True
    except InvalidStatus as refused:
        assert refused.response.status_code == 403
        return False


@pytest.mark.parametrize("path", ["/knob-drag", "/_stcore/stream"])
def test_the_allowed_name_is_taken_and_another_refused(port: int, path: str) -> None:
    assert asyncio.run(is_open(port, "class-computer", path))
    assert not asyncio.run(is_open(port, "another-name", path))
