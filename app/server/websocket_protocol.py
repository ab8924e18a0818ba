"""Uvicorn's WebSocket protocol, for clients that flood a socket or do not read what they are sent.

Floods are met as `knob serve` meets them. Beside that, uvicorn waits until a closed socket was read: a client that
never reads could not be closed, and what was left for it stayed in memory.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop, Transport
from asyncio.transports import BaseTransport
from typing import Any

from knob_core.serving.frame_budget import FrameBudget

LEAVE = 3.0  # seconds that a client has to read what is left, with the goodbye, of a socket that is closed


class CarefulProtocol(FrameBudget):
    """One connection."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.close_timeout = LEAVE

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        left: Any = _Left(self.transport, self.loop)
        self.transport = left

    async def send(self, message: Any) -> None:
        if message["type"] == "websocket.close":  # it may wait for a client that does not read
            self.loop.call_later(2 * LEAVE, self.transport.abort)
        await super().send(message)


class _Left:
    """A transport that is closed for good a while after it was told to, whether the client has read it all or not."""

    def __init__(self, transport: Transport, loop: AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop

    def close(self) -> None:
        self._transport.close()
        self._loop.call_later(LEAVE, self._transport.abort)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
