"""Visitors without a browser: Streamlit's own protocol and the drag socket, for many of them at once."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.error
import urllib.request
from contextlib import AsyncExitStack
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

PATIENCE = 900  # seconds: a busy machine is slow, not wrong
PATIENT: dict[str, Any] = {"max_size": None, "ping_interval": None, "open_timeout": PATIENCE}  # of a connection


class Visitor:
    """One session: `async with Visitor(url) as visitor`, then `visitor.tokens["console"]` opens its drag endpoint."""

    def __init__(self, url: str, query: str = "", page: str = "") -> None:
        self.url, self.address = url, url.replace("http", "ws", 1)
        self.query, self.page = query, page
        self.tokens: dict[str, str] = {}  # by the key of the component
        self.elements: list[Any] = []  # protobuf elements of the last run
        self.files: dict[str, list[tuple[str, str, int]]] = {}  # uploaded: id of the uploader -> file id, name, bytes
        self.session_id = ""
        self._open = AsyncExitStack()
        self._seq = 0

    async def __aenter__(self) -> Visitor:
        opened = connect(f"{self.address}/_stcore/stream", **PATIENT, subprotocols=["streamlit"])
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
        for uploader, files in self.files.items():
            state = message.rerun_script.widget_states.widgets.add(id=uploader).file_uploader_state_value
            for id, name, size in files:
                state.uploaded_file_info.add(file_id=id, name=name, size=size)
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

    def shown(self, kind: str) -> list[Any]:
        """The last run's elements of a kind, such as "exception", "alert" or "file_uploader"."""
        return [getattr(element, kind) for element in self.elements if element.WhichOneof("type") == kind]

    async def upload(self, name: str, content: bytes) -> None:
        """Give a file to the page's uploader in place of those before; the server must not ask for its XSRF cookie."""
        uploader = self.shown("file_uploader")[0].id
        id = f"{len(self.files)}-{time.monotonic_ns()}"
        status = await asyncio.to_thread(put, f"{self.url}/_stcore/upload_file/{self.session_id}/{id}", content, name)
        assert status == 204, f"{name} was refused with {status}"
        self.files[uploader] = [(id, name, len(content))]
        await self.run()

    async def line(self, **options: Any) -> ClientConnection:
        """A new drag socket."""
        opened = connect(f"{self.address}/knob-drag", **{**PATIENT, **options})
        return await self._open.enter_async_context(opened)

    def turn(self, zeta: float, component: str = "knob_console") -> str:
        """A message of a knob that is held."""
        self._seq += 1
        controls = {"epoch": 0, "seq": self._seq, "zeta": zeta, "omega_n": 0.4, "released": False}
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


def put(url: str, content: bytes, name: str = "a.npy") -> int:
    """The status of an upload."""
    head = f'--b\r\nContent-Disposition: form-data; name="f"; filename="{name}"\r\n\r\n'
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    request = urllib.request.Request(url, head.encode() + content + b"\r\n--b--\r\n", headers, method="PUT")
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        return refused.code
