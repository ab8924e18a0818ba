"""WebSocket endpoint for knob values during a drag: one message in, one update straight back.

Through Streamlit an update passes the bookkeeping of the whole page, which on two cores takes longer than all the rest
together. Here it is one message on a socket beside Streamlit's own; Streamlit hears of the controls when the knob is
released.

One endpoint per session and component, opened by a secret token that only the session's own page knows. A session has
one answer made at a time, and two worker threads make those of all sessions. Messages: `app.console.protocol`.
"""

from __future__ import annotations

import json
import logging
import secrets
import threading
from asyncio import get_running_loop
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast
from weakref import WeakValueDictionary

from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from app.console.protocol import Endpoint, Update
from app.server.streamlit_compat import is_origin_allowed

PATH = "knob-drag"
LONGEST = 10_000  # characters of a message; an ordinary one has some three hundred
FIELDS = ("controls", "view")  # of a Request, beside its token
REFUSED = 1008  # close code

_workers = ThreadPoolExecutor(2, "knob-answer")
_askers = ThreadPoolExecutor(8, "knob-asker")  # for answers that wait for another server, and compute little
_endpoints: WeakValueDictionary[str, DragEndpoint] = (
    WeakValueDictionary()
)  # by token; each lives as long as its session

Reply = Callable[[Mapping[str, Any], int], dict[str, Any]]
"""(request, number of this answer) -> the parts of an Update.

It must not refer to its endpoint: objects in a cycle outlive their session until garbage is collected.
"""


class DragEndpoint:
    """Answers messages one at a time, whether they come by WebSocket or through Streamlit.

    `lock`: the endpoints of one session share it.
    """

    def __init__(self, lock: threading.Lock | None = None) -> None:
        self.token = secrets.token_urlsafe(24)
        self.answers = 0
        self.reply: Reply | None = None
        self.asks = False  # the reply may wait for another server: nobody else shall wait behind it
        self._lock = lock or threading.Lock()
        _endpoints[self.token] = self

    def address(self) -> Endpoint:
        """Where the browser finds it."""
        return {"path": PATH, "token": self.token}

    def answer(self, request: Mapping[str, Any]) -> Update:
        """An Update, numbered: of two that are on their way the browser keeps the newer."""
        with self._lock:
            assert self.reply is not None, "set `reply` before the first message"
            self.answers += 1
            return cast(Update, {**self.reply(request, self.answers), "answer": self.answers})

    async def answer_text(self, request: Mapping[str, Any]) -> str:
        """The same as JSON, made by a worker."""

        def make() -> str:
            return json.dumps(self.answer(request), allow_nan=False)

        return await get_running_loop().run_in_executor(_askers if self.asks else _workers, make)


def read(text: str | None) -> tuple[DragEndpoint, dict[str, Any]] | None:
    """The endpoint and the request of a message, None where it is no message to an open session."""
    try:
        message = json.loads(text) if text is not None and len(text) <= LONGEST else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or not isinstance(message.get("token"), str):
        return None
    endpoint = _endpoints.get(message["token"])
    if endpoint is None or endpoint.reply is None:
        return None
    return endpoint, {name: message[name] for name in FIELDS if name in message}


async def serve(socket: WebSocket) -> None:
    """Answer a page until it leaves or sends what has no answer; a message with a token alone needs none."""
    if not is_origin_allowed(socket.headers.get("origin"), socket.headers.get("host")):
        await socket.close(REFUSED)
        return
    await socket.accept()
    try:
        while (message := await socket.receive())["type"] == "websocket.receive":
            asked = read(message.get("text"))
            if asked is None:
                await socket.close(REFUSED)
                return
            if asked[1]:
                await socket.send_text(await asked[0].answer_text(asked[1]))
            del asked  # or the endpoint would outlive its session while the socket waits
    except WebSocketDisconnect:  # the page left while its answer was made
        pass
    except Exception:
        logging.getLogger(__name__).exception("a drag was not answered")
        await socket.close(REFUSED)


def route(prefix: str = "") -> WebSocketRoute:
    """The endpoint as a route of the server, under the server's base path where it has one."""
    return WebSocketRoute("/".join(["", *filter(None, [prefix.strip("/")]), PATH]), serve)
