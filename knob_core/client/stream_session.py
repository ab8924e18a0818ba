"""A client's half of a stream without the network: numbers, what is unanswered, and where to go on after a break.

A frame stays here until it is answered, dropped or refused. After a break the service's `hello` says which frames are
in the stream's state: those after it are sent again with their own numbers. A service that comes back from a snapshot
may have forgotten frames that were answered; where they are still kept (`replay`) they are sent again too, so that the
stream goes on bit for bit, else the next frame says how many frames were lost.
"""

from __future__ import annotations

import io
import json
import random
import time as clocks
from collections import OrderedDict, deque
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

import numpy as np

from knob_core.serving.access import is_local
from knob_core.serving.messages import (
    ELAPSED,
    PROTOCOL,
    REPLACED,
    TOO_BIG,
    Answer,
    Header,
    Hello,
    Kind,
    Reply,
    checked_clock,
    pack,
)

FIRST_WAIT, LONGEST_WAIT = 0.05, 2.0  # s between two attempts to connect
SMALLER = "send JPEG (jpeg=90) or fewer pixels, or start the service with a larger --max-frame"
SHORTEST_TIMEOUT = 0.25  # s that the last attempt may take although the time is nearly over


class Lost(ConnectionError):
    """The service could not be reached for too long, or does not take this stream."""


class Sent(NamedTuple):
    """A frame as the caller gave it."""

    header: Header
    content: bytes


class Session:
    """The state of one stream's client."""

    def __init__(
        self, url: str, id: str, *, group: str = "", policy: str = "", token: str | None = None,
        probabilities: bool = False, jpeg: int | None = None, replay: int = 0,
    ) -> None:  # fmt: skip
        if urlsplit(url).scheme not in ("http", "https"):
            raise ValueError(f"url is {url!r}, expected http://... or https://...")
        self.id, self._group, self._policy, self.token = id, group, policy, token
        self._url, self._probabilities, self._jpeg, self._replay = url.rstrip("/"), probabilities, jpeg, replay
        self.number = 0  # of the last frame
        self._replies = 0  # that have come
        self.settled = 0  # the last number that has its reply
        self.waiting: OrderedDict[int, Sent] = OrderedDict()  # without an answer
        self._kept: OrderedDict[int, Sent] = OrderedDict()  # the last `replay` answered ones
        self.hello: Hello | None = None
        self._again: dict[int, Sent] = {}  # answered before, sent again: the caller knows their answers
        self._backlog: deque[int] = deque()  # to be sent again, as the service's queue allows
        self._replaced = False  # by another client of this stream
        self._flying: set[int] = set()  # sent on this connection, not answered yet
        self._owed = 0  # frames that the service has forgotten, to be told with the next one
        self._missing: dict[int, int] = {}  # by number: frames before it that the service has forgotten

    # Connecting

    def address(self) -> str:
        """Of the WebSocket."""
        after = min(self.waiting) - 1 if self.waiting else self.settled  # a drop may be told before an older answer
        query = {"group": self._group, "policy": self._policy, "after": str(after) if self.hello else ""}
        text = urlencode({name: value for name, value in query.items() if value})
        base = self._url.replace("http", "ws", 1)
        return f"{base}/v1/streams/{quote(self.id, safe='')}/socket" + (f"?{text}" if text else "")

    def options(self) -> dict[str, Any]:
        """For `connect` of the package websockets; no proxy on the way to this machine."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        options = {"additional_headers": headers, "subprotocols": [PROTOCOL], "max_size": 2**22, "compression": None}
        return options | ({"proxy": None} if is_local(urlsplit(self._url).hostname or "") else {})

    def note_break(self, error: Exception) -> list[Reply]:
        """A connection ended: by `error`, which has the close code where the service closed it.

        Where a frame was too large for the service it is refused: sent again it would break every connection.
        """
        code = getattr(getattr(error, "rcvd", None), "code", None)
        self._replaced = self._replaced or code == REPLACED
        if code != TOO_BIG or not self._flying:
            return []
        number = max(self._flying, key=self._size)  # the service does not say which: the largest was too large anyway
        cause = f"frame has {self._size(number):,} bytes, which is more than the service takes: {SMALLER}"
        self._flying.discard(number)
        known = number in self.waiting
        self._again.pop(number, None)
        self._kept.pop(number, None)
        self._settled(number)
        reply: Reply = {"type": "refused", "stream": self.id, "frame": number, "cause": cause, "code": "bad_frame"}
        return [reply] if known else []

    def _size(self, number: int) -> int:
        sent = self._again.get(number) or self.waiting.get(number)
        return len(sent.content) if sent is not None else 0

    def require_not_replaced(self) -> None:
        """Two clients that both came back would take the stream from each other without end."""
        if self._replaced:
            raise Lost(f"another client has opened the stream {self.id!r}, and one stream has one client")

    def progress(self) -> tuple[int, int] | None:
        """The same at two breaks where nothing was replied to between them; None where nothing is waited for."""
        return (self._replies, next(iter(self.waiting))) if self.waiting else None

    @property
    def window(self) -> int:
        """Frames that may be without an answer."""
        return self.hello["queue"] if self.hello is not None else 1

    # Frames out

    def send(self, frame: Any, elapsed: float | None = None, time: float | None = None) -> tuple[int, list[bytes]]:
        """(number, messages to be sent now) of the next frame; it is kept until its answer comes."""
        given = {name: value for name, value in (("elapsed", elapsed), ("time", time)) if value is not None}
        clock = checked_clock(given)  # all that may be wrong comes first: a frame that is refused here changes nothing
        kind, content, shape, dtype = self._packed(frame)
        most = self.hello.get("frame_bytes") if self.hello is not None else None
        if most is not None and len(content) > most:
            raise ValueError(f"frame has {len(content):,} bytes, expected at most {most:,}: {SMALLER}")
        self.number += 1
        header: Header = {"kind": kind, "number": self.number, **clock}  # type: ignore[typeddict-item]
        if shape is not None:
            header["shape"] = shape
        if dtype is not None:
            header["dtype"] = dtype
        if self._probabilities:
            header["probabilities"] = True
        self.waiting[self.number] = Sent(header, content)
        if self._owed:
            self._missing[self.number], self._owed = self._owed, 0
        if self._backlog:  # older ones come first
            self._backlog.append(self.number)
            return self.number, []
        self._flying.add(self.number)
        return self.number, [self._message(self.number)]

    def _message(self, number: int) -> bytes:
        """A frame as it goes out now: frames that the service has forgotten before it count as elapsed."""
        header, content = self._again.get(number) or self.waiting[number]
        missing = self._missing.get(number, 0)
        if missing and "time" not in header:
            header = {**header, "elapsed": min(header.get("elapsed", 1.0) + missing, ELAPSED[1])}
        return pack(header, content)

    def _packed(self, frame: Any) -> tuple[Kind, bytes, list[int] | None, str | None]:
        if frame is None:
            return "missing", b"", None, None
        if isinstance(frame, (bytes, bytearray, memoryview)):
            return "picture", bytes(frame), None, None
        if isinstance(frame, tuple):  # z_static, z_dyn, u_star
            parts = np.concatenate([np.ravel(np.asarray(part, np.float64)) for part in frame])
            return "branches", parts.astype("<f8").tobytes(), None, "float64"
        array = np.asarray(frame)
        if array.ndim == 1 and array.dtype.kind == "f":
            return "logits", array.astype("<f8").tobytes(), None, "float64"
        if array.ndim != 3 or array.shape[2] != 3 or array.dtype != np.uint8:
            raise ValueError(
                f"frame is {array.dtype} of shape {array.shape}, expected a picture's bytes, uint8 (H, W, 3), "
                "logits (K,), a tuple (z_static, z_dyn, u_star), or None"
            )
        if self._jpeg is None:
            return "raw", array.tobytes(), list(array.shape), None
        from PIL import Image

        file = io.BytesIO()
        Image.fromarray(array).save(file, "JPEG", quality=self._jpeg)
        return "picture", file.getvalue(), None, None

    # Replies in

    def received(self, text: str | bytes) -> tuple[list[Reply], list[bytes]]:
        """(replies that the caller does not know yet, messages to be sent now)."""
        reply: Any = json.loads(text)
        if reply["type"] == "hello":
            self._welcomed(reply)
            return self._unanswered(reply), self._next()
        if reply["type"] == "closing":
            return [], []
        numbers = reply["frames"] if reply["type"] == "dropped" else [reply.get("frame")]
        if None in numbers:
            return [reply], []
        self._replies += 1
        self._flying.difference_update(numbers)
        new = [number for number in numbers if number in self.waiting]
        for number in numbers:
            sent = self._again.pop(number, None) or self.waiting.get(number)
            self._settled(number, sent if reply["type"] == "answer" else None)
        return [reply] if new else [], self._next()

    def _next(self) -> list[bytes]:
        """Frames to be sent again, as many as the service's queue has room for."""
        messages = []
        while self._backlog and len(self._flying) < self.window:
            number = self._backlog.popleft()
            if number not in self._again and number not in self.waiting:  # its reply came meanwhile
                continue
            self._flying.add(number)
            messages.append(self._message(number))
        return messages

    def _settled(self, number: int, keep: Sent | None = None) -> None:
        self.waiting.pop(number, None)
        self.settled = max(self.settled, number)
        if keep is not None and self._replay:
            self._kept[number] = keep
            while len(self._kept) > self._replay:
                self._kept.popitem(last=False)

    def _welcomed(self, hello: Hello) -> None:
        first, self.hello = self.hello is None, hello
        self._flying.clear()
        if first and not self.waiting and not self.number:
            self.number = self.settled = hello["frame"]  # a stream that somebody began
            return
        stands = hello["frame"]
        self._again = {number: sent for number, sent in {**self._kept, **self._again}.items() if number > stands}
        self._backlog = deque(sorted({*self._again, *(number for number in self.waiting if number > stands)}))
        missing = max(0, (self._backlog[0] if self._backlog else self.number + 1) - 1 - stands)
        self._owed = 0 if self._backlog else missing
        known = self._kept.keys() | self._again.keys() | self.waiting.keys()
        self._missing = {number: count for number, count in self._missing.items() if number in known}
        if self._backlog:
            self._missing[self._backlog[0]] = missing

    def _unanswered(self, hello: Hello) -> list[Reply]:
        """A refusal for each frame that was answered, but whose answer the service no longer has."""
        cause = "the connection broke before the answer arrived; the frame is in the stream's state"
        gone = [number for number in self.waiting if number <= hello["answered"] and number not in hello["again"]]
        for number in gone:
            self._settled(number)
        return [
            {"type": "refused", "stream": self.id, "frame": number, "cause": cause, "code": "full"} for number in gone
        ]


def answer_to(number: int, reply: Reply) -> Answer | None:
    """The reply where it is the frame's answer, None where it is about another one; ValueError where it was refused."""
    if reply["type"] == "answer" and reply["frame"] == number:
        return reply
    if reply["type"] == "refused" and reply["frame"] in (number, None):
        raise ValueError(reply["cause"])
    if reply["type"] == "dropped" and number in reply["frames"]:
        raise ValueError(reply["cause"])
    return None


class Attempts:
    """Attempts to connect, until `give_up` seconds are over: how long each may take, and the pause after it."""

    def __init__(self, give_up: float, timeout: float) -> None:
        self._give_up, self._timeout = give_up, timeout
        self._progress: tuple[int, int] | None = None
        self.begin(None)

    def begin(self, progress: tuple[int, int] | None) -> float:
        """Seconds to wait after a break. The time begins anew where there was `Session.progress` since the last one.

        Else a service that takes every connection and breaks it again would be connected to without end.
        """
        if progress is None or progress != self._progress:
            self._progress, self._pause = progress, FIRST_WAIT
            self._until = clocks.monotonic() + self._give_up
            return 0.0
        if clocks.monotonic() >= self._until:
            raise self._lost(f"no reply for {self._give_up:g} s: every connection broke before one came")
        return self._next_pause()

    @property
    def timeout(self) -> float:
        """Seconds that one more step of the present attempt may take."""
        return max(SHORTEST_TIMEOUT, min(self._timeout, self._until - clocks.monotonic()))

    def pause_after(self, error: Exception) -> float:
        """Seconds until the next attempt, about twice those before; raises `Lost` where there is none."""
        cause = refused_for_good(error)
        if cause is not None:
            raise self._lost(cause) from None
        if clocks.monotonic() >= self._until:
            raise self._lost(f"no service for {self._give_up:g} s: {error}") from error
        return self._next_pause()

    def _lost(self, cause: str) -> Lost:
        self._progress = None  # whoever tries again has the whole time again
        return Lost(cause)

    def _next_pause(self) -> float:
        pause, self._pause = self._pause * (0.5 + random.random()), min(2 * self._pause, LONGEST_WAIT)
        return max(0.0, min(pause, self._until - clocks.monotonic()))


def refused_for_good(error: Exception) -> str | None:
    """Why a service does not take this client at all; None where it is worth trying again."""
    response = getattr(error, "response", None)
    status = getattr(response, "status_code", None)
    if status is None or status in (429, 500, 502, 503, 504):
        return None
    try:
        return str(json.loads(response.body)["error"])  # type: ignore[union-attr]
    except (ValueError, KeyError, TypeError, AttributeError):
        return f"the service answered {status}"
