"""The messages of a service: what goes over its WebSockets and its HTTP interface. Used by server and client alike.

A frame is one binary message: a JPEG, PNG or WebP file as it is, or with a header before it:
    b"KNB1" | length of the header, 4 bytes, little endian | header, JSON in UTF-8 | content
Everything else is JSON. Numbers are written so that they are read back bit for bit. `knob_core.serving.decode` checks
what comes from clients.
"""

from __future__ import annotations

import json
import re
import struct
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict

import numpy as np

VERSION = 1
PROTOCOL = "knob.v1"  # the WebSocket's subprotocol
MAGIC = b"KNB1"
RESTART, REPLACED = 1012, 4001  # close codes: come back; another socket has this stream
MAX_HEADER = 1000  # bytes
ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")  # of a stream or a group
ELAPSED = (1e-3, 1e9)  # frames
LAST_NUMBER = 2**53 - 1  # of a frame: JSON's readers keep whole numbers up to it

Kind = Literal["picture", "raw", "logits", "branches", "missing"]
"""What a frame holds.

picture   a JPEG, PNG or WebP file
raw       pixels, uint8, shape (H, W, 3), RGB
logits    (K,) of a single classifier: the service then adds memory and knobs only
branches  (2 K + 1,) of a gated model: z_static, z_dyn, u_star
missing   nothing: no frame came, the last one is held
"""


class Header(TypedDict):
    """Before a frame's content; `knob_core.serving.decode.Header` has its ranges."""

    kind: Kind
    number: NotRequired[int]  # the client's, rising; else the one before plus 1
    shape: NotRequired[list[int]]  # of raw
    dtype: NotRequired[str]  # of logits and branches: float32 or float64
    elapsed: NotRequired[float]  # frames since the last one, 1 by default
    time: NotRequired[float]  # or seconds, on any clock that does not go back
    probabilities: NotRequired[bool]  # answer with all of them


class Hello(TypedDict):
    """The first message on a stream's WebSocket."""

    type: Literal["hello"]
    stream: str
    group: str
    frame: int  # number of the last frame that is in the stream's state, or will be; go on with the next
    answered: int  # number of the last frame that was in a batch and has its reply, be it a refusal
    again: list[int]  # numbers above `after` whose replies are sent again now
    resumed: Literal[
        "new", "memory", "snapshot"
    ]  # what the state is: at rest, as it was, or as the last snapshot had it
    saved_at: float | None  # Unix time of that snapshot
    revision: int  # of the knobs
    queue: int  # frames that may wait for their answer
    frame_bytes: int  # of a frame's content at most
    policy: Literal["newest", "refuse"]
    model: str
    classes: list[str] | None  # names, where the model has them


class Answer(TypedDict):
    """To one frame. Numbers that are not known are null."""

    type: Literal["answer"]
    stream: str
    frame: int
    label: int  # -1 before the first good frame
    name: str | None  # of the class
    p_max: float
    g: float
    u: float
    u_star: float
    t_eff: float | None
    csr: float | None
    omega: float  # rad/frame: the natural frequency that acted
    disagreement: float  # frames in a row whose own class was another one than the label
    missing: bool  # no good frame this time: the last one was held
    age: float  # frames since the last good one
    zeta: float  # knobs that acted
    omega_n: float
    revision: int  # of the knobs that acted
    probabilities: NotRequired[list[float]]


class Dropped(TypedDict):
    """Frames that gave way to newer ones; the frame after them counts them as elapsed."""

    type: Literal["dropped"]
    stream: str
    frames: list[int]
    cause: str


Code = Literal["bad_frame", "order", "full", "model"]  # of a refusal


class Refused(TypedDict):
    """One frame, or one message, that was not taken; the stream is as it was."""

    type: Literal["refused"]
    stream: str
    frame: int | None
    cause: str
    code: Code


class Closing(TypedDict):
    """The last message before the service closes a WebSocket of its own will."""

    type: Literal["closing"]
    stream: str
    frame: int  # the last one that is in the saved state
    cause: str
    code: int  # that the WebSocket is closed with: REPLACED or RESTART


Reply = Hello | Answer | Dropped | Refused | Closing


class Knobs(TypedDict):
    """A setting as JSON; a change has some of these."""

    zeta: float
    omega_n: float
    on: bool
    memory: Literal["attentive", "plain", "off"]
    mode: Literal["continuous", "reset"]
    temperature: float
    frame_rate: float
    weights: NotRequired[dict[str, float] | None]  # of attentive memory
    goals: NotRequired[dict[str, float]]  # what the operator wants (`knob_core.goals`); nothing acts on them


class KnobState(TypedDict):
    """All knobs: a stream's own come before its group's, those before the ones for all."""

    revision: int
    all: Knobs
    groups: dict[str, dict[str, Any]]  # changes against `all`
    streams: dict[str, dict[str, Any]]  # changes against the group's


class KnobChange(TypedDict):
    """One line of the log."""

    revision: int
    time: float  # Unix
    by: str
    scope: str  # "all", "group NAME", "stream ID", "revert N"
    changes: dict[str, Any]


class History(TypedDict):
    """A stream's last frames, oldest first."""

    frame: list[int]
    g: list[float]
    p_max: list[float]
    label: list[int]
    bare: list[int]  # label without Knob: of the frame alone


class StreamInfo(TypedDict):
    """One row of the listing, or one stream with its history."""

    stream: str
    group: str
    connected: bool
    resumed: Literal["new", "memory", "snapshot"]
    frame: int  # last number
    frames: int  # answered
    dropped: int
    refused: int
    waiting: int
    idle: float  # s since the last frame
    rate: float  # frames/s, lately
    label: int
    name: str | None
    p_max: float | None
    g: float | None
    flips: float | None  # per 100 frames, over the history
    flips_bare: float | None  # the same without Knob
    knobs: Knobs  # that act on it
    revision: int  # with which its last frame was answered
    picture: bool  # there is one to be had
    history: NotRequired[History]  # where one stream is asked for


class Streams(TypedDict):
    """All of them."""

    streams: list[StreamInfo]


class KnobLog(TypedDict):
    """Who turned what, and when."""

    changes: list[KnobChange]


class Problem(TypedDict):
    """Body of every HTTP error."""

    error: str


class Frame(NamedTuple):
    """One frame of one stream as it came, decoded."""

    kind: Kind
    content: np.ndarray | None  # None where missing
    number: int | None = None
    elapsed: float | None = None
    time: float | None = None
    probabilities: bool = False


def pack(header: Header, content: bytes = b"") -> bytes:
    """One binary message."""
    text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode()
    return MAGIC + struct.pack("<I", len(text)) + text + content


def unpack(message: bytes) -> tuple[bytes, memoryview]:
    """(header, content) of a binary message from anybody; a bare picture has the header of one."""
    if message[:4] != MAGIC:
        return b'{"kind":"picture"}', memoryview(message)
    if len(message) < 8:
        raise ValueError(f"message has {len(message)} bytes, expected 8 or more after {MAGIC.decode()}")
    (length,) = struct.unpack_from("<I", message, 4)
    if length > min(MAX_HEADER, len(message) - 8):
        raise ValueError(f"header has {length} bytes, expected at most {min(MAX_HEADER, len(message) - 8)}")
    return message[8 : 8 + length], memoryview(message)[8 + length :]


def require_id(what: str, id: Any) -> str:
    """The name of a stream or a group, from anybody."""
    if not isinstance(id, str) or not ID.fullmatch(id):
        raise ValueError(f"{what} is {repr(id)[:80]}, expected 1 to 64 of the letters A-Z a-z 0-9 . _ : -")
    return id
