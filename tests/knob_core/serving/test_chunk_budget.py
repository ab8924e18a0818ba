"""Bodies in tiny chunks are refused, while other streams are answered; ordinary chunks pass."""

from __future__ import annotations

import json
import socket as sockets
from collections.abc import Iterable

import pytest
from services import running

HEAD = (
    b"POST /v1/frames HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)
BODY = json.dumps({"frames": [{"stream": "a", "logits": [0.0, 1.0, 2.0]}]}).encode()


def chunked(parts: Iterable[bytes]) -> bytes:
    return HEAD + b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def cut(content: bytes, size: int) -> list[bytes]:
    return [content[k : k + size] for k in range(0, len(content), size)]


def answers(url: str, *requests: bytes) -> list[int]:
    """Status codes of requests over one connection, as far as it goes."""
    host, port = url.removeprefix("http://").split(":")
    found = []
    with sockets.create_connection((host, int(port)), timeout=60) as line, line.makefile("rb") as replies:
        for request in requests:
            line.sendall(request)
            status = replies.readline()
            if not status:
                break
            found.append(int(status.split()[1]))
            length = 0
            while (header := replies.readline().strip().lower()) != b"":
                length = int(header.partition(b":")[2]) if header.startswith(b"content-length") else length
            replies.read(length)
    return found


@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        ([BODY], 200),
        (cut(BODY, 2), 200),  # few chunks of any size
        (cut(b" " * 100_000 + BODY, 300), 200),
        (cut(b" " * 100 + BODY, 1), 400),
        (cut(b" " * 50_000 + BODY, 100), 400),
    ],
)
def test_a_body_may_have_so_many_chunks(parts: list[bytes], wanted: int) -> None:
    with running() as service:
        assert answers(service.url, chunked(parts)) == [wanted]


def test_each_request_of_a_connection_counts_anew() -> None:
    with running() as service:
        assert answers(service.url, *[chunked(cut(BODY, 2))] * 5) == [200] * 5
