"""The client's HTTP requests end, however slowly an answer comes."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from knob_core.client.service import Service, ServiceError

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
DRIPS = {  # what comes at once, and then again and again
    "a body of a known length": (HEAD + b"Content-Length: 100000\r\n\r\n", b" "),
    "a body without an end": (HEAD + b"Connection: close\r\n\r\n{}", b" "),
    "headers": (HEAD, b"X-More: 1\r\n"),
    "a status line": (b"HTTP/1.1 200 ", b"O"),
    "100 Continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "the body of an error": (HEAD.replace(b"200 OK", b"503 No") + b"Content-Length: 100000\r\n\r\n", b" "),
}


@pytest.fixture
def dripping(request: pytest.FixtureRequest) -> Iterator[str]:
    """A server that sends a little now and then, for a minute."""
    first, again = DRIPS[request.param]
    server = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        with contextlib.suppress(OSError), server.accept()[0] as client:
            client.recv(10_000)
            client.sendall(first)
            until = time.monotonic() + 60
            while time.monotonic() < until:
                client.sendall(again)
                time.sleep(0.05)

    threading.Thread(target=answer, daemon=True).start()
    yield f"http://127.0.0.1:{server.getsockname()[1]}"
    server.close()


@pytest.mark.parametrize("dripping", DRIPS, indirect=True)
def test_a_request_ends_at_its_deadline_however_slowly_the_answer_comes(dripping: str) -> None:
    began = time.monotonic()
    with pytest.raises(ServiceError, match=r"within 0.4 s|the service answered 503"):
        Service(dripping, timeout=0.4, deadline=0.4).about()
    assert time.monotonic() - began < 30  # the server goes on for a minute


def test_nothing_is_left_of_a_request_with_a_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its timer ends with it."""
    server = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        with server.accept()[0] as client:
            client.recv(10_000)
            client.sendall(HEAD + b"Content-Length: 2\r\n\r\n{}")

    threading.Thread(target=answer, daemon=True).start()
    service = Service(f"http://127.0.0.1:{server.getsockname()[1]}", deadline=3600)
    assert service.about() == {}
    timers = lambda: [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]  # noqa: E731
    until = time.monotonic() + 30
    while timers() and time.monotonic() < until:
        time.sleep(0.01)
    assert not timers()
    server.close()
