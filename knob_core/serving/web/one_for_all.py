"""An answer that is made once for all who ask for it while it waits its turn.

With a thousand streams, a list of them takes as long to make as some batches; a log of a thousand turns, or all their
knobs, takes as long as some frames.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from knob_core.serving.web.one_at_a_time import OneAtATime


class OneForAll:
    """One of those that share a lane is made at a time, in a thread, with a rest after it."""

    def __init__(self, make: Callable[[], bytes], lane: OneAtATime) -> None:
        self._make, self._lane = make, lane
        self._coming: asyncio.Task[bytes] | None = None

    async def get(self) -> bytes:
        """Never made before it was asked for."""
        if self._coming is None:
            self._coming = asyncio.create_task(self._lane.run(self._made))
        return await asyncio.shield(self._coming)  # one who no longer waits takes it from nobody

    def _made(self) -> bytes:
        self._coming = None  # who asks from now on gets the next one
        return self._make()
