"""Close connections whose client does nothing: they need no token, and enough of them would shut everybody out.

One sends no request, one does not read its answer, and one does not read that it is closed. uvicorn counts every open
connection against `limit_concurrency`. Its own deadline (`timeout_keep_alive`) begins after a response and ends with
the next byte: a connection that never sends a whole request head has none, nor has one that sends requests and never
reads. All that relies on uvicorn's internals is here, read in 0.54: an HTTP connection of `server_state.connections`
has a `transport`, a `flow` and a `cycle`, which is its last request with a whole head, None before the first; a
WebSocket has no `cycle`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Set
from typing import Any

HEAD_WITHIN = 10.0  # s from the connection, or from the last response, to the end of the next request's head
log = logging.getLogger(__name__)


class Silent:
    """Connections whose client owes something: a request, or to read."""

    def __init__(self, connections: Set[Any], within: float = HEAD_WITHIN) -> None:
        self._connections, self._within = connections, within
        self._since: dict[Any, tuple[Any, float]] = {}  # (the cycle before, s since when) by connection

    async def watch(self) -> None:
        """Close them as long as the service runs."""
        while True:
            await asyncio.sleep(min(1.0, self._within / 4))
            closed = self.close_late(time.monotonic())
            if closed:
                log.info("silent connections closed", extra={"connections": closed})

    def close_late(self, now: float) -> int:
        """How many were closed."""
        known, self._since = self._since, {}
        late = 0
        for connection in list(self._connections):
            if not _owes(connection):
                continue
            cycle = getattr(connection, "cycle", None)
            before, since = known.get(connection, (cycle, now))
            since = since if before is cycle else now  # it has had a request meanwhile
            if now - since >= self._within:
                connection.transport.abort()  # not close(), which waits for a client that does not read
                late += 1
            else:
                self._since[connection] = (cycle, since)
        return late


def _owes(connection: Any) -> bool:
    """Whether it is the client's turn."""
    if connection.transport.is_closing():
        return True
    if not hasattr(connection, "cycle"):  # an open WebSocket: pings find out
        return False
    cycle = connection.cycle
    return cycle is None or cycle.response_complete or connection.flow.write_paused
