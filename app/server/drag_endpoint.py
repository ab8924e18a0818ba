"""WebSocket endpoint for knob values during a drag: one message in, one update straight back.

Through Streamlit an update passes the bookkeeping of the whole page, which on two cores takes longer than all the rest
together. Here it is one message on a socket beside Streamlit's own; Streamlit hears of the controls when the knob is
released. Where the socket cannot be had (a proxy may let no second one through), every message goes through Streamlit.

One endpoint per session and component, opened by a secret token that only the session's own page knows. A session has
one answer made at a time, by a worker thread that does nothing else; its other messages wait without a thread, and it
rests in between. So others are answered in their turn, however much one session sends. `socket_limits` says who may
connect, and for how long. Messages: `app.console.protocol`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary, WeakValueDictionary

from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from app.console.protocol import Endpoint, Update
from app.server import socket_limits
from app.server.streamlit_internals import limit_message_size

Made = TypeVar("Made")
PATH = "knob-drag"
LONGEST = 10_000  # bytes of a message; an ordinary one has some three hundred
FIELDS = ("controls", "view")  # of a Request, beside its token
SLOW = 50.0  # ms of an answer: sessions that need more have a worker of their own
WARY = 20.0  # times a slow answer that its endpoint counts as slow: so it takes little of the quick ones' worker
REST = 1.0  # times the last answer that a session rests, while others want answers too
LATELY = 2.0  # seconds since another session's last answer
GREETING = 1.0  # seconds that a socket rests after another greeting: a page sends one
RETRY = 0.002  # seconds between two looks whether a session's last answer is made; its waiting messages take turns

# One worker for each: two that compute at once take twice as long, and keep the server's event loop waiting.
_quick, _slow = (ThreadPoolExecutor(1, f"knob-answer-{speed}") for speed in ("quick", "slow"))
MOST_WAITING = 8  # answers at a time that ask the same other server: they wait, and compute little
_waiting: WeakValueDictionary[str, ThreadPoolExecutor] = (
    WeakValueDictionary()
)  # by that server's address; each lives as long as an endpoint that asks it
_endpoints: WeakValueDictionary[str, DragEndpoint] = (
    WeakValueDictionary()
)  # by token; each lives as long as its session
_answered: WeakKeyDictionary[AnswerLock, float] = WeakKeyDictionary()  # when each session had its last answer

Reply = Callable[[Mapping[str, Any], int, float], dict[str, Any]]
"""(request, number of this answer, ms that the last answer took) -> the parts of an Update.

It must not refer to its endpoint: objects in a cycle outlive their session until garbage is collected.
"""


class AnswerLock:
    """One answer of a session at a time, with a rest in between while other sessions want answers, too."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: set[object] = set()  # messages, in any event loop
        self._rested = 0.0  # when the rest after the last answer ends

    def acquire(self) -> None:
        """Wait in this thread."""
        self._lock.acquire()

    async def acquire_in_event_loop(self) -> None:
        """Wait without a thread; a hundred messages of one session look no more often than one does."""
        message = object()
        self._waiting.add(message)
        try:
            while (pause := self._pause()) > 0 or not self._lock.acquire(blocking=False):
                await asyncio.sleep(max(pause, RETRY * len(self._waiting)))
        finally:
            self._waiting.discard(message)

    def release(self, took: float) -> None:
        """The answer is made; it took so many seconds."""
        now = _answered[self] = time.monotonic()
        self._rested = now + REST * took
        self._lock.release()

    def _pause(self) -> float:
        """Seconds that are left of the rest; 0 where nobody else had an answer lately."""
        now = time.monotonic()
        others = any(now - answered < LATELY for lock, answered in list(_answered.items()) if lock is not self)
        return self._rested - now if others else 0.0


class DragEndpoint:
    """Answers messages one at a time, whether they come by WebSocket or through Streamlit.

    `lock`: the endpoints of one session share it, or one session would have several answers made at once.
    """

    def __init__(self, lock: AnswerLock | None = None) -> None:
        self.token = secrets.token_urlsafe(24)
        self.answers = 0
        self.reply: Reply | None = None
        self.asks = ""  # address of another server that the reply may wait for: only its own askers wait behind it
        self._askers: ThreadPoolExecutor | None = None
        self._server_ms = 0.0
        self._slow_until = 0.0
        self._lock = lock or AnswerLock()
        self.sockets = socket_limits.Places(socket_limits.MOST_PER_ENDPOINT)
        _endpoints[self.token] = self

    def address(self) -> Endpoint:
        """Where the browser finds it."""
        return {"path": PATH, "token": self.token}

    def answer(self, request: Mapping[str, Any]) -> Update:
        """An Update, numbered: of two that are on their way the browser keeps the newer."""
        self._lock.acquire()
        return cast(Update, self._make(request, dict))

    async def answer_text(self, request: Mapping[str, Any]) -> str:
        """The same as JSON, made by a worker; waits for the session's last one without a thread."""
        await self._lock.acquire_in_event_loop()
        worker = _slow if time.monotonic() < self._slow_until else _quick
        if self.asks:
            worker = self._askers = _askers_of(self.asks)
        # shielded: a job that was cancelled before it began would never release the lock
        return await asyncio.shield(asyncio.wrap_future(worker.submit(self._make, request, _as_json)))

    def _make(self, request: Mapping[str, Any], form: Callable[[dict[str, Any]], Made]) -> Made:
        """Make an answer in one of two forms, and release the lock."""
        began = time.perf_counter()
        try:
            assert self.reply is not None, "set `reply` before the first message"
            self.answers += 1
            parts = self.reply(request, self.answers, self._server_ms)
            return form({**parts, "answer": self.answers})
        finally:
            took = time.perf_counter() - began
            self._server_ms = 1000 * took
            if self._server_ms >= SLOW:
                self._slow_until = max(self._slow_until, time.monotonic() + WARY * took)
            self._lock.release(took)


def _askers_of(address: str) -> ThreadPoolExecutor:
    """The workers of all answers that ask this server."""
    found = _waiting.get(address)
    if found is None:
        found = _waiting[address] = ThreadPoolExecutor(MOST_WAITING, "knob-answer-waiting")
    return found


def _as_json(made: dict[str, Any]) -> str:
    return json.dumps(made, allow_nan=False)


def read(text: str | None) -> tuple[DragEndpoint, dict[str, Any]] | None:
    """Whom a message is for and what it asks, None where it is no message to an open session; nothing is trusted."""
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
    """Answer a page until it leaves, is silent for too long, or sends what has no answer."""
    if not socket_limits.may_connect(socket.headers):
        await socket.close(socket_limits.REFUSED)
        return
    limit_message_size(socket._receive, LONGEST)
    await socket.accept()
    shown: list[str] = []  # the token, once it is known
    socket_limits.without_token.take(socket)
    try:
        await socket_limits.close(socket, await _converse(socket, shown))
    finally:  # not before: a socket that is being closed is still one
        socket_limits.without_token.leave(socket)
        socket_limits.with_token.leave(socket)
        if shown and (left := _endpoints.get(shown[0])) is not None:
            left.sockets.leave(socket)


async def _converse(socket: WebSocket, shown: list[str]) -> int:
    """Message after message; the code to close the socket with."""
    while True:
        try:
            patience = socket_limits.IDLE if shown else socket_limits.FIRST_TOKEN
            message = await asyncio.wait_for(socket.receive(), patience)
        except TimeoutError:
            return socket_limits.TIMED_OUT if shown else socket_limits.REFUSED
        if message["type"] != "websocket.receive":
            return socket_limits.LEFT
        if socket in socket_limits.dropped:
            return socket_limits.NO_ROOM
        asked = read(message.get("text"))
        if asked is None or (shown and shown[0] != asked[0].token):
            return socket_limits.REFUSED
        endpoint, request = asked
        greeted, shown[:] = bool(shown), [endpoint.token]
        socket_limits.without_token.leave(socket)
        socket_limits.with_token.take(socket)
        endpoint.sockets.take(socket)
        if request:
            try:
                reply = await endpoint.answer_text(request)
            except Exception:
                logging.getLogger(__name__).exception("a drag was not answered; its page goes on through Streamlit")
                return socket_limits.REFUSED
            try:
                await socket.send_text(reply)
            except (WebSocketDisconnect, RuntimeError):  # the page left while its answer was made
                return socket_limits.LEFT
        elif greeted:  # the page wants nothing, and has shown its token before
            await asyncio.sleep(GREETING)
        del asked, endpoint  # or the endpoint would outlive its session while the socket waits


def route(prefix: str = "") -> WebSocketRoute:
    """The endpoint as a route of the server, under the server's base path where it has one."""
    return WebSocketRoute("/".join(["", *filter(None, [prefix.strip("/")]), PATH]), serve)
