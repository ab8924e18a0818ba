"""How many connections a service holds: each takes a file descriptor, and a system gives a process only so many.

Without one left nobody is answered and no snapshot is written. So the limit is raised as far as it may be, connections
have less than that, and one too many is closed at once. Of uvicorn's internals this relies on `connections` and
`limit_concurrency` (0.54), from which on it answers requests with 503, but leaves silent connections open.
"""

from __future__ import annotations

import logging
from asyncio import Transport
from typing import NamedTuple

from knob_core.serving.chunk_budget import ChunkBudget

REFUSED = 50  # connections beside the others whose request is answered with 503
BACKLOG = 1024  # connections that the system may hand over at once, before any of them is counted
OTHERS = 100  # descriptors for files, the listening sockets, the event loop and what the model has open
log = logging.getLogger(__name__)


class Room(NamedTuple):
    """For connections."""

    connections: int
    backlog: int


def made(wanted: int) -> Room:
    """Room for so many connections, or for as many as there are descriptors for."""
    needed = wanted + REFUSED + BACKLOG + OTHERS
    limit = _raised(needed)
    if limit is None or limit >= needed:
        return Room(wanted, BACKLOG)
    backlog = min(BACKLOG, limit // 4)
    found = max(1, min(wanted, limit - backlog - REFUSED - OTHERS))
    if found < wanted:
        says = "fewer connections are taken than --capacity asks for: the system gives too few descriptors (ulimit -n)"
        log.warning(says, extra={"connections": found, "wanted": wanted, "descriptors": limit, "needed": needed})
    return Room(found, backlog)


def _raised(needed: int) -> int | None:
    """The limit of descriptors, raised to what is needed where that is allowed; None: there is none."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return None
    goal = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    if goal > soft:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (goal, hard))
        except (OSError, ValueError):  # macOS has a limit beside the hard one
            return soft
    return max(soft, goal)


class BoundedConnection(ChunkBudget):
    """One connection, closed at once where there are too many."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self.limit_concurrency is not None and len(self.connections) > self.limit_concurrency + REFUSED:
            transport.abort()
