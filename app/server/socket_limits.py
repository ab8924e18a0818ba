"""Limits of the drag sockets: which pages may open one, how many there may be, and for how long.

A page sends its token as soon as its socket is open. Sockets without a token are few and are closed soon. Where there
are too many sockets, the one that was silent for longest is dropped; its page goes on through Streamlit, and connects
again when it has something to send. Messages of a dropped socket are ignored, but it is closed only after a while, so
that many that connect again at once do not keep the server busy with opening sockets.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from weakref import WeakSet

from starlette.datastructures import Headers
from starlette.websockets import WebSocket, WebSocketDisconnect

from app.server.streamlit_internals import is_origin_allowed

FIRST_TOKEN = 10.0  # seconds from the open socket to a valid token
IDLE = 900.0  # seconds between two messages
MOST_WITHOUT_TOKEN = 64  # sockets that have shown no token yet
MOST_PER_ENDPOINT = 2  # a page that lost its network connects anew while the old socket still looks alive
MOST = 600  # sockets with a token
MOST_LINGERING = 500  # sockets that wait to be closed
LINGER = 3.0  # seconds from being dropped to being closed

LEFT, TIMED_OUT, REFUSED, NO_ROOM = 1000, 1001, 1008, 1013  # close codes


class Places:
    """At most so many sockets, ordered by their last message."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._held: dict[WebSocket, None] = {}

    def __len__(self) -> int:
        return len(self._held)

    def take(self, socket: WebSocket) -> None:
        """Take a place, or keep the one that it has; the socket that was silent for longest may lose its own."""
        self._held.pop(socket, None)
        self._held[socket] = None
        while len(self._held) > self.most:
            oldest = next(iter(self._held))
            self.leave(oldest)
            dropped.add(oldest)
            closing = asyncio.get_running_loop().create_task(close(oldest, NO_ROOM))
            _closing.add(closing)
            closing.add_done_callback(_closing.discard)

    def leave(self, socket: WebSocket) -> None:
        """Give the place back."""
        self._held.pop(socket, None)


dropped: WeakSet[WebSocket] = WeakSet()  # no longer counted nor answered
without_token = Places(MOST_WITHOUT_TOKEN)
with_token = Places(MOST)
_closing: set[asyncio.Task[None]] = set()  # asyncio keeps weak references to tasks only
_lingering = 0


def may_connect(headers: Headers) -> bool:
    """No page of another site may open a socket, nor one whose name was made to lead here (DNS rebinding)."""
    return is_origin_allowed(headers.get("origin"), headers.get("host"))


async def close(socket: WebSocket, code: int) -> None:
    """Close a socket that may be closed already; one that is dropped, after a while."""
    global _lingering
    if code in (REFUSED, NO_ROOM) and _lingering < MOST_LINGERING:
        _lingering += 1
        try:
            await asyncio.sleep(LINGER)
        finally:
            _lingering -= 1
    with suppress(RuntimeError, WebSocketDisconnect):
        await socket.close(code)
