"""A served app keeps sessions apart from other sites, and forgets them when they are over."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from app.server import drag_endpoint
from tests.helpers.page_visitor import PageVisitor
from tests.helpers.visitors import PATIENCE
from tools.screenshots import ROOT, Served, served

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def app() -> Iterator[Served]:
    """The app; closed pages may come back for two seconds only."""
    with served(ROOT / "app" / "main.py", STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL="2") as running:
        yield running


def test_nothing_of_a_session_is_left_when_it_is_over(app: Served) -> None:
    """Its tokens open nothing any more, although nobody else came."""

    async def visit() -> tuple[str, str]:
        async with PageVisitor(app.url) as visitor:
            line = await visitor.line()
            await visitor.drag(line, 2)
            address = visitor.file_address("Settings file")
            assert "omega_n" in await asyncio.to_thread(content, address)
            return visitor.turn(0.5), address

    def content(address: str) -> str:
        try:
            return str(urllib.request.urlopen(address, timeout=60).read(), "utf-8")
        except urllib.error.HTTPError as refused:
            assert refused.code == 404
            return ""

    async def is_answered(message: str) -> bool:
        async with connect(app.url.replace("http", "ws") + "/knob-drag") as line:
            await line.send(message)
            try:
                return "display" in json.loads(await line.recv())
            except ConnectionClosed as closed:
                assert closed.rcvd is not None and closed.rcvd.code == drag_endpoint.REFUSED
                return False

    message, address = asyncio.run(visit())
    ends = time.monotonic() + PATIENCE
    while asyncio.run(is_answered(message)) or content(address):
        assert time.monotonic() < ends, "the session of a closed page lives on"
        time.sleep(1)


@pytest.mark.parametrize("path", ["/knob-drag", "/_stcore/stream"])
def test_pages_of_other_sites_open_no_socket(app: Served, path: str) -> None:
    async def is_open(origin: str) -> bool:
        address = app.url.replace("http", "ws") + path
        try:
            async with connect(address, additional_headers={"Origin": origin}, open_timeout=PATIENCE):
                return True
        except InvalidStatus as refused:
            assert refused.response.status_code == 403
            return False

    assert asyncio.run(is_open(app.url))
    assert not asyncio.run(is_open("http://evil.example"))
