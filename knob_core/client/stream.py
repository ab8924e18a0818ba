"""A stream of a service for plain Python: `AsyncStream` in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Coroutine, Iterable, Iterator
from typing import Any, TypeVar

from knob_core.client.async_stream import AsyncStream
from knob_core.serving.messages import Answer, Reply

T = TypeVar("T")


class Stream:
    """One stream. It connects when it is first used, and again whenever the connection breaks.

    Where another client opens the same stream this one has lost it: `Lost` is raised from then on.
    """

    def __init__(self, url: str, id: str, **options: Any) -> None:
        """Options: those of `AsyncStream`."""
        self._stream = AsyncStream(url, id, **options)
        self.session = self._stream.session
        runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = runner.get_loop()
        threading.Thread(target=_run, args=(runner,), name=f"stream {id}", daemon=True).start()
        weakref.finalize(self, self._loop.call_soon_threadsafe, self._loop.stop)

    def __enter__(self) -> Stream:
        self._wait(self._stream.open())
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def step(self, frame: Any, *, elapsed: float | None = None, time: float | None = None) -> Answer:
        """One frame's answer. Raises ValueError with the service's words where the frame is refused."""
        return self._wait(self._stream.step(frame, elapsed=elapsed, time=time))

    def run(self, frames: Iterable[Any]) -> Iterator[Reply]:
        """Many frames, several on their way at a time: the reply to each, in order."""
        self._wait(self._stream.open())
        for frame in frames:
            while len(self.session.waiting) >= self.session.window:
                yield self.reply()
            self.send(frame)
        while self.session.waiting or self._stream.unread:
            yield self.reply()

    def send(self, frame: Any, *, elapsed: float | None = None, time: float | None = None) -> int:
        """Send without waiting for the answer; the frame's number. It waits where too many are unanswered."""
        return self._wait(self._stream.send(frame, elapsed=elapsed, time=time))

    def reply(self) -> Reply:
        """The next thing that the service says of a frame; waits for it."""
        return self._wait(self._stream.reply())

    def leave(self) -> None:
        """The stream has ended: the service forgets it."""
        self._wait(self._stream.leave())

    def close(self) -> None:
        """Drop the connection; the service keeps the stream's state for its grace time."""
        self._wait(self._stream.close())

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:  # also Ctrl-C: the work ends with the wait for it
            future.cancel()
            raise


def _run(runner: asyncio.Runner) -> None:
    runner.get_loop().run_forever()
    runner.close()
