"""The direct line: what a hand does comes here, and the answer goes straight to the part that draws it.

Through Streamlit an answer passes the bookkeeping of the whole page, which on two cores takes longer than all the rest
together. Over the line it is one message on a socket beside Streamlit's own; Streamlit hears of the hand when that has
let go. Where the socket cannot be had (a proxy that lets no second one through), every hand goes through Streamlit.

A session offers a `Seat`. The token of a seat is known to the session's own page only, and opens that seat alone.
"""

from __future__ import annotations

import json
import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakValueDictionary

from starlette.concurrency import run_in_threadpool
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

PATH = "knob-line"
LONGEST = 10_000  # characters; a hand has some three hundred
SAID = ("hand", "view")

_seats: WeakValueDictionary[str, Seat] = WeakValueDictionary()  # a seat lives as long as its session


Reply = Callable[[Mapping[str, Any], "Seat"], dict[str, Any]]  # given its seat, so that it need not hold on to it


class Seat:
    """One session's end of the line: a reply to what the hand did, whichever way it came, one at a time."""

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(24)
        self.answers = 0
        self.body = 0.0  # ms that the last answer took
        self.reply: Reply | None = None
        self._lock = threading.Lock()
        _seats[self.token] = self

    def answer(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """The reply, stamped: of two answers on their way the page keeps the newer."""
        with self._lock:
            assert self.reply is not None
            began = time.perf_counter()
            self.answers += 1
            reply = self.reply(said, self)
            self.body = 1000 * (time.perf_counter() - began)
            return {**reply, "line": {"path": PATH, "token": self.token, "stamp": self.answers}}


def answer(text: str) -> str | None:
    """The answer to one message of a page, or None where there is nobody to give one; nothing in it is trusted."""
    try:
        message = json.loads(text) if len(text) <= LONGEST else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or not isinstance(message.get("token"), str):
        return None
    seat = _seats.get(message["token"])
    if seat is None or seat.reply is None:
        return None
    return json.dumps(seat.answer({name: message[name] for name in SAID if name in message}), allow_nan=False)


async def talk(socket: WebSocket) -> None:
    """Answer a page until it leaves, or says what nobody can answer."""
    await socket.accept()
    while (message := await socket.receive())["type"] == "websocket.receive":
        text = message.get("text")
        try:
            reply = None if text is None else await run_in_threadpool(answer, text)
        except Exception:
            logging.getLogger(__name__).exception("the direct line failed; its page goes on through Streamlit")
            reply = None
        try:
            if reply is None:
                await socket.close(1008)
                return
            await socket.send_text(reply)
        except (WebSocketDisconnect, RuntimeError):  # it left while its answer was made
            return


def route(prefix: str = "") -> WebSocketRoute:
    """The line as a route of the server, under the server's own prefix where it has one."""
    return WebSocketRoute("/".join(["", *filter(None, [prefix.strip("/")]), PATH]), talk)
