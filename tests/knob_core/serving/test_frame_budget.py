"""Floods of frames that bring nothing: closed, while other streams are answered; honest pings and fragments pass."""

from __future__ import annotations

import contextlib
import json
import socket as sockets
import struct
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from services import logits, running
from websockets.sync.client import connect

from knob_core import wrap
from knob_core.client import Stream
from knob_core.runtime import KnobStream
from knob_core.serving import frame_budget, unfinished

TEXT, BINARY, CONTINUED, CLOSE, PING, PONG = 1, 2, 0, 8, 9, 10
UPGRADE = (
    "GET /v1/streams/%s/socket HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
)


def frame(opcode: int, content: bytes = b"", last: bool = True) -> bytes:
    """As a client sends it, up to 125 bytes."""
    return struct.pack(">BB", 0x80 * last | opcode, 0x80 | len(content)) + b"\0\0\0\0" + content


@contextlib.contextmanager
def raw(service: Any, id: str) -> Iterator[sockets.socket]:
    """A WebSocket without a library, after its handshake."""
    host, port = service.url.removeprefix("http://").split(":")
    with sockets.create_connection((host, int(port)), timeout=20) as found:
        found.sendall((UPGRADE % id + "\r\n").encode())
        received = b""
        while b'"hello"' not in received:
            received += found.recv(10_000)
        yield found


def said(socket: sockets.socket) -> bytes:
    """All that comes until the service closes."""
    received = b""
    with contextlib.suppress(ConnectionError):
        while part := socket.recv(65_536):
            received += part
    return received


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (UPGRADE % "a" + "Content-Length: 5\r\n\r\nhello", "400"),
        (UPGRADE % "a" + "Transfer-Encoding: chunked\r\n\r\n", "400"),
        (UPGRADE % "a" + f"Cookie: {'x' * 9000}\r\n\r\n", "431"),
        (UPGRADE % "a" + 200 * "X: 1\r\n" + "\r\n", "431"),
        (UPGRADE % ("a" * 9000) + "\r\n", "414"),
    ],
    ids=["body", "chunks", "long line", "many lines", "long path"],
)
def test_a_handshake_that_cannot_be_one_is_refused_and_closed(head: str, status: str) -> None:
    """Such connections stayed for good, and the service ended in a traceback beside them."""
    with running() as service:
        host, port = service.url.removeprefix("http://").split(":")
        with sockets.create_connection((host, int(port)), timeout=5) as socket:
            socket.sendall(head.encode())
            assert said(socket).startswith(f"HTTP/1.1 {status} ".encode())


@pytest.mark.parametrize(
    ("flood", "cause"),
    [
        (frame(BINARY, last=False) + 5000 * frame(CONTINUED, last=False), b"a message has 17 fragments of 0 bytes"),
        (5000 * frame(PING), b"more than 10 pings and pongs a second came"),
        (5000 * frame(PONG, b"x" * 100), b"more than 10 pings and pongs a second came"),
    ],
    ids=["fragments", "pings", "pongs"],
)
def test_frames_that_bring_nothing_are_too_many_at_some_point(flood: bytes, cause: bytes) -> None:
    rng = np.random.default_rng(0)
    reference = KnobStream(wrap.classifier())
    with running() as service, Stream(service.url, "good", probabilities=True) as good, raw(service, "bad") as socket:
        with contextlib.suppress(ConnectionError):
            socket.sendall(flood)
        z = logits(rng)
        assert good.step(z)["probabilities"] == reference.step(z).probabilities.tolist()
        assert struct.pack(">H", 1008) + cause in said(socket)


def test_no_more_is_parsed_than_the_stream_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a hundred messages that are no frames the socket is closed, and what came with them is not read."""
    parsed = 0
    real = frame_budget.FrameBudget._problem

    def counted(self: Any, event: Any) -> str | None:
        nonlocal parsed
        parsed += 1
        return real(self, event)

    monkeypatch.setattr(frame_budget.FrameBudget, "_problem", counted)
    with running() as service, raw(service, "bad") as socket:
        with contextlib.suppress(ConnectionError):
            socket.sendall(20_000 * frame(TEXT))
            socket.shutdown(sockets.SHUT_WR)
        assert struct.pack(">H", 1008) + b"100 messages in a row were no frames" in said(socket)
    assert 100 <= parsed < 5000


def test_keep_alive_and_ordinary_fragments_pass() -> None:
    text = json.dumps({"type": "logits", "logits": [0.0, 1.0, 2.0, 3.0, 4.0]})
    with running() as service:
        url = f"{service.url.replace('http', 'ws')}/v1/streams/a/socket"
        with connect(url, max_size=None) as socket:
            socket.recv()
            for number in range(1, 21):
                assert socket.ping().wait(20)
                socket.send([text[k : k + 5] for k in range(0, len(text), 5)])
                reply = json.loads(socket.recv(20))
                assert (reply["type"], reply["frame"]) == ("answer", number)
            large = " " * 4000 + text
            socket.send([large[k : k + 100] for k in range(0, len(large), 100)])  # forty fragments
            assert json.loads(socket.recv(20))["frame"] == 21


def part(size: int, came: int, last: bool = True) -> bytes:
    """The beginning of a binary frame that is as large as said."""
    return struct.pack(">BBQ", 0x80 * last | BINARY, 0xFF, size) + b"\0\0\0\0" + bytes(came)


@pytest.mark.parametrize("begun", [part(100_000, 50_000), part(50_000, 50_000, last=False)], ids=["frame", "fragment"])
def test_a_message_that_is_not_whole_in_time_is_closed(begun: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pings do not lengthen its time; a socket that says nothing but pings may stay."""
    monkeypatch.setattr(unfinished, "WITHIN", 0.5)
    with running() as service, raw(service, "bad") as socket, raw(service, "quiet") as quiet:
        for _ in range(3):
            quiet.sendall(frame(PING))
            time.sleep(0.25)
        socket.sendall(begun)
        for _ in range(2 if begun[0] & 0x80 == 0 else 0):
            time.sleep(0.2)
            socket.sendall(frame(PING))
        assert struct.pack(">H", 1008) + b"50,000 bytes of a message came in time, and then no more" in said(socket)
        quiet.sendall(frame(TEXT))
        received = b""
        while b'"refused"' not in received:
            received += quiet.recv(10_000)
    assert unfinished.Unfinished.in_all == 0


def test_a_message_that_comes_slowly_but_steadily_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unfinished, "WITHIN", 0.5)
    monkeypatch.setattr(unfinished, "SLOWEST", 10.0)
    text = json.dumps({"type": "logits", "logits": [0.0, 1.0, 2.0, 3.0, 4.0]}).encode()
    with running() as service, raw(service, "slow") as socket:
        whole = frame(TEXT, text)
        for k in range(0, len(whole), 10):
            socket.sendall(whole[k : k + 10])
            time.sleep(0.15)
        assert b'"answer"' in socket.recv(10_000)


def test_unfinished_messages_are_bounded_in_all_and_small_ones_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unfinished, "MOST", 0)
    size = 1_980_000
    with running() as service, contextlib.ExitStack() as stack:
        for id in ("a", "b"):
            stack.enter_context(raw(service, id)).sendall(part(size, size - 1))
        until = time.monotonic() + 10
        held = 2 * (size - 1)
        while unfinished.Unfinished.in_all < held and time.monotonic() < until:
            time.sleep(0.01)
        third = stack.enter_context(raw(service, "c"))
        with contextlib.suppress(ConnectionError):
            third.sendall(part(size, size - 1))
        assert struct.pack(">H", 1013) + b"too many large messages are on their way already" in said(third)
        good = stack.enter_context(Stream(service.url, "good"))
        assert [good.step(np.arange(5.0))["frame"] for _ in range(3)] == [1, 2, 3]
        assert unfinished.Unfinished.in_all == held
    assert unfinished.Unfinished.in_all == 0
