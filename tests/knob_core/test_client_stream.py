"""A stream's client where its connection breaks, without a network."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from typing import Any

import numpy as np
import pytest
from services import running

from knob_core.client import AsyncStream, Lost, Stream
from knob_core.client.stream import MOST_WAITING
from knob_core.client.stream_session import Session
from knob_core.serving.engine import Engine
from knob_core.serving.messages import Header, as_text, unpack

closed = pytest.importorskip("websockets.exceptions").ConnectionClosedError
Close = pytest.importorskip("websockets.frames").Close
serve = pytest.importorskip("websockets.sync.server").serve


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
    stream._socket = broken = Broken()
    stream._read()
    assert broken.is_closed
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


def answer(number: int) -> str:
    return as_text({"type": "answer", "frame": number})


def dropped(number: int) -> str:
    return as_text({"type": "dropped", "frames": [number]})


def headers(messages: list[bytes]) -> list[Header]:
    return [unpack(message)[0] for message in messages]


@pytest.mark.parametrize(
    ("clock", "cause"),
    [
        ({"elapsed": float("nan")}, "elapsed is nan, expected a finite number"),
        ({"elapsed": 0}, "elapsed is 0, expected 0.001 to 1e\\+09 frames"),
        ({"time": np.float32("inf")}, "time is .*inf.*, expected a finite number"),
        ({"time": "now"}, "time is 'now', expected a finite number"),
        ({"elapsed": 1, "time": 1}, "both given"),
    ],
)
def test_a_clock_that_is_wrong_leaves_the_stream_as_it_was(clock: dict[str, Any], cause: str) -> None:
    session = Session("http://127.0.0.1:1", "a")
    session.received(hello(0, 0, []))
    with pytest.raises(ValueError, match=cause):
        session.send(None, **clock)
    assert session.send(None)[0] == 1 and list(session.waiting) == [1]


@pytest.mark.parametrize("two", [np.float32(2), np.int64(2), 2])
def test_numbers_of_numpy_are_sent_as_they_are_meant_also_after_a_break(two: Any) -> None:
    session = Session("http://127.0.0.1:1", "a")
    session.received(hello(0, 0, []))
    assert headers(session.send(None, elapsed=two)[1]) == [{"kind": "missing", "number": 1, "elapsed": 2.0}]
    assert headers(session.received(hello(0, 0, []))[1]) == [{"kind": "missing", "number": 1, "elapsed": 2.0}]


@pytest.mark.parametrize("replay", [0, 3])
def test_frames_that_the_service_forgot_are_counted_once_however_often_the_connection_breaks(replay: int) -> None:
    session = Session("http://127.0.0.1:1", "a", replay=replay)
    session.received(hello(0, 0, []))
    for number in range(1, 21):
        session.send(None)
        session.received(answer(number))
    first = 21 - replay
    _, messages = session.received(hello(10, 10, []))
    if not replay:
        messages = session.send(None)[1]
    for stands in (10, 10, 5):
        (header,) = headers(messages)
        assert (header["number"], header["elapsed"]) == (first, 1.0 + first - 11)
        _, messages = session.received(hello(stands, stands, []))
    assert headers(messages)[0]["elapsed"] == 1.0 + first - 6


def test_an_answer_that_a_drop_overtook_is_asked_for_after_a_break() -> None:
    session = Session("http://127.0.0.1:1", "a")
    session.received(hello(0, 0, []))
    for _ in range(4):
        session.send(None)
    session.received(answer(1))
    session.received(dropped(3))  # 2 is in a batch, 4 waits
    assert session.address().endswith("?after=1")
    assert session.received(hello(2, 2, [2, 3]))[0] == []
    assert session.received(answer(2))[0] and not session.received(dropped(3))[0]  # each is told once
    session.received(answer(4))
    assert session.address().endswith("?after=4")


def test_a_reply_to_a_frame_that_was_to_be_sent_again_takes_it_off_the_list() -> None:
    session = Session("http://127.0.0.1:1", "a")
    session.received(hello(0, 0, []))
    for _ in range(3):
        session.send(None)
    assert [header["number"] for header in headers(session.received(hello(0, 0, [2]))[1])] == [1]
    session.received(dropped(2))
    assert [header["number"] for header in headers(session.received(answer(1))[1])] == [3]


async def opened(stream: Stream | AsyncStream) -> None:
    """Connect, whichever of the two it is."""
    if isinstance(stream, AsyncStream):
        await stream._connected()
    else:
        stream._connected()


@pytest.mark.parametrize("kind", [Stream, AsyncStream])
def test_a_client_gives_up_in_time_where_nobody_answers(kind: type[Stream | AsyncStream]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections, and says nothing
        stream = kind(f"http://127.0.0.1:{silent.getsockname()[1]}", "a", give_up=0.5, timeout=1.0)
        began = time.monotonic()
        with pytest.raises(Lost, match=r"no service for 0\.5 s"):
            asyncio.run(opened(stream))
        assert time.monotonic() - began < 1.5


class Silent(Broken):
    """A connection that is open, and over which no hello comes."""

    def __enter__(self) -> Silent:
        return self

    def recv(self, timeout: float) -> str:
        raise TimeoutError


def test_a_connection_without_a_hello_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Silent] = []

    def connect(*_: Any, **__: Any) -> Silent:
        made.append(Silent())
        return made[-1]

    monkeypatch.setattr("websockets.sync.client.connect", connect)
    with pytest.raises(Lost):
        Stream("http://127.0.0.1:1", "a", give_up=0.01)._connected()
    assert made and all(connection.is_closed for connection in made)


class Answering(AsyncBroken):
    """A connection whose service answers every frame, one after the other; one task at a time may read."""

    def __init__(self) -> None:
        self.sent: asyncio.Queue[int] = asyncio.Queue()
        self.is_read = False

    async def send(self, message: bytes) -> None:  # type: ignore[override]
        self.sent.put_nowait(unpack(message)[0]["number"])

    async def recv(self) -> str:  # type: ignore[override]
        assert not self.is_read
        self.is_read = True
        try:
            return answer(await self.sent.get())
        finally:
            self.is_read = False


@pytest.mark.parametrize("reads", ["sender", "another task"])
def test_what_a_client_of_asyncio_leaves_unanswered_is_bounded(reads: str) -> None:
    count = 3 * MOST_WAITING

    async def check() -> None:
        stream = AsyncStream("http://127.0.0.1:1", "a")
        stream.session.received(hello(0, 0, []))
        stream._socket = Answering()
        replies: list[Any] = []

        async def read() -> None:
            replies.extend([await stream.reply() for _ in range(count)])

        reading = asyncio.create_task(read()) if reads == "another task" else None
        for _ in range(count):
            await stream.send(None)
            assert len(stream.session.waiting) <= MOST_WAITING
        await (reading or read())
        assert [reply["frame"] for reply in replies] == list(range(1, count + 1))

    asyncio.run(asyncio.wait_for(check(), 10))


def test_answers_that_arrived_before_a_break_are_read_by_a_client_of_asyncio_too() -> None:
    async def check() -> None:
        stream: Any = AsyncStream("http://127.0.0.1:1", "a")
        stream.session.received(hello(0, 0, []))
        for _ in range(3):
            stream.session.send(None)
        stream._socket = broken = AsyncBroken()
        broken.left = [answer(number) for number in (3, 2, 1)]

        async def connected() -> Any:
            return stream._socket

        stream._connected = connected
        await stream.send(None)
        assert [reply["frame"] for reply in stream._replies] == [1, 2, 3]
        assert stream._socket is None and list(stream.session.waiting) == [4]

    asyncio.run(check())


BIG = np.zeros((720, 1280, 3), np.uint8)  # 2,764,800 bytes


def step(stream: Stream | AsyncStream, frame: Any) -> Any:
    """One frame's answer, whichever of the two it is; the connection is closed after it."""

    async def awaited(stream: AsyncStream) -> Any:
        async with stream:
            return await asyncio.wait_for(stream.step(frame), 10)

    if isinstance(stream, AsyncStream):
        return asyncio.run(awaited(stream))
    with stream:
        return stream.step(frame)


@pytest.mark.parametrize("kind", [Stream, AsyncStream])
def test_a_frame_above_the_services_limit_is_refused_before_it_has_a_number(kind: type[Stream | AsyncStream]) -> None:
    with running() as service:
        stream = kind(service.url, "a", give_up=1.0, timeout=5.0)
        with pytest.raises(ValueError, match=r"2,764,800 bytes, expected at most 2,000,000: send JPEG.*--max-frame"):
            step(stream, BIG)
        assert step(stream, np.arange(5.0))["frame"] == 1


@pytest.mark.parametrize("kind", [Stream, AsyncStream])
def test_a_service_that_closes_on_a_large_frame_is_not_sent_it_again(
    kind: type[Stream | AsyncStream], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of an earlier version, which does not say how large frames may be."""
    real = Engine._hello

    def older(self: Any, *given: Any) -> Any:
        found = real(self, *given)
        found.pop("frame_bytes", None)
        return found

    monkeypatch.setattr(Engine, "_hello", older)
    with running() as service:
        stream = kind(service.url, "a", give_up=5.0, timeout=5.0)
        with pytest.raises(ValueError, match="2,764,800 bytes, which is more than the service takes: send JPEG"):
            step(stream, BIG)
        assert step(stream, np.arange(5.0))["frame"] == 2 and not stream.session.waiting


def test_the_largest_frame_on_its_way_is_the_one_that_was_too_large() -> None:
    session = Session("http://127.0.0.1:1", "a")
    session.received(hello(0, 0, []))
    for size in (10, 3_000_000, 20):
        session.send(bytes(size))
    (refused,) = session.note_break(closed(Close(1009, "too big"), None))
    assert refused["type"] == "refused" and refused["frame"] == 2
    assert list(session.waiting) == [1, 3] and not session.note_break(closed(Close(1012, ""), None))


def breaks(server: socket.socket, opened: list[Any]) -> None:
    """A service that says hello over every connection, and breaks it at the first frame."""

    def handle(connection: Any) -> None:
        opened.append(connection)
        connection.send(hello(0, 0, []))
        with contextlib.suppress(Exception):
            connection.recv()

    with serve(handle, sock=server) as found:
        opened.insert(0, found)
        found.serve_forever()


@pytest.mark.parametrize("kind", [Stream, AsyncStream])
def test_connections_that_break_without_a_reply_count_towards_giving_up(kind: type[Stream | AsyncStream]) -> None:
    server, opened = socket.create_server(("127.0.0.1", 0)), []  # type: ignore[var-annotated]
    thread = threading.Thread(target=breaks, args=(server, opened), daemon=True)
    thread.start()
    stream = kind(f"http://127.0.0.1:{server.getsockname()[1]}", "a", give_up=1.0, timeout=5.0)
    try:
        for _ in range(2):  # who tries again has the whole time again
            began = time.monotonic()
            with pytest.raises(Lost, match="no reply for 1 s: every connection broke"):
                step(stream, None)
            assert 1.0 <= time.monotonic() - began < 3.0
        assert len(opened) < 40
    finally:
        opened[0].shutdown()
        thread.join(5)
