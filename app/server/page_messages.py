"""Limits of what a page sends over Streamlit's own socket: how much, how often, and what no page of ours asks for.

Streamlit handles a message in the event loop, and takes the next one at once: a few kilobytes could keep every visitor
waiting. Here the next message waits for its turn without a thread, so a page that sends too much is slowed down and
nothing that it sends is lost.
"""

from __future__ import annotations

import asyncio
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from app.server.streamlit_internals import STREAM_PATH, is_gone, limit_message_size, use_protocols
from app.server.websocket_protocol import CarefulProtocol
from knob_core.serving.chunk_budget import ChunkBudget

LONGEST = 3_000_000  # bytes of a message; a run with so many files has two million. config.toml: maxWidgetStateSize
LONGEST_VALUE = 100_000  # bytes of what one of our components reports; read, it takes 25 times as much memory
MOST_FILES = 5_000  # of one uploader; more pictures than a stream may have (knob_core.uploads.limits.MAX_PICTURES)
RATE = 50.0  # shares a second, of each socket; a drag through Streamlit sends some thirty messages
BURST = 150.0  # shares that a silent page saves up
BYTES = 20_000  # of a message that cost a share
WHOLE_PAGE = 10.0  # shares of a run of the whole page: each one has a thread, and the last one's may still be busy
UNUSED = ("load_git_info",)  # starts processes in the event loop, and tells the names of files


class PageMessages:
    """Middleware of the server."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and scope["path"].endswith(STREAM_PATH):
            limit_message_size(receive, LONGEST)
            receive = _Slowed(receive, send)
        elif scope["type"] == "lifespan":
            use_protocols(receive, ChunkBudget, CarefulProtocol)
        await self.app(scope, receive, send)


class _Slowed:
    """The messages of one page, each in its turn."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self.receive, self.send = receive, send
        self.shares = Shares(RATE, BURST)

    async def __call__(self) -> Message:
        while True:
            message = await self.receive()
            data = message.get("bytes")
            if data is None or len(data) > LONGEST:  # Streamlit closes the socket
                return message
            asked = BackMsg()
            try:
                asked.ParseFromString(data)
            except Exception:  # Streamlit closes the socket
                return message
            kind = asked.WhichOneof("type")
            whole = kind == "rerun_script" and not asked.rerun_script.fragment_id
            pause = self.shares.take(len(data) / BYTES + (WHOLE_PAGE if whole else 1.0))
            await asyncio.sleep(pause)  # others have their turn, even where there is no pause
            if pause > 0 and is_gone(self.receive):
                return {"type": "websocket.disconnect", "code": 1006}
            if kind == "file_urls_request" and (files := len(asked.file_urls_request.file_names)) > MOST_FILES:
                await self.send({"type": "websocket.send", "bytes": _refusal(asked, files)})
            elif kind not in UNUSED and (kind != "rerun_script" or is_of_a_page(asked)):
                return message


class Shares:
    """So many a second; what is not taken is saved up to a bound."""

    def __init__(self, rate: float, most: float) -> None:
        self._rate, self._most = rate, most
        self._left, self._then = most, time.monotonic()

    def take(self, cost: float) -> float:
        """The seconds to wait for that."""
        now = time.monotonic()
        self._left = min(self._most, self._left + self._rate * (now - self._then)) - cost
        self._then = now
        return max(0.0, -self._left / self._rate)


def is_of_a_page(asked: BackMsg) -> bool:
    """Whether a page could have asked for this run: no file is named twice, nor too many, and no report is giant."""
    for widget in asked.rerun_script.widget_states.widgets:
        if len(widget.json_value) > LONGEST_VALUE or len(widget.json_trigger_value) > LONGEST_VALUE:
            return False
        files = [file.file_id for file in widget.file_uploader_state_value.uploaded_file_info]
        if not len(set(files)) == len(files) <= MOST_FILES:
            return False
    return True


def _refusal(asked: BackMsg, files: int) -> bytes:
    """The page shows it beside each file."""
    answer = ForwardMsg()
    answer.file_urls_response.response_id = asked.file_urls_request.request_id
    answer.file_urls_response.error_msg = f"{files:,} files at a time, expected at most {MOST_FILES:,}"
    return answer.SerializeToString()
