"""uvicorn's WebSocket with a bound on the frames that cost work and bring nothing: control frames and tiny fragments.

uvicorn reads on until a whole message is there, in pieces of up to 256 KB: 40,000 empty frames, which are parsed before
anybody else's turn comes. Here a piece is parsed a slice at a time, and beyond a message only once the application took
it. Of uvicorn's internals this relies on `handle_events`, `read_paused`, `close_sent`, `conn` and `transport` (0.54).
"""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame, Opcode

SLICE = 4096  # bytes that are parsed at once: at most some 700 frames
CONTROL_PER_S, CONTROL_AT_ONCE = 10.0, 100.0  # pings and pongs; a client's keep-alive is one in some seconds
FREE_FRAGMENTS, FRAGMENT = 16, 64  # of a message: so many of any size, and one more for each so many bytes
ABORT_AFTER = 10.0  # s that a client has to read why it was closed
POLICY = 1008


class FrameBudget(WebSocketsSansIOProtocol):
    """One connection."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._rest = bytearray()  # came, and is not parsed yet
        self._allowed, self._counted_at = CONTROL_AT_ONCE, self.loop.time()
        self._fragments = self._bytes = 0  # of the message that is under way

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
        await super().send(message)
        self._parse()  # after a close of ours uvicorn reads on, for the client's

    def handle_events(self) -> None:
        cause = next(filter(None, map(self._problem, self.conn.events)), None)
        if cause is None:
            super().handle_events()
        elif self.close_sent:  # it need not be read any more; uvicorn closes after a while
            self._rest.clear()
            self.read_paused = True
            self.transport.pause_reading()
        elif self.handshake_complete:
            self.conn.fail(POLICY, cause)
            self.handle_parser_exception()
            self.loop.call_later(ABORT_AFTER, self.transport.abort)
        else:
            self.transport.abort()

    def _problem(self, event: Any) -> str | None:
        """What is wrong with a frame, where it is one too many."""
        if not isinstance(event, Frame) or event.opcode is Opcode.CLOSE:
            return None
        if event.opcode in (Opcode.PING, Opcode.PONG) or self.close_sent:
            now = self.loop.time()
            passed, self._counted_at = now - self._counted_at, now
            self._allowed = min(CONTROL_AT_ONCE, self._allowed + passed * CONTROL_PER_S) - 1.0
            return None if self._allowed >= 0 else f"more than {CONTROL_PER_S:g} pings and pongs a second came"
        first = event.opcode is not Opcode.CONT
        self._fragments, self._bytes = (0, 0) if first else (self._fragments, self._bytes)
        self._fragments, self._bytes = self._fragments + 1, self._bytes + len(event.data)
        if self._fragments > FREE_FRAGMENTS + self._bytes // FRAGMENT:
            return f"a message has {self._fragments} fragments of {self._bytes} bytes in all"
        return None
