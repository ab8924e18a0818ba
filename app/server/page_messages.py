"""Limits of what a page sends over Streamlit's own socket: how much, how often, and what no page of ours asks for.

Streamlit handles a message in the event loop, and takes the next one at once: a few kilobytes could keep every visitor
waiting. Here the next message waits for its turn without a thread, so a page that sends too much is slowed down and
nothing that it sends is lost.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import nullcontext

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from app.server.streamlit_internals import STREAM_PATH, is_gone, limit_message_size, use_protocols
from app.server.websocket_protocol import CarefulProtocol
from knob_core.serving.chunk_budget import ChunkBudget

LONGEST = 3_000_000  # bytes of a message; a run with so many files has two million. config.toml: maxWidgetStateSize
LONGEST_VALUE = 100_000  # bytes of a widget's state; what a component reports takes 25 times as much memory when read
MOST_WIDGETS = 1_000  # whose state a page sends, ours a few dozen; and of messages that it remembers
MOST_FILES = 5_000  # of a page; more pictures than a stream may have (knob_core.uploads.limits.MAX_PICTURES)
RATE = 50.0  # shares a second, of each socket; a drag through Streamlit sends some thirty messages
BURST = 150.0  # shares that a silent page saves up
BYTES = 20_000  # of a message that cost a share
LARGE = 100_000  # bytes of a message that is parsed alone: parsed, it may take 30 times as much memory
REST = 4.0  # times as long as that took, in which no other large message of any visitor is parsed
WHOLE_PAGE = 10.0  # shares of a run of the whole page: each one has a thread, and the last one's may still be busy
UNUSED = (
    "load_git_info",  # starts processes in the event loop, and tells the names of files
    "clear_cache",  # of all visitors, whose pages then wait; only developers have a menu for it
)


class PageMessages:
    """Middleware of the server."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._large = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and scope["path"].endswith(STREAM_PATH):
            limit_message_size(receive, LONGEST)
            receive = _Slowed(receive, send, self._large)
        elif scope["type"] == "lifespan":
            use_protocols(receive, ChunkBudget, CarefulProtocol)
        await self.app(scope, receive, send)


class _Slowed:
    """The messages of one page, each in its turn; the large ones of all pages have one turn."""

    def __init__(self, receive: Receive, send: Send, large: asyncio.Lock) -> None:
        self.receive, self.send, self.large = receive, send, large
        self.shares = Shares(RATE, BURST)

    async def __call__(self) -> Message:
        while (message := await self._in_turn(await self.receive())) is None:
            pass  # and nothing of it is held while the page is silent
        return message

    async def _in_turn(self, message: Message) -> Message | None:
        """The message when its turn has come; None where no page of ours would send it."""
        data = message.get("bytes")
        if data is None or len(data) > LONGEST:  # Streamlit closes the socket
            return message
        large = len(data) > LARGE
        pause = self.shares.take(len(data) / BYTES)  # before it is parsed: those that wait take little memory
        await asyncio.sleep(pause)  # others have their turn, even where there is no pause
        async with self.large if large else nullcontext():
            if (large or pause > 0) and is_gone(self.receive):
                return {"type": "websocket.disconnect", "code": 1006}
            began = time.monotonic()
            passes, refusal = self._look_at(data)
            if large:
                await asyncio.sleep(REST * (time.monotonic() - began))
        if refusal is not None:  # not in the turn: who does not read would keep it
            await self.send({"type": "websocket.send", "bytes": refusal})
        return message if passes else None

    def _look_at(self, data: bytes) -> tuple[bool, bytes | None]:
        """Whether it passes, and what the page is told where it does not."""
        asked = BackMsg()
        try:
            asked.ParseFromString(data)
        except Exception:  # Streamlit closes the socket
            return True, None
        kind, run = asked.WhichOneof("type"), asked.rerun_script
        self.shares.take(WHOLE_PAGE if kind == "rerun_script" and not run.fragment_id else 1.0)  # the next one waits
        if kind == "file_urls_request" and (files := len(asked.file_urls_request.file_names)) > MOST_FILES:
            return False, _refusal(asked, files)
        return kind not in UNUSED and (kind != "rerun_script" or is_of_a_page(asked)), None


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
    """Whether a page could have asked for this run: nothing is too many or giant, no file is named twice."""
    widgets = asked.rerun_script.widget_states.widgets
    if max(len(widgets), len(asked.rerun_script.cached_message_hashes)) > MOST_WIDGETS:
        return False
    uploaders = [widget.file_uploader_state_value.uploaded_file_info for widget in widgets]
    if sum(map(len, uploaders)) > MOST_FILES:  # before a name is read
        return False
    others = (widget for widget, files in zip(widgets, uploaders, strict=True) if not files)
    if any(widget.ByteSize() > LONGEST_VALUE for widget in others):
        return False
    return all(len({file.file_id for file in files}) == len(files) for files in uploaders)


def _refusal(asked: BackMsg, files: int) -> bytes:
    """The page shows it beside each file."""
    answer = ForwardMsg()
    answer.file_urls_response.response_id = asked.file_urls_request.request_id
    answer.file_urls_response.error_msg = f"{files:,} files at a time, expected at most {MOST_FILES:,}"
    return answer.SerializeToString()
