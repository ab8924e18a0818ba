"""What clients send, as types: checked here, where it comes in. Nothing in it is trusted."""

from __future__ import annotations

import functools
import io
import math
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

import msgspec
import numpy as np
from msgspec import Meta, Struct
from PIL import Image, ImageOps

from knob_core.serving.messages import ELAPSED, LAST_NUMBER, Frame, Kind, unpack

T = TypeVar("T")
Prepare = Callable[[np.ndarray], np.ndarray]  # what is kept of a picture until its batch
FORMATS = ("JPEG", "PNG", "WEBP")
DTYPES = {"uint8": "<u1", "float32": "<f4", "float64": "<f8"}
SHOWN = 64  # pixels of the picture that is kept for those who watch

Id = Annotated[str, Meta(pattern=r"^[A-Za-z0-9._:\-]{1,64}$", max_length=64)]
Group = Annotated[str, Meta(pattern=r"^[A-Za-z0-9._:\-]{0,64}$", max_length=64)]  # or none
Whole = Annotated[int, Meta(ge=1, le=LAST_NUMBER)]
Numbers = Annotated[list[float], Meta(min_length=2)]


class BadFrame(ValueError):
    """A frame that is wrong; `number` is its own where that is right, so that the refusal can name it."""

    def __init__(self, cause: str, number: int | None) -> None:
        super().__init__(cause)
        self.number = number


class Numbered(Struct):
    """What every message of a frame may have."""

    number: Whole | None = None  # the client's, rising; else the one before plus 1


class Timed(Numbered):
    """And more of it."""

    elapsed: Annotated[float, Meta(ge=ELAPSED[0], le=ELAPSED[1])] | None = None  # frames since the last one
    time: Annotated[float, Meta(ge=-1e12, le=1e12)] | None = None  # or seconds, on any clock that does not go back
    probabilities: bool = False  # answer with all of them

    def __post_init__(self) -> None:
        if self.elapsed is not None and self.time is not None:
            raise ValueError("elapsed and time are both given, expected one of them")

    def frame(self, kind: Kind, content: np.ndarray | None) -> Frame:
        return Frame(kind, content, self.number, self.elapsed, self.time, self.probabilities)


class Header(Timed, forbid_unknown_fields=True, kw_only=True):
    """Before a frame's content."""

    kind: Kind
    shape: list[int] = []  # of raw
    dtype: Literal["uint8", "float32", "float64"] | None = None


class Logits(Timed, forbid_unknown_fields=True, kw_only=True):
    """A frame of logits for those who have no binary numbers."""

    logits: Numbers

    def decoded(self) -> Frame:
        return self.frame("logits", np.array(self.logits))


class LogitsText(Logits, tag_field="type", tag="logits"):
    """The same as a WebSocket's text message."""


class Leave(Struct, tag_field="type", tag="leave"):
    """A text message: the stream has ended, forget its state."""


class Listed(Timed, forbid_unknown_fields=True, kw_only=True):
    """One frame of many: logits, or a picture in base64."""

    stream: Id
    group: Group = ""
    logits: Numbers | None = None
    picture: bytes | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.logits is None) == (self.picture is None):
            raise ValueError("expected a picture or logits, one of them")

    def decoded(self, prepare: Prepare) -> tuple[Frame, np.ndarray | None]:
        """The frame, and a small picture to be shown where there is one."""
        if self.picture is None:
            return self.frame("logits", np.array(self.logits)), None
        picture = decoded(self.picture)
        return self.frame("picture", prepare(picture)), small(picture)


class Frames(Struct, forbid_unknown_fields=True):
    """Frames of many streams."""

    frames: Annotated[list[Listed], Meta(min_length=1)]


class Revert(Struct, forbid_unknown_fields=True):
    """All knobs as they were at a revision."""

    revision: Whole
    if_revision: Whole | None = None  # refused where somebody else has turned since


def typed(kind: type[T], text: bytes | str) -> T:
    """JSON from anybody as one of the types; ValueError where it is none."""
    try:
        return _decoder(kind).decode(text)  # type: ignore[arg-type]
    except RecursionError:
        raise ValueError("message is nested too deeply") from None
    except msgspec.ValidationError as error:
        if "got `float`" not in str(error):
            raise
        return converted(kind, msgspec.json.decode(text))


def converted(kind: Any, value: Any) -> Any:
    """The same of what was JSON, in which 3.0 is a whole number."""
    return msgspec.convert(_whole(value), kind)


def _whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _whole(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_whole(entry) for entry in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


@functools.cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def typed_frame(kind: type[T], text: bytes | str) -> T:
    """The same of a frame: the error says its number, where that can be read."""
    try:
        return typed(kind, text)
    except ValueError as error:
        try:
            number = typed(Numbered, text).number
        except ValueError:
            number = None
        raise BadFrame(str(error), number) from None


def of_text(text: str) -> Frame | None:
    """The frame in a WebSocket's text message; None where the stream has ended."""
    message = typed_frame(LogitsText | Leave, text)  # type: ignore[arg-type]
    return None if isinstance(message, Leave) else message.decoded()


def opened(message: bytes) -> tuple[Header, memoryview]:
    """(header, content) of a binary message."""
    text, content = unpack(message)
    return typed_frame(Header, text), content


def frame_of(header: Header, content: memoryview, prepare: Prepare) -> tuple[Frame, np.ndarray | None]:
    """The frame, and a small picture to be shown where there is one."""
    try:
        if header.kind == "missing":
            if len(content):
                raise ValueError(f"a missing frame came with {len(content)} bytes, expected none")
            return header.frame("missing", None), None
        if header.kind in ("logits", "branches"):
            return header.frame(header.kind, numbers(header, content)), None
        picture = decoded(content) if header.kind == "picture" else pixels(header, content)
        return header.frame(header.kind, prepare(picture)), small(picture)
    except ValueError as error:
        raise BadFrame(str(error), header.number) from error


def decoded(content: bytes | memoryview) -> np.ndarray:
    """(H, W, 3) uint8 of a JPEG, PNG or WebP file, upright; Pillow refuses more pixels than its MAX_IMAGE_PIXELS."""
    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as picture:
            upright = ImageOps.exif_transpose(picture)
            if upright.mode.startswith("I"):  # 16 bits of grey, which `convert` would cut off
                upright = Image.fromarray((np.asarray(upright).clip(0, 65535) / 257).round().astype(np.uint8))
            return np.asarray(upright.convert("RGB"))
    except Exception as error:  # whatever Pillow's decoders meet in a damaged file
        raise ValueError(f"frame is damaged, cut short, or no JPEG, PNG or WebP picture ({_cause(error)})") from error


def _cause(error: Exception) -> str:
    """Pillow's words for a picture of too many pixels; others name objects in memory."""
    return str(error) if isinstance(error, Image.DecompressionBombError) else type(error).__name__


def pixels(header: Header, content: memoryview) -> np.ndarray:
    """(H, W, 3) uint8 as it came."""
    shape = header.shape
    if len(shape) != 3 or shape[2] != 3 or min(shape) < 1:
        raise ValueError(f"shape is {shape}, expected [height, width, 3]")
    if header.dtype not in (None, "uint8"):
        raise ValueError(f"dtype is {header.dtype}, expected uint8 for raw pixels")
    if len(content) != math.prod(shape):
        raise ValueError(f"frame has {len(content)} bytes, expected {math.prod(shape)} for shape {shape}")
    return np.frombuffer(content, np.uint8).reshape(shape)


def numbers(header: Header, content: memoryview) -> np.ndarray:
    """(n,) float64 of logits or branches."""
    if header.dtype == "uint8":
        raise ValueError("dtype is uint8, expected float32 or float64 for logits")
    dtype = np.dtype(DTYPES[header.dtype or "float32"])
    if len(content) % dtype.itemsize or not len(content):
        raise ValueError(f"frame has {len(content)} bytes, expected a multiple of {dtype.itemsize}")
    return np.frombuffer(content, dtype).astype(np.float64)


def small(picture: np.ndarray) -> np.ndarray:
    """(h, w, 3) of at most SHOWN pixels each way: every n-th pixel, which costs nothing."""
    step = -(-max(picture.shape[:2]) // SHOWN)
    return np.ascontiguousarray(picture[::step, ::step])


def webp(picture: np.ndarray) -> bytes:
    """The file."""
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "WEBP", quality=80, method=0)
    return file.getvalue()
