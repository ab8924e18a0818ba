"""A stream of a service for asyncio: `step` a frame and wait, or `send` and read `reply`."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections import deque
from collections.abc import AsyncIterator, Callable, Generator, Iterable
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from knob_core.client.session import Session, answer_to
from knob_core.serving.access import is_local
from knob_core.serving.messages import PROTOCOL, REPLACED, RESTART, Answer, Reply

LEAVE = '{"type": "leave"}'
MOST_WAITING = 64  # frames without an answer; then sending waits
MOST_REPLIES = 10_000  # that nobody has read; then the oldest are forgotten
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 2.0  # s between two attempts to connect


class Lost(ConnectionError):
    """The service could not be reached for too long, or does not take this stream."""


class AsyncStream:
    """One stream. It connects when it is first used, and again whenever the connection breaks.

    Where another client opens the same stream this one has lost it: `Lost` is raised from then on.
    """

    def __init__(
        self, url: str, id: str, *, group: str = "", policy: str = "", token: str | None = None,
        give_up: float = 60.0, timeout: float = 30.0, **options: Any,
    ) -> None:  # fmt: skip
        """`give_up`: seconds without a reply after which `Lost` is raised; `timeout`: of one attempt to connect.

        Other options: those of `Session`.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https"):
            raise ValueError(f"url is {url!r}, expected http://... or https://...")
        self.session = Session(id, **options)
        # What the session knows already it ignores, so it may be sent all that the service still has: after=0.
        query = urlencode({name: x for name, x in {"group": group, "policy": policy, "after": "0"}.items() if x})
        self._address = f"{url.rstrip('/').replace('http', 'ws', 1)}/v1/streams/{quote(id, safe='')}/socket?{query}"
        self._options: dict[str, Any] = {
            "additional_headers": {"Authorization": f"Bearer {token}"} if token else {},
            "subprotocols": [PROTOCOL], "max_size": 2**22, "compression": None,
            "open_timeout": min(timeout, give_up), "ping_interval": timeout / 2, "ping_timeout": timeout / 2,
        }  # fmt: skip
        if is_local(parts.hostname or ""):
            self._options["proxy"] = None  # a token for a service on this machine travels nowhere else
        self._give_up, self._timeout = give_up, timeout
        self.unread: deque[Reply] = deque(maxlen=MOST_REPLIES)
        self._news = asyncio.Event()  # a reply came, or the connection changed
        self._sending = asyncio.Lock()  # messages go out in the order of their numbers
        self._live: asyncio.Task[None] | None = None
        self._socket: Any = None  # over which the service has said hello
        self._replaced = self._leaving = self._left = False

    async def __aenter__(self) -> AsyncStream:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> None:
        """Wait until the service has said hello."""
        await self._until(lambda: self._socket is not None)

    async def step(self, frame: Any, *, elapsed: float | None = None, time: float | None = None) -> Answer:
        """One frame's answer. Raises ValueError with the service's words where the frame is refused."""
        number = await self.send(frame, elapsed=elapsed, time=time)
        while True:
            if (answer := answer_to(number, await self.reply())) is not None:
                return answer

    async def run(self, frames: Iterable[Any]) -> AsyncIterator[Reply]:
        """Many frames, several on their way at a time: the reply to each, in order."""
        await self.open()
        for frame in frames:
            while len(self.session.waiting) >= self.session.window:
                yield await self.reply()
            await self.send(frame)
        while self.session.waiting or self.unread:
            yield await self.reply()

    async def send(self, frame: Any, *, elapsed: float | None = None, time: float | None = None) -> int:
        """Send without waiting for the answer; the frame's number. It waits where too many are unanswered."""
        await self._until(lambda: self._socket is not None and len(self.session.waiting) < MOST_WAITING)
        async with self._sending:
            number, messages = self.session.send(frame, elapsed, time)
            await self._write(messages)
        return number

    async def reply(self) -> Reply:
        """The next thing that the service says of a frame; waits for it."""
        await self._until(lambda: bool(self.unread))
        return self.unread.popleft()

    async def leave(self) -> None:
        """The stream has ended: the service forgets it."""
        self._leaving = True  # is told with the next hello, too
        await self.open()
        await self._write([LEAVE])
        await self._until(lambda: self._left)
        await self.close()
        self._leaving = self._left = False

    async def close(self) -> None:
        """Drop the connection; the service keeps the stream's state for its grace time."""
        live, self._live, self._socket = self._live, None, None
        if live is not None:
            live.cancel()
            with contextlib.suppress(asyncio.CancelledError, Lost):
                await live

    async def _until(self, true: Callable[[], bool]) -> None:
        """Wait for it while the connection lives; raises `Lost`."""
        if self._replaced:
            raise self._lost_to_another()
        if self._live is None or self._live.done():  # who tries again has the whole time again
            self._news, self._sending = asyncio.Event(), asyncio.Lock()  # of the loop that runs now
            self._progressed()
            self._is_late()
            self._live = asyncio.create_task(self._connected())
            self._live.add_done_callback(self._ended)
        live = self._live
        while not true():
            if live.cancelled():
                raise Lost("the stream was closed")
            if live.done():
                live.result()
            self._news.clear()
            await self._news.wait()

    def _ended(self, live: asyncio.Task[None]) -> None:
        self._news.set()
        if not live.cancelled():
            live.exception()  # raised where somebody waits, else nobody needs it

    async def _connected(self) -> None:
        """Connect, read replies, and connect again, without end."""
        from websockets.asyncio.client import connect
        from websockets.exceptions import ConnectionClosed

        sockets: Any = aiter(
            connect(
                self._address, process_exception=self._fatal, reconnect_delays=lambda: self._pauses, **self._options
            )
        )
        async with contextlib.aclosing(sockets):
            async for socket in sockets:
                cause = "it was closed"
                try:
                    async with asyncio.timeout(self._timeout):
                        hello = await socket.recv()
                    await self._take(socket, hello)
                    async for text in socket:
                        self._progressed()
                        await self._take(socket, text)
                except (ConnectionClosed, OSError) as error:  # TimeoutError is an OSError
                    cause = str(error)
                self._socket = None
                if self._leaving and socket.close_code == RESTART:  # as a stream is closed that has ended
                    self._left = True
                    return
                if socket.close_code == REPLACED:
                    self._replaced = True
                    raise self._lost_to_another()
                if self._is_late():
                    raise Lost(f"no reply for {self._give_up:g} s: every connection broke before one came ({cause})")
                await asyncio.sleep(next(self._pauses))

    async def _take(self, socket: Any, text: str | bytes) -> None:
        async with self._sending:
            self._socket = socket
            replies, messages = self.session.received(text)
            self.unread.extend(replies)
            if not self.session.waiting:
                self._progressed()
            self._news.set()
            await self._write([LEAVE] if self._leaving else messages)

    async def _write(self, messages: Iterable[bytes | str]) -> bool:
        """False where the connection has broken; the reading task sees that too, and sends what is unanswered again."""
        from websockets.exceptions import ConnectionClosed

        try:
            for message in messages if self._socket is not None else ():
                await self._socket.send(message)
        except ConnectionClosed:
            self._socket = None
        return self._socket is not None

    # Giving up

    def _progressed(self) -> None:
        """A reply came, or none is waited for.

        A service that takes every connection and breaks it again must not be connected to without end.
        """
        self._over: float | None = None  # s of the loop's clock, when to give up; none while all is well
        self._pauses = _pauses()

    def _is_late(self) -> bool:
        now = asyncio.get_running_loop().time()
        self._over = now + self._give_up if self._over is None else self._over
        return now >= self._over

    def _fatal(self, error: Exception) -> Exception | None:
        """Why not to connect again; None where it is worth it."""
        from websockets.client import process_exception

        if process_exception(error) is not None:
            return Lost(_words(error))
        if self._is_late():
            return Lost(f"no service for {self._give_up:g} s: {error}")
        return None

    def _lost_to_another(self) -> Lost:
        return Lost(f"another client has opened the stream {self.session.id!r}, and one stream has one client")


def _pauses() -> Generator[float, None, None]:
    """Seconds, each about twice the one before; the first break is none of the service's."""
    yield 0.0
    pause = FIRST_PAUSE
    while True:
        yield pause * (0.5 + random.random())
        pause = min(2 * pause, LONGEST_PAUSE)


def _words(error: Exception) -> str:
    """What a service says where it refuses a client."""
    try:
        return str(json.loads(error.response.body)["error"])  # type: ignore[attr-defined]
    except (ValueError, KeyError, TypeError, AttributeError):
        return str(error)
