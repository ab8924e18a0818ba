"""Uvicorn's WebSocket protocol, for clients that do not read, or send frames without end.

Uvicorn answers every ping as it comes, and waits until a closed socket was read. A client that sends pings and never
reads filled the memory, kept the event loop from everybody, and could not be closed. What comes is parsed in slices, no
further than to the end of a message before the last ones were taken.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop, Transport
from asyncio.transports import BaseTransport
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

LEAVE = 3.0  # seconds that a client has to read what is left, with the goodbye, of a socket that is closed
SLICE = 4_096  # bytes that are parsed at a time: some hundred frames
MOST_EXTRA = 200  # pings, pongs and parts of messages in a second; a browser's long message has some twenty parts


class CarefulProtocol(WebSocketsSansIOProtocol):
    """One connection."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.close_timeout = LEAVE
        self._rest = bytearray()  # came, and is not parsed yet
        self._extra, self._since = 0, 0.0  # frames that end no message, in the second that began then

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        left: Any = _Left(self.transport, self.loop)
        self.transport = left

    def data_received(self, data: bytes) -> None:
        self._rest += data
        self._parse()

    def _parse(self) -> None:
        while self._rest and not self.read_paused and not self.transport.is_closing():
            part = bytes(self._rest[:SLICE])
            del self._rest[:SLICE]
            super().data_received(part)

    async def receive(self) -> Any:
        message = await super().receive()
        self._parse()
        return message

    async def send(self, message: Any) -> None:
        if message["type"] == "websocket.close":  # it may wait for a client that does not read
            self.loop.call_later(2 * LEAVE, self.transport.abort)
        await super().send(message)
        self._parse()  # after a close reading goes on, for the client's

    def handle_ping(self) -> None:
        super().handle_ping()
        self._count()

    def handle_pong(self, event: Frame) -> None:
        super().handle_pong(event)
        self._count()

    def handle_cont(self, event: Frame) -> None:
        super().handle_cont(event)
        self._count()

    def _count(self) -> None:
        """A frame came that is no message; what it costs is little, but nothing slows its sender down."""
        if self.loop.time() - self._since > 1.0:
            self._extra, self._since = 0, self.loop.time()
        self._extra += 1
        if self._extra > MOST_EXTRA:
            self.logger.info("a WebSocket was closed: it sent more than %d control frames a second", MOST_EXTRA)
            self.transport.abort()
        elif not self.writable.is_set():  # our pongs are not read: nor is what asks for them
            self.transport.pause_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        if not self.read_paused:
            self.transport.resume_reading()


class _Left:
    """A transport that is closed for good a while after it was told to, whether the client has read it all or not."""

    def __init__(self, transport: Transport, loop: AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop

    def close(self) -> None:
        self._transport.close()
        self._loop.call_later(LEAVE, self._transport.abort)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
