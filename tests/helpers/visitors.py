"""Visitors without a browser: Streamlit's own protocol and the drag socket, for many of them at once."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import AsyncExitStack
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

PATIENCE = 120  # seconds: a busy machine is slow, not wrong


class Visitor:
    """One session: `async with Visitor(url) as visitor`, then `visitor.tokens["console"]` opens its drag endpoint."""

    def __init__(self, url: str, query: str = "", page: str = "") -> None:
        self.address = url.replace("http", "ws", 1)
        self.query, self.page = query, page
        self.tokens: dict[str, str] = {}  # by the key of the component
        self.elements: list[Any] = []  # protobuf elements of the last run
        self.session_id = ""
        self._open = AsyncExitStack()
        self._seq = 0

    async def __aenter__(self) -> Visitor:
        # a browser does not ask whether the server is alive
        opened = connect(
            f"{self.address}/_stcore/stream", subprotocols=["streamlit"], max_size=None, ping_interval=None
        )
        self.stream: ClientConnection = await self._open.enter_async_context(opened)
        await self.run()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._open.aclose()

    async def run(self) -> None:
        """Run the page's script once, and keep what it shows."""
        message = BackMsg()
        message.rerun_script.query_string = self.query
        message.rerun_script.page_name = self.page
        await self.stream.send(message.SerializeToString())
        self.elements = []
        async with asyncio.timeout(PATIENCE):
            while not self._heard(await self._next()):
                pass

    async def _next(self) -> ForwardMsg:
        message = ForwardMsg()
        message.ParseFromString(await self.stream.recv(decode=False))
        return message

    def _heard(self, message: ForwardMsg) -> bool:
        """Take one message; whether it was the run's last."""
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.session_id = message.new_session.initialize.session_id
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            element = message.delta.new_element
            self.elements.append(element)
            if element.WhichOneof("type") == "bidi_component":
                data = json.loads(element.bidi_component.json or element.bidi_component.mixed.json or "null")
                if isinstance(data, dict) and "endpoint" in data:
                    self.tokens[element.bidi_component.component_name] = data["endpoint"]["token"]
        return kind == "script_finished"

    async def send(self, message: BackMsg) -> None:
        await self.stream.send(message.SerializeToString())

    async def line(self, **options: Any) -> ClientConnection:
        """A new drag socket."""
        opened = connect(f"{self.address}/knob-drag", max_size=None, **options)
        return await self._open.enter_async_context(opened)

    def turn(self, zeta: float, component: str = "knob_console") -> str:
        """A message of a knob that is held."""
        self._seq += 1
        controls = {"epoch": 0, "mount": "a", "seq": self._seq, "zeta": zeta, "omega_n": 0.4, "released": False}
        return json.dumps({"token": self.tokens[component], "controls": controls})

    async def drag(self, line: ClientConnection, count: int, pause: float = 0.0) -> list[float]:
        """Turn a knob, message after answer; how long each answer took, in seconds."""
        took = []
        for i in range(count):
            began = time.perf_counter()
            await line.send(self.turn(0.3 + 0.01 * (i % 100)))
            async with asyncio.timeout(PATIENCE):
                assert "display" in json.loads(await line.recv())
            took.append(time.perf_counter() - began)
            await asyncio.sleep(pause)
        return took
