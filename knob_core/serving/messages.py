"""The messages of a service, as types: what goes over its WebSockets and its HTTP interface.

A frame is one binary message: a JPEG, PNG or WebP file as it is, or with a header before it:
    b"KNB1" | length of the header, 4 bytes, little endian | header, JSON in UTF-8 | content
Everything else is JSON. Numbers are written so that they are read back bit for bit. Used by server and client alike.
"""

from __future__ import annotations

import json
import math
import numbers
import re
import struct
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict

import numpy as np

VERSION = 1
PROTOCOL = "knob.v1"  # the WebSocket's subprotocol
MAGIC = b"KNB1"
RESTART, REPLACED, TOO_BIG = 1012, 4001, 1009  # close codes: come back; another socket has this stream; no such frame
MAX_HEADER = 1000  # bytes
MAX_LOGIT = 1e6  # in size
ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")  # of a stream or a group
ELAPSED = (1e-3, 1e9)  # frames
MOST_TIME = 1e12  # s, in size
LAST_NUMBER = 2**53 - 1  # of a frame: JSON's readers keep whole numbers up to it
KINDS = ("picture", "raw", "logits", "branches", "missing")
DTYPES = {"uint8": "<u1", "float32": "<f4", "float64": "<f8"}

Kind = Literal["picture", "raw", "logits", "branches", "missing"]
"""What a frame holds.

picture   a JPEG, PNG or WebP file
raw       pixels, uint8, shape (H, W, 3), RGB
logits    (K,) of a single classifier: the service then adds memory and knobs only
branches  (2 K + 1,) of a gated model: z_static, z_dyn, u_star
missing   nothing: no frame came, the last one is held
"""


class Header(TypedDict):
    """Before a frame's content."""

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


class Leave(TypedDict):
    """A client's text message: the stream has ended, forget its state."""

    type: Literal["leave"]


class LogitsText(TypedDict):
    """A client's text message: a frame of logits for those who have no binary numbers."""

    type: Literal["logits"]
    logits: list[float]
    number: NotRequired[int]
    elapsed: NotRequired[float]
    time: NotRequired[float]
    probabilities: NotRequired[bool]


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


class Problem(TypedDict):
    """Body of every HTTP error."""

    error: str


class BadFrame(ValueError):
    """A frame that is wrong; `number` is its own where that is right, so that the refusal can name it."""

    def __init__(self, cause: str, number: int | None) -> None:
        super().__init__(cause)
        self.number = number


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
    text = as_text(header).encode()
    return MAGIC + struct.pack("<I", len(text)) + text + content


def unpack(message: bytes) -> tuple[Header, memoryview]:
    """(header, content) of a binary message from anybody; a bare picture has the header of one."""
    if message[:4] != MAGIC:
        return {"kind": "picture"}, memoryview(message)
    if len(message) < 8:
        raise ValueError(f"message has {len(message)} bytes, expected 8 or more after {MAGIC.decode()}")
    (length,) = struct.unpack_from("<I", message, 4)
    if length > min(MAX_HEADER, len(message) - 8):
        raise ValueError(f"header has {length} bytes, expected at most {min(MAX_HEADER, len(message) - 8)}")
    return checked_header(parsed(bytes(message[8 : 8 + length]))), memoryview(message)[8 + length :]


def parsed(text: str | bytes) -> dict[str, Any]:
    """A JSON object from anybody."""
    try:
        table = _JSON.decode(text if isinstance(text, str) else text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"message is not JSON ({error})") from None
    if not isinstance(table, dict):
        raise ValueError(f"message is a {type(table).__name__}, expected a JSON object")
    return table


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


# Made once: a message has a header of some fifty bytes.
_JSON = json.JSONDecoder(parse_constant=_no_constant)
_TEXT = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def as_text(message: Any) -> str:
    """A message as JSON, as short as it can be."""
    return _TEXT.encode(message)


def checked_header(table: dict[str, Any]) -> Header:
    """Every entry known, of its type and in its range; `BadFrame` where one is not."""
    number = whole("number", table["number"]) if "number" in table else None
    try:
        rest = _checked_entries({name: value for name, value in table.items() if name != "number"})
    except ValueError as error:
        raise BadFrame(str(error), number) from None
    return rest if number is None else {**rest, "number": number}


def _checked_entries(table: dict[str, Any]) -> Header:
    """All but the number."""
    unknown = sorted(set(table) - set(Header.__annotations__))
    if unknown:
        raise ValueError(f"header has {_short(unknown)}, expected {', '.join(Header.__annotations__)}")
    if table.get("kind") not in KINDS:
        raise ValueError(f"kind is {_short(table.get('kind'))}, expected one of {', '.join(KINDS)}")
    table = {**table, **checked_clock({name: table[name] for name in ("elapsed", "time") if name in table})}
    if not isinstance(table.get("probabilities", False), bool):
        raise ValueError(f"probabilities is {_short(table['probabilities'])}, expected true or false")
    dtype = table.get("dtype", "uint8")
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ValueError(f"dtype is {_short(table['dtype'])}, expected one of {', '.join(DTYPES)}")
    shape = table.get("shape", [])
    if not isinstance(shape, list) or not all(isinstance(n, int) and not isinstance(n, bool) for n in shape):
        raise ValueError(f"shape is {_short(shape)}, expected a list of whole numbers")
    return table  # type: ignore[return-value]


def checked_clock(given: Mapping[str, Any]) -> dict[str, float]:
    """`elapsed` or `time`, whichever is given, as a float in its range."""
    if len(given) > 1:
        raise ValueError("elapsed and time are both given, expected one of them")
    found = {name: finite(name, value) for name, value in given.items()}
    low, high = ELAPSED
    if not low <= found.get("elapsed", 1.0) <= high:
        raise ValueError(f"elapsed is {found['elapsed']:g}, expected {low:g} to {high:g} frames")
    if abs(found.get("time", 0.0)) > MOST_TIME:
        raise ValueError(f"time is {found['time']:g}, expected -{MOST_TIME:g} to {MOST_TIME:g} seconds")
    return found


def finite(name: str, value: Any) -> float:
    """A number as a float; a whole one from JSON may be too large for that."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    try:
        number = float(value) if is_number else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} is {_short(value)}, expected a finite number")
    return number


def whole(name: str, value: Any, least: int = 1) -> int:
    """A whole number in [least, 2**53); JSON may write it as 7.0."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not least <= value <= LAST_NUMBER or value != int(value):
        raise ValueError(f"{name} is {_short(value)}, expected a whole number >= {least} and < 2**53")
    return int(value)


def require_id(what: str, id: Any) -> str:
    """The name of a stream or a group, from anybody."""
    if not isinstance(id, str) or not ID.fullmatch(id):
        raise ValueError(f"{what} is {_short(id)}, expected 1 to 64 of the letters A-Z a-z 0-9 . _ : -")
    return id


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
