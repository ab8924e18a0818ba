"""A stream of a service for asyncio; the same as `knob_core.client.Stream`, with `await`."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

from knob_core.client.stream import LEAVE, MOST_REPLIES, MOST_WAITING
from knob_core.client.stream_session import Attempts, Session, answer_to
from knob_core.serving.messages import Answer, Reply


class AsyncStream:
    """One stream. It connects when it is first used, and again whenever the connection breaks.

    One task at a time sends, and one at a time reads.
    """

    def __init__(self, url: str, id: str, *, give_up: float = 60.0, timeout: float = 30.0, **options: Any) -> None:
        """`give_up`: seconds without a service after which `Lost` is raised. Options: those of `Session`."""
        self.session = Session(url, id, **options)
        self._attempts, self._timeout = Attempts(give_up, timeout), timeout
        self._socket: Any = None
        self._replies: deque[Reply] = deque(maxlen=MOST_REPLIES)
        self._connecting, self._reading = asyncio.Lock(), asyncio.Lock()

    async def __aenter__(self) -> AsyncStream:
        await self._connected()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def step(self, frame: Any, *, elapsed: float | None = None, time: float | None = None) -> Answer:
        """One frame's answer. Raises ValueError with the service's words where the frame is refused."""
        number = await self.send(frame, elapsed=elapsed, time=time)
        while True:
            if (answer := answer_to(number, await self.reply())) is not None:
                return answer

    async def run(self, frames: Iterable[Any]) -> AsyncIterator[Reply]:
        """Many frames, several on their way at a time: the reply to each, in order."""
        await self._connected()
        for frame in frames:
            while len(self.session.waiting) >= self.session.window:
                yield await self.reply()
            await self.send(frame)
        while self.session.waiting or self._replies:
            yield await self.reply()

    async def send(self, frame: Any, *, elapsed: float | None = None, time: float | None = None) -> int:
        """Send without waiting for the answer; the frame's number. It waits where too many are unanswered."""
        await self._read_while(lambda: len(self.session.waiting) >= MOST_WAITING)
        socket = await self._connected()
        number, messages = self.session.send(frame, elapsed, time)
        for message in messages:
            await self._sent(socket, message)
        return number

    async def reply(self) -> Reply:
        """The next thing that the service says of a frame; waits for it."""
        await self._read_while(lambda: not self._replies)
        return self._replies.popleft()

    async def leave(self) -> None:
        """The stream has ended: the service forgets it."""
        if not await self._sent(await self._connected(), LEAVE):
            await self._sent(await self._connected(), LEAVE)
        await self.close()

    async def close(self) -> None:
        """Drop the connection; the service keeps the stream's state for its grace time."""
        socket, self._socket = self._socket, None
        if socket is not None:
            await socket.close()

    async def _sent(self, socket: Any, message: bytes | str) -> bool:
        """False where the connection was broken; then there is a new one."""
        from websockets.exceptions import ConnectionClosed

        try:
            await socket.send(message)
        except (ConnectionClosed, OSError) as error:
            socket.transport.abort()  # ends the reading of another task
            async with self._reading:
                await self._broken(socket, error)
            await self._connected()  # which sends all that is unanswered
            return False
        return True

    async def _read_while(self, needed: Callable[[], bool]) -> None:
        """Read as long as that is needed. One task reads at a time, and what it reads may be what another needs."""
        while needed():
            async with self._reading:
                if needed():
                    await self._read()

    async def _read(self) -> None:
        from websockets.exceptions import ConnectionClosed

        if (socket := self._socket) is None:
            await self._connected()  # which may bring what is waited for
            return
        try:
            async with asyncio.timeout(self._timeout):
                text = await socket.recv()
            await self._take(socket, text)
        except (ConnectionClosed, OSError) as error:
            await self._broken(socket, error)

    async def _broken(self, socket: Any, error: Exception) -> None:
        """Give a connection up, and take what had arrived and was not read yet; nobody else reads meanwhile."""
        from websockets.exceptions import ConnectionClosed

        if self._socket is not socket:
            return
        self._socket = None
        with contextlib.suppress(ConnectionClosed, OSError, EOFError):  # TimeoutError, nothing is left, is an OSError
            for _ in range(MOST_WAITING):  # no more can be on their way
                async with asyncio.timeout(0):
                    text = await socket.recv()
                replies, _messages = self.session.received(text)  # what is to be sent waits
                self._replies.extend(replies)
        self._replies.extend(self.session.note_break(error))
        socket.transport.abort()

    async def _take(self, socket: Any, text: Any) -> None:
        replies, messages = self.session.received(text)
        self._replies.extend(replies)
        for message in messages:
            await socket.send(message)

    async def _connected(self) -> Any:
        """The connection, a new one where there is none."""
        from websockets.exceptions import ConnectionClosed, InvalidHandshake

        async with self._connecting:
            if self._socket is None:
                self.session.require_not_replaced()
                await asyncio.sleep(self._attempts.begin(self.session.progress()))
            while self._socket is None:
                self.session.require_not_replaced()
                try:
                    self._socket = await self._opened()
                except (OSError, InvalidHandshake, ConnectionClosed, EOFError) as error:
                    self._replies.extend(self.session.note_break(error))
                    await asyncio.sleep(self._attempts.pause_after(error))
            return self._socket

    async def _opened(self) -> Any:
        """A connection over which the service has said hello."""
        from websockets.asyncio.client import connect

        options = self.session.options()
        socket = await connect(self.session.address(), open_timeout=self._attempts.timeout, **options)
        try:
            async with asyncio.timeout(self._attempts.timeout):
                text = await socket.recv()
            await self._take(socket, text)
        except BaseException:  # also where the caller's task is cancelled
            socket.transport.abort()
            raise
        return socket
