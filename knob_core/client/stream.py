"""A stream of a service for plain Python: `step` a frame and wait, or `send` and read `replies`."""

from __future__ import annotations

import contextlib
import time as clocks
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from knob_core.client.stream_session import Attempts, Session, answer_to
from knob_core.serving.messages import Answer, Reply

LEAVE = '{"type": "leave"}'
MOST_WAITING = 64  # frames without an answer; then sending waits
MOST_REPLIES = 10_000  # that nobody has read; then the oldest are forgotten


class Stream:
    """One stream. It connects when it is first used, and again whenever the connection breaks.

    Where another client opens the same stream this one has lost it: `Lost` is raised from then on.
    """

    def __init__(self, url: str, id: str, *, give_up: float = 60.0, timeout: float = 30.0, **options: Any) -> None:
        """`give_up`: seconds without a service after which `Lost` is raised. Options: those of `Session`."""
        self.session = Session(url, id, **options)
        self._attempts, self._timeout = Attempts(give_up, timeout), timeout
        self._socket: Any = None
        self._replies: deque[Reply] = deque(maxlen=MOST_REPLIES)  # that came while something else was waited for

    def __enter__(self) -> Stream:
        self._connected()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def step(self, frame: Any, *, elapsed: float | None = None, time: float | None = None) -> Answer:
        """One frame's answer. Raises ValueError with the service's words where the frame is refused."""
        number = self.send(frame, elapsed=elapsed, time=time)
        while True:
            if (answer := answer_to(number, self.reply())) is not None:
                return answer

    def run(self, frames: Iterable[Any]) -> Iterator[Reply]:
        """Many frames, several on their way at a time: the reply to each, in order."""
        for frame in frames:
            while len(self.session.waiting) >= self._window():
                yield self.reply()
            self.send(frame)
        while self.session.waiting or self._replies:
            yield self.reply()

    def send(self, frame: Any, *, elapsed: float | None = None, time: float | None = None) -> int:
        """Send without waiting; the frame's number."""
        self._connected()
        while len(self.session.waiting) >= MOST_WAITING:
            self._read()
        number, messages = self.session.send(frame, elapsed, time)
        for message in messages:
            self._sent(message)
        return number

    def reply(self) -> Reply:
        """The next thing that the service says of a frame; waits for it."""
        while not self._replies:
            self._read()
        return self._replies.popleft()

    def leave(self) -> None:
        """The stream has ended: the service forgets it."""
        self._connected()
        if not self._sent(LEAVE):
            self._sent(LEAVE)  # over the new connection
        self.close()

    def close(self) -> None:
        """Drop the connection; the service keeps the stream's state for its grace time."""
        socket, self._socket = self._socket, None
        if socket is not None:
            socket.close()

    def _window(self) -> int:
        self._connected()
        return self.session.window

    def _sent(self, message: bytes | str) -> bool:
        """False where the connection was broken; then there is a new one."""
        from websockets.exceptions import ConnectionClosed

        try:
            self._socket.send(message)
        except (ConnectionClosed, OSError) as error:
            self._read_the_rest(error)
            self._connected()  # which sends all that is unanswered
            return False
        return True

    def _read_the_rest(self, error: Exception) -> None:
        """The connection broke: take what had arrived and was not read yet, and give it up."""
        from websockets.exceptions import ConnectionClosed

        socket, self._socket = self._socket, None
        with contextlib.suppress(ConnectionClosed, OSError, EOFError):  # TimeoutError, nothing is left, is an OSError
            for _ in range(MOST_WAITING):  # no more can be on their way
                replies, _messages = self.session.received(socket.recv(0))  # what is to be sent waits
                self._replies.extend(replies)
        self._replies.extend(self.session.note_break(error))
        socket.close_socket()

    def _read(self) -> None:
        from websockets.exceptions import ConnectionClosed

        if self._socket is None:
            self._connected()  # which may bring what is waited for
            return
        try:
            self._take(self._socket, self._socket.recv(self._timeout))
        except (ConnectionClosed, OSError) as error:  # TimeoutError is an OSError: silence is a break too
            self._read_the_rest(error)

    def _take(self, socket: Any, text: Any) -> None:
        replies, messages = self.session.received(text)
        self._replies.extend(replies)
        for message in messages:
            socket.send(message)

    def _connected(self) -> None:
        from websockets.exceptions import ConnectionClosed, InvalidHandshake

        if self._socket is None:
            self.session.require_not_replaced()
            clocks.sleep(self._attempts.begin(self.session.progress()))
        while self._socket is None:
            self.session.require_not_replaced()
            try:
                self._socket = self._opened()
            except (OSError, InvalidHandshake, ConnectionClosed, EOFError) as error:
                self._replies.extend(self.session.note_break(error))
                clocks.sleep(self._attempts.pause_after(error))

    def _opened(self) -> Any:
        """A connection over which the service has said hello; closed by `close`."""
        from websockets.sync.client import connect

        options = self.session.options()
        socket = connect(self.session.address(), open_timeout=self._attempts.timeout, **options).__enter__()
        try:
            self._take(socket, socket.recv(self._attempts.timeout))
        except BaseException:
            socket.close_socket()
            raise
        return socket
