"""A stream's client where its connection breaks."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
import time
from typing import Any

import numpy as np
import pytest
from services import running

from knob_core.client import AsyncStream, Lost, Stream
from knob_core.client.async_stream import MOST_WAITING
from knob_core.client.session import Session
from knob_core.serving.messages import unpack

serve = pytest.importorskip("websockets.sync.server").serve


def hello(frame: int, answered: int, again: list[int]) -> str:
    return json.dumps(
        {"type": "hello", "frame": frame, "answered": answered, "again": again, "queue": 1, "frame_bytes": 2000}
    )


def test_a_frame_whose_answer_is_gone_is_refused_with_the_cause() -> None:
    session = Session("a")
    session.received(hello(0, 0, []))
    for _ in range(3):
        session.send(None)
    replies, messages = session.received(hello(2, 2, [2]))
    assert [reply["frame"] for reply in replies] == [1] and "connection broke" in replies[0]["cause"]  # type: ignore[typeddict-item]
    assert list(session.waiting) == [2, 3] and len(messages) == 1


def answer(number: int) -> str:
    return json.dumps({"type": "answer", "frame": number})


def dropped(number: int) -> str:
    return json.dumps({"type": "dropped", "frames": [number]})


def headers(messages: list[bytes]) -> list[Any]:
    return [json.loads(unpack(message)[0]) for message in messages]


@pytest.mark.parametrize(
    ("clock", "cause"),
    [
        ({"elapsed": float("nan")}, "elapsed is nan, expected a finite number"),
        ({"time": np.float32("inf")}, "time is .*inf.*, expected a finite number"),
        ({"time": "now"}, "time is 'now', expected a finite number"),
    ],
)
def test_a_clock_that_is_wrong_leaves_the_stream_as_it_was(clock: dict[str, Any], cause: str) -> None:
    session = Session("a")
    session.received(hello(0, 0, []))
    with pytest.raises(ValueError, match=cause):
        session.send(None, **clock)
    assert session.send(None)[0] == 1 and list(session.waiting) == [1]


@pytest.mark.parametrize("two", [np.float32(2), np.int64(2), 2])
def test_numbers_of_numpy_are_sent_as_they_are_meant_also_after_a_break(two: Any) -> None:
    session = Session("a")
    session.received(hello(0, 0, []))
    assert headers(session.send(None, elapsed=two)[1]) == [{"kind": "missing", "number": 1, "elapsed": 2.0}]
    assert headers(session.received(hello(0, 0, []))[1]) == [{"kind": "missing", "number": 1, "elapsed": 2.0}]


@pytest.mark.parametrize("replay", [0, 3])
def test_frames_that_the_service_forgot_are_counted_once_however_often_the_connection_breaks(replay: int) -> None:
    session = Session("a", replay=replay)
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


def test_an_answer_that_a_drop_overtook_is_taken_after_a_break() -> None:
    session = Session("a")
    session.received(hello(0, 0, []))
    for _ in range(4):
        session.send(None)
    session.received(answer(1))
    session.received(dropped(3))  # 2 is in a batch, 4 waits
    assert session.received(hello(2, 2, [2, 3]))[0] == []
    assert session.received(answer(2))[0] and not session.received(dropped(3))[0]  # each is told once


def test_a_reply_to_a_frame_that_was_to_be_sent_again_takes_it_off_the_list() -> None:
    session = Session("a")
    session.received(hello(0, 0, []))
    for _ in range(3):
        session.send(None)
    assert [header["number"] for header in headers(session.received(hello(0, 0, [2]))[1])] == [1]
    session.received(dropped(2))
    assert [header["number"] for header in headers(session.received(answer(1))[1])] == [3]


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
def test_a_client_gives_up_in_time_where_nobody_answers(kind: type[Stream | AsyncStream]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections, and says nothing
        stream = kind(f"http://127.0.0.1:{silent.getsockname()[1]}", "a", give_up=0.5, timeout=1.0)
        began = time.monotonic()
        with pytest.raises(Lost, match=r"no service for 0\.5 s"):
            step(stream, None)
        assert time.monotonic() - began < 1.5


@pytest.mark.parametrize("kind", [Stream, AsyncStream])
def test_a_frame_above_the_services_limit_is_refused_before_it_has_a_number(kind: type[Stream | AsyncStream]) -> None:
    big = np.zeros((720, 1280, 3), np.uint8)  # 2,764,800 bytes
    with running() as service:
        stream = kind(service.url, "a", give_up=1.0, timeout=5.0)
        with pytest.raises(ValueError, match=r"2,764,800 bytes, expected at most 2,000,000: send JPEG.*--max-frame"):
            step(stream, big)
        assert step(stream, np.arange(5.0))["frame"] == 1


def test_a_stream_that_is_not_waited_for_stays_while_its_service_is_gone() -> None:
    """The time to give up is that of a wait, not of a pause between two frames."""
    with running() as service:
        port = int(service.url.rpartition(":")[2])
        stream = Stream(service.url, "a", give_up=0.5)
        stream.step(np.arange(5.0))
    time.sleep(1.0)
    with pytest.raises(Lost):
        stream.step(np.arange(5.0))
    with running(port=port):
        assert stream.step(np.arange(5.0))["type"] == "answer"
        stream.close()


def test_what_a_client_leaves_unanswered_is_bounded() -> None:
    count = 3 * MOST_WAITING

    async def check(url: str) -> None:
        async with AsyncStream(url, "a", policy="refuse") as stream:

            async def read() -> list[Any]:
                return [await stream.reply() for _ in range(count)]

            reading = asyncio.create_task(read())
            for _ in range(count):
                await stream.send(None)
                assert len(stream.session.waiting) <= MOST_WAITING
            assert sorted(reply["frame"] for reply in await reading) == list(range(1, count + 1))

    with running() as service:
        asyncio.run(asyncio.wait_for(check(service.url), 20))


def test_the_thread_of_a_stream_ends_with_it() -> None:
    with running() as service:
        stream = Stream(service.url, "gone")
        stream.step(np.arange(5.0))
        (thread,) = (thread for thread in threading.enumerate() if thread.name == "stream gone")
        del stream
        thread.join(10)
        assert not thread.is_alive()


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
