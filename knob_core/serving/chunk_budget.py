"""uvicorn's HTTP with a bound on bodies in tiny chunks: each costs as much as a large one, whatever it brings.

h11 parses all that came before anybody else's turn: one connection that sent a byte a chunk made every stream wait for
seconds. Of uvicorn's internals this relies on `conn` and `transport` (0.54), of h11's on `Connection.next_event`.
"""

from __future__ import annotations

from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

FREE_CHUNKS, CHUNK = 64, 256  # of a body: so many of any size, and one more for each so many bytes


class ChunkBudget(H11Protocol):
    """One connection."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._chunks = self._bytes = 0  # of the body that is under way
        self._next_event = self.conn.next_event
        vars(self.conn)["next_event"] = self._next_within_budget

    def _next_within_budget(self) -> Any:
        """The next event; too many chunks are an error of the client's."""
        event = self._next_event()
        if isinstance(event, h11.Request):
            self._chunks = self._bytes = 0
        elif isinstance(event, h11.Data):
            self._bytes += len(event.data)
            self._chunks += event.chunk_end
            if self._chunks > FREE_CHUNKS + self._bytes // CHUNK:
                if self.conn.our_state is h11.SEND_RESPONSE:
                    raise h11.RemoteProtocolError(f"{self._chunks} chunks for {self._bytes} bytes of a body")
                self.transport.abort()  # it has its answer already
                return h11.NEED_DATA
        return event
