"""An end to a whole HTTP request: a socket's own timeout is for each read, and one byte a second would never end."""

from __future__ import annotations

import contextlib
import socket
import threading
from functools import partial
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.request import HTTPHandler, HTTPSHandler, Request


class Deadline:
    """Within the block, connections that `connect` made are cut once the seconds are over; None: never."""

    def __init__(self, seconds: float | None) -> None:
        self.over = False
        self._lock = threading.Lock()
        self._twin: socket.socket | None = None  # shuts the connection, whoever holds or wraps the socket itself
        self._timer = threading.Timer(seconds, self._end) if seconds is not None else None

    def __enter__(self) -> Deadline:
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            if self._twin is not None:
                self._twin.close()
                self._twin = None

    def connect(self, *address: Any, **options: Any) -> socket.socket:
        """As `socket.create_connection`."""
        made = socket.create_connection(*address, **options)
        with self._lock:
            self._twin = made.dup()
        if self.over:
            self._end()
        return made

    def _end(self) -> None:
        self.over = True
        with self._lock, contextlib.suppress(OSError):  # the other side was faster
            if self._twin is not None:
                self._twin.shutdown(socket.SHUT_RDWR)


class TimedRequest(Request):
    """A request with a deadline."""

    deadline: Deadline


class TimedHTTP(HTTPHandler):
    """Opens `TimedRequest`."""

    def http_open(self, req: Any) -> HTTPResponse:
        return self.do_open(partial(_connection, HTTPConnection, req.deadline), req)


class TimedHTTPS(HTTPSHandler):
    """Opens `TimedRequest`."""

    def https_open(self, req: Any) -> HTTPResponse:
        return self.do_open(partial(_connection, HTTPSConnection, req.deadline), req)


def _connection(kind: type[HTTPConnection], deadline: Deadline, host: str, **options: Any) -> HTTPConnection:
    found: Any = kind(host, **options)
    found._create_connection = deadline.connect  # before TLS and proxies, which may be as slow
    return found
