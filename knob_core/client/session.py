"""A client's half of a stream without the network: numbers, what is unanswered, and where to go on after a break.

A frame stays here until it is answered, dropped or refused. After a break the service's `hello` says which frames are
in the stream's state: those after it are sent again with their own numbers. A service that comes back from a snapshot
may have forgotten frames that were answered; where they are still kept (`replay`) they are sent again too, so that the
stream goes on bit for bit, else the next frame says how many frames were lost.
"""

from __future__ import annotations

import io
import json
import math
from collections import OrderedDict, deque
from typing import Any, NamedTuple

import numpy as np

from knob_core.serving.messages import ELAPSED, Answer, Header, Hello, Kind, Reply, pack


class Sent(NamedTuple):
    """A frame as the caller gave it."""

    header: Header
    content: bytes


class Session:
    """The state of one stream's client."""

    def __init__(self, id: str, *, probabilities: bool = False, jpeg: int | None = None, replay: int = 0) -> None:
        """`jpeg`: quality in which pictures are sent; `replay`: answered frames that are kept to be sent again."""
        self.id, self._probabilities, self._jpeg, self._replay = id, probabilities, jpeg, replay
        self.number = 0  # of the last frame
        self.waiting: OrderedDict[int, Sent] = OrderedDict()  # without an answer
        self.hello: Hello | None = None
        self._kept: OrderedDict[int, Sent] = OrderedDict()  # the last `replay` answered ones
        self._again: dict[int, Sent] = {}  # answered before, sent again: the caller knows their answers
        self._backlog: deque[int] = deque()  # to be sent again, as the service's queue allows
        self._flying: set[int] = set()  # sent on this connection, not answered yet
        self._owed = 0  # frames that the service has forgotten, to be told with the next one
        self._missing: dict[int, int] = {}  # by number: frames before it that the service has forgotten

    @property
    def window(self) -> int:
        """Frames that may be without an answer."""
        return self.hello["queue"] if self.hello is not None else 1

    # Frames out

    def send(self, frame: Any, elapsed: float | None = None, time: float | None = None) -> tuple[int, list[bytes]]:
        """(number, messages to be sent now) of the next frame; it is kept until its answer comes."""
        header: Header = {"kind": "missing", "number": self.number + 1}
        if elapsed is not None:
            header["elapsed"] = _finite("elapsed", elapsed)
        if time is not None:
            header["time"] = _finite("time", time)
        if self._probabilities:
            header["probabilities"] = True
        content = self._packed(frame, header)
        most = self.hello["frame_bytes"] if self.hello is not None else len(content)
        if len(content) > most:
            raise ValueError(
                f"frame has {len(content):,} bytes, expected at most {most:,}: send JPEG (jpeg=90) or fewer pixels, "
                "or start the service with a larger --max-frame"
            )
        self.number += 1
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

    def _packed(self, frame: Any, header: Header) -> bytes:
        """The content; what it is goes into the header."""
        if frame is None:
            return b""
        if isinstance(frame, (bytes, bytearray, memoryview)):
            header["kind"] = "picture"
            return bytes(frame)
        if isinstance(frame, tuple):  # z_static, z_dyn, u_star
            return _numbers(np.concatenate([np.ravel(part) for part in frame]), "branches", header)
        array = np.asarray(frame)
        if array.ndim == 1 and array.dtype.kind == "f":
            return _numbers(array, "logits", header)
        if array.ndim != 3 or array.shape[2] != 3 or array.dtype != np.uint8:
            raise ValueError(
                f"frame is {array.dtype} of shape {array.shape}, expected a picture's bytes, uint8 (H, W, 3), "
                "logits (K,), a tuple (z_static, z_dyn, u_star), or None"
            )
        if self._jpeg is None:
            header["kind"], header["shape"] = "raw", list(array.shape)
            return array.tobytes()
        from PIL import Image

        file = io.BytesIO()
        Image.fromarray(array).save(file, "JPEG", quality=self._jpeg)
        header["kind"] = "picture"
        return file.getvalue()

    # Replies in

    def received(self, text: str | bytes) -> tuple[list[Reply], list[bytes]]:
        """(replies that the caller does not know yet, messages to be sent now)."""
        reply: Any = json.loads(text)
        if reply["type"] == "hello":
            self._welcomed(reply)
            return self._unanswered(reply), self._next()
        if reply["type"] == "closing":
            return [], []
        numbers = reply["frames"] if reply["type"] == "dropped" else [reply["frame"]]
        if None in numbers:
            return [reply], []
        self._flying.difference_update(numbers)
        new = [number for number in numbers if number in self.waiting]
        for number in numbers:
            sent = self._again.pop(number, None) or self.waiting.pop(number, None)
            if sent is not None and reply["type"] == "answer":
                self._keep(number, sent)
        return [reply] if new else [], self._next()

    def _keep(self, number: int, sent: Sent) -> None:
        self._kept[number] = sent
        while len(self._kept) > self._replay:
            self._kept.popitem(last=False)

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

    def _welcomed(self, hello: Hello) -> None:
        first, self.hello = self.hello is None, hello
        self._flying.clear()
        if first:
            self.number = hello["frame"]  # a stream that somebody began
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
            del self.waiting[number]
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


def _finite(name: str, value: Any) -> float:
    """A number that JSON can hold; the service says which range it takes."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{name} is {value!r}, expected a finite number")
    return number


def _numbers(array: np.ndarray, kind: Kind, header: Header) -> bytes:
    header["kind"], header["dtype"] = kind, "float64"
    return array.astype("<f8").tobytes()
