"""uvicorn's WebSocket with a bound on what costs work or memory and brings nothing.

These are control frames, tiny fragments, and messages that do not become whole. uvicorn reads on until a whole
message is there, in pieces of up to 256 KB: 40,000 empty frames, which are parsed before anybody else's turn comes.
Here a piece is parsed a slice at a time, and beyond a message only once the application took it. Of uvicorn's
internals this relies on `handle_events`, `handshake_initiated`, `read_paused`, `close_sent`, `conn`, `frames` and
`transport` (0.54), of those of websockets on `conn.reader.buffer`, which holds a frame that is not whole yet.
"""

from __future__ import annotations

from asyncio import TimerHandle
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame, Opcode

from knob_core.serving.unfinished import Unfinished

SLICE = 4096  # bytes that are parsed at once: at most some 700 frames
CONTROL_PER_S, CONTROL_AT_ONCE = 10.0, 100.0  # pings and pongs; a client's keep-alive is one in some seconds
FREE_FRAGMENTS, FRAGMENT = 16, 64  # of a message: so many of any size, and one more for each so many bytes
ABORT_AFTER = 10.0  # s that a client has to read why it was closed
POLICY, AGAIN = 1008, 1013  # close codes: for good, and come back later
NO_HANDSHAKE = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class FrameBudget(WebSocketsSansIOProtocol):
    """One connection."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._rest = bytearray()  # came, and is not parsed yet
        self._allowed, self._counted_at = CONTROL_AT_ONCE, self.loop.time()
        self._fragments = self._bytes = 0  # of the message that is under way
        self._unfinished: Unfinished | None = None  # that message, while the client owes the rest of it
        self._due = 0.0  # s, when the next bytes of it are to be there
        self._timer: TimerHandle | None = None

    def data_received(self, data: bytes) -> None:
        self._rest += data
        self._parse()
        if not self.handshake_initiated and not self.close_sent:  # uvicorn hands the whole head over at once
            self._refuse_handshake()

    def _refuse_handshake(self) -> None:
        """websockets does not take the head; uvicorn neither says so nor closes, and cannot stop beside such a one."""
        self.handshake_complete = self.close_sent = True
        self.transport.write(b"".join(self.conn.data_to_send()) or NO_HANDSHAKE)
        self.transport.close()

    def _parse(self) -> None:
        while self._rest and not self.read_paused and not self.transport.is_closing():
            part = bytes(self._rest[:SLICE])
            del self._rest[:SLICE]
            super().data_received(part)
        self._note_unfinished()

    def _note_unfinished(self) -> None:
        size = self._bytes + len(self.conn.reader.buffer)
        if not size or self.read_paused or self.close_sent or self.transport.is_closing():
            self._forget_unfinished()
            return
        now = self.loop.time()
        self._unfinished = self._unfinished or Unfinished(now)
        self._unfinished.hold(size)
        self._due = self._unfinished.due(now)
        if self._unfinished.is_too_much(self.config.ws_max_size):
            self._fail(AGAIN, "too many large messages are on their way already, connect again")
        elif self._timer is None:
            self._timer = self.loop.call_at(self._due, self._look_at_the_time)

    def _look_at_the_time(self) -> None:
        self._timer = None
        if self._unfinished is None:
            return
        if self.loop.time() < self._due:
            self._timer = self.loop.call_at(self._due, self._look_at_the_time)
        else:
            self._fail(POLICY, f"{self._unfinished.bytes:,} bytes of a message came in time, and then no more")

    def _forget_unfinished(self) -> None:
        if self._unfinished is not None:
            self._unfinished.hold(0)
            self._unfinished = None

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._forget_unfinished()
        if self._timer is not None:
            self._timer.cancel()

    def _fail(self, code: int, cause: str) -> None:
        """Close, and do not wait for ever for a client that does not read why."""
        self._forget_unfinished()
        if not self.handshake_complete:
            self.transport.abort()
            return
        self.frames.clear()
        self.conn.fail(code, cause)
        self.handle_parser_exception()
        self.loop.call_later(ABORT_AFTER, self.transport.abort)

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
        else:
            self._fail(POLICY, cause)

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
        if event.fin:
            self._fragments = self._bytes = 0
        return None
