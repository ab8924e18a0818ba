"""WebSocket endpoint for knob values during a drag: one message in, one update straight back.

Through Streamlit an update passes the bookkeeping of the whole page, which on two cores takes longer than all the rest
together. Here it is one message on a socket beside Streamlit's own; Streamlit hears of the controls when the knob is
released. Where the socket cannot be had (a proxy may let no second one through), every message goes through Streamlit.

One endpoint per session and component, opened by a secret token that only the session's own page knows.
Messages: `app.console.protocol`.
"""

from __future__ import annotations

import json
import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, cast
from weakref import WeakValueDictionary

from starlette.concurrency import run_in_threadpool
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from app.console.protocol import Endpoint, Update

PATH = "knob-drag"
LONGEST = 10_000  # characters of a message; an ordinary one has some three hundred
FIELDS = ("controls", "view")  # of a Request, beside its token

_endpoints: WeakValueDictionary[str, DragEndpoint] = (
    WeakValueDictionary()
)  # by token; each lives as long as its session

Reply = Callable[[Mapping[str, Any], int, float], dict[str, Any]]
"""(request, number of this answer, ms that the last answer took) -> the parts of an Update.

It must not refer to its endpoint: objects in a cycle would outlive their session, since they are excluded from garbage
collection (`app.server.garbage_collector`).
"""


class DragEndpoint:
    """One session's endpoint: answers messages one at a time, whether they come by WebSocket or through Streamlit."""

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(24)
        self.answers = 0
        self.reply: Reply | None = None
        self._server_ms = 0.0
        self._lock = threading.Lock()
        _endpoints[self.token] = self

    def address(self) -> Endpoint:
        """Where the browser finds it."""
        return {"path": PATH, "token": self.token}

    def answer(self, request: Mapping[str, Any]) -> Update:
        """An Update, numbered: of two that are on their way the browser keeps the newer."""
        with self._lock:
            assert self.reply is not None, "set `reply` before the first message"
            began = time.perf_counter()
            self.answers += 1
            parts = self.reply(request, self.answers, self._server_ms)
            self._server_ms = 1000 * (time.perf_counter() - began)
            return cast(Update, {**parts, "answer": self.answers})


def answer_text(text: str) -> str | None:
    """The answer to one WebSocket message, None where it is not a message of an open session; nothing is trusted."""
    try:
        message = json.loads(text) if len(text) <= LONGEST else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or not isinstance(message.get("token"), str):
        return None
    endpoint = _endpoints.get(message["token"])
    if endpoint is None or endpoint.reply is None:
        return None
    request = {name: message[name] for name in FIELDS if name in message}
    return json.dumps(endpoint.answer(request), allow_nan=False)


async def serve(socket: WebSocket) -> None:
    """Answer a page until it leaves, or sends what has no answer."""
    await socket.accept()
    while (message := await socket.receive())["type"] == "websocket.receive":
        text = message.get("text")
        try:
            reply = None if text is None else await run_in_threadpool(answer_text, text)
        except Exception:
            logging.getLogger(__name__).exception("the drag endpoint failed; its page goes on through Streamlit")
            reply = None
        try:
            if reply is None:
                await socket.close(1008)
                return
            await socket.send_text(reply)
        except (WebSocketDisconnect, RuntimeError):  # the page left while its answer was made
            return


def route(prefix: str = "") -> WebSocketRoute:
    """The endpoint as a route of the server, under the server's base path where it has one."""
    return WebSocketRoute("/".join(["", *filter(None, [prefix.strip("/")]), PATH]), serve)
