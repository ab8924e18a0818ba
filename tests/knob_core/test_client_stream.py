"""A stream's client where its connection breaks, without a network."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from knob_core.client import AsyncStream, Stream
from knob_core.client.stream_session import Session
from knob_core.serving.messages import as_text

closed = pytest.importorskip("websockets.exceptions").ConnectionClosedError


def hello(frame: int, answered: int, again: list[int]) -> str:
    return as_text({"type": "hello", "frame": frame, "answered": answered, "again": again, "queue": 1})


ANSWER = as_text({"type": "answer", "frame": 1})


def came_back(session: Session) -> None:
    """Two frames are sent, the connection breaks and is there again: the first one is on its way once more."""
    session.received(hello(0, 0, []))
    for _ in range(2):
        session.send(None)
    assert len(session.received(hello(0, 0, []))[1]) == 1


class Broken:
    """A connection that has one more answer, and takes nothing any more."""

    transport = type("Transport", (), {"abort": lambda self: None})()

    def __init__(self) -> None:
        self.left, self.is_closed = [ANSWER], False

    def recv(self, timeout: float) -> str:
        if not self.left:
            raise closed(None, None)
        return self.left.pop()

    def close_socket(self) -> None:
        self.is_closed = True

    def send(self, message: bytes) -> None:
        raise closed(None, None)


class AsyncBroken(Broken):
    async def recv(self) -> str:  # type: ignore[override]
        return super().recv(0)

    async def send(self, message: bytes) -> None:  # type: ignore[override]
        raise closed(None, None)


def test_a_break_while_a_frame_is_sent_again_is_a_break_and_no_error() -> None:
    stream: Any = Stream("http://127.0.0.1:1", "a")
    came_back(stream.session)
    stream._socket = socket = Broken()
    stream._read()
    assert socket.is_closed
    assert stream._socket is None and [reply["frame"] for reply in stream._replies] == [1]
    assert list(stream.session.waiting) == [2]


def test_the_same_for_asyncio() -> None:
    async def check() -> None:
        stream: Any = AsyncStream("http://127.0.0.1:1", "a")
        came_back(stream.session)
        stream._socket = AsyncBroken()
        await stream._read()
        assert stream._socket is None and [reply["frame"] for reply in stream._replies] == [1]
        assert list(stream.session.waiting) == [2]

    asyncio.run(check())


def test_a_frame_whose_answer_is_gone_is_refused_with_the_cause() -> None:
    session = Session("http://127.0.0.1:1", "a")
    session.received(hello(0, 0, []))
    for _ in range(3):
        session.send(None)
    replies, messages = session.received(hello(2, 2, [2]))
    assert [reply["frame"] for reply in replies] == [1] and "connection broke" in replies[0]["cause"]  # type: ignore[typeddict-item]
    assert list(session.waiting) == [2, 3] and len(messages) == 1
