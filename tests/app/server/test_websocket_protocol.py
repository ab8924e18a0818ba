"""A WebSocket whose client does not read, or sends frames without end, is closed, and keeps nobody waiting."""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
from websockets.asyncio.client import connect

from app.server import websocket_protocol
from app.server.page_messages import PageMessages
from app.server.websocket_protocol import CarefulProtocol
from knob_core.serving.chunk_budget import ChunkBudget
from tools.screenshots import free_port

PATIENCE = 120  # seconds: a busy machine is slow, not wrong
PING = b"\x89\xfd\0\0\0\0" + bytes(125)
left: list[int] = []  # clients that the application has seen leave


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket_protocol, "LEAVE", 0.1)
    left.clear()


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Sends back what comes; "bye" closes, "much" has a long answer that is closed behind."""
    while scope["type"] == "lifespan":
        await send({"type": (await receive())["type"] + ".complete"})
    await receive()
    await send({"type": "websocket.accept"})
    try:
        while (message := await receive())["type"] == "websocket.receive":
            text = message["text"]
            if text == "much":
                await send({"type": "websocket.send", "bytes": bytes(30_000_000)})
            if text in ("bye", "much"):
                await send({"type": "websocket.close", "code": 1000})
                return
            await send({"type": "websocket.send", "text": text})
    finally:
        left.append(1)


@asynccontextmanager
async def serving() -> AsyncIterator[str]:
    """As Streamlit starts the server: with uvicorn's own protocol, which the middleware replaces."""
    port = free_port()
    config = uvicorn.Config(PageMessages(application), "127.0.0.1", port, ws="websockets-sansio", log_config=None)
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    assert (config.http_protocol_class, config.ws_protocol_class) == (ChunkBudget, CarefulProtocol)
    yield f"127.0.0.1:{port}"
    server.should_exit = True
    await task


async def silent(host: str) -> asyncio.StreamWriter:
    """An open socket whose client does not read."""
    reader, writer = await asyncio.open_connection(*host.split(":"))
    key = base64.b64encode(os.urandom(16)).decode()
    lines = ["GET / HTTP/1.1", f"Host: {host}", "Upgrade: websocket", "Connection: Upgrade",
             f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", "", ""]  # fmt: skip
    writer.write("\r\n".join(lines).encode())
    await reader.readuntil(b"\r\n\r\n")
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    return writer


def frame(text: str) -> bytes:
    return bytes([0x81, 0x80 | len(text), 0, 0, 0, 0]) + text.encode()


def within_patience(do: Callable[[str], Awaitable[None]]) -> None:
    async def all_of_it() -> None:
        async with asyncio.timeout(PATIENCE), serving() as host:
            await do(host)

    asyncio.run(all_of_it())


def test_pings_without_end_close_the_socket_and_keep_nobody_waiting() -> None:
    async def flood(host: str) -> None:
        writer = await silent(host)
        async with connect(f"ws://{host}") as honest:
            for i in range(2_000):  # 33 MB of pongs, if they were answered
                writer.write(PING * 100)
                if i % 100 == 0:
                    await honest.send("still there?")
                    assert await honest.recv() == "still there?"
                if writer.transport.is_closing():
                    break
                try:
                    await writer.drain()
                except ConnectionError:
                    break
            while not left:
                await asyncio.sleep(0.01)
            writer.transport.abort()
            await honest.send("and now?")
            assert await honest.recv() == "and now?"

    within_patience(flood)


@pytest.mark.parametrize("word", ["bye", "much"])
def test_a_closed_socket_goes_though_its_client_does_not_read(word: str) -> None:
    """30 MB that nobody reads kept the connection for good, and the application waited for it."""

    async def close(host: str) -> None:
        writer = await silent(host)
        writer.write(frame(word))
        while not left:
            await asyncio.sleep(0.01)
        while True:  # the server's end is gone: what is written there is refused
            writer.write(frame("x"))
            try:
                await writer.drain()
            except ConnectionError:
                return
            await asyncio.sleep(0.05)

    within_patience(close)


def test_many_messages_at_once_and_one_in_many_parts_are_heard() -> None:
    async def talk(host: str) -> None:
        async with connect(f"ws://{host}", max_size=None) as line:
            sent = [str(i) for i in range(3_000)]
            for text in sent:
                await line.send(text)
            assert [await line.recv() for _ in sent] == sent
            parts = [str(i % 10) * 1_000 for i in range(100)]
            await line.send(parts)
            assert await line.recv() == "".join(parts)
            await (await line.ping())

    within_patience(talk)
