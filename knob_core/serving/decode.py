"""A message's bytes as a frame: pictures decoded within limits, numbers checked. Nothing in it is trusted."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image

from knob_core.serving.messages import DTYPES, MAX_LOGIT, BadFrame, Frame, Header, checked_header
from knob_core.uploads.picture_blocks import require_blocks
from knob_core.uploads.picture_sizes import require_pixels
from knob_core.uploads.stills import coloured, damage_named, upright

FORMATS = {b"\xff\xd8\xff": "JPEG", b"\x89PNG": "PNG", b"RIFF": "WEBP"}
MAX_PIXELS = 4_000_000
MAX_NUMBERS = 100_001  # of logits or branches
SHOWN = 64  # pixels of the picture that is kept for those who watch


class TooManyPixels(Exception):
    """A picture that is too large for where it was to be decoded, and not too large to be taken."""


def frame_of(
    header: Header,
    content: bytes | memoryview,
    prepare: Callable[[np.ndarray], np.ndarray] = lambda picture: picture,
    quick: int = MAX_PIXELS,
) -> tuple[Frame, np.ndarray | None]:
    """The frame, and a small picture to be shown where there is one; `TooManyPixels` where it has more than `quick`."""
    kind, shown = header["kind"], None
    array: np.ndarray | None
    if kind == "missing":
        array = None
        if len(content):
            raise ValueError(f"a missing frame came with {len(content)} bytes, expected none")
    elif kind in ("picture", "raw"):
        picture = decoded(content, quick) if kind == "picture" else pixels(header, content)
        array, shown = prepare(picture), small(picture)
    else:
        array = numbers(header, content)
    given = (header.get("number"), header.get("elapsed"), header.get("time"), header.get("probabilities", False))
    return Frame(kind, array, *given), shown


def of_logits(table: dict[str, Any]) -> Frame:
    """A frame of logits that came as JSON; `table` has `logits` and what a header may have."""
    rest = {name: value for name, value in table.items() if name not in ("type", "logits")}
    header = checked_header({**rest, "kind": "logits"})
    content = _numbers_of(table.get("logits"))
    if content is None:
        cause = f"logits are expected to be a list of 2 numbers or more, none above {MAX_LOGIT:g} in size"
        raise BadFrame(cause, header.get("number"))
    return frame_of({**header, "dtype": "float64"}, content.tobytes())[0]


def _numbers_of(values: Any) -> np.ndarray | None:
    """(n,) float64 of a JSON list; None where it is anything else."""
    if not isinstance(values, list) or not 2 <= len(values) <= MAX_NUMBERS:
        return None
    if not set(map(type, values)) <= {int, float}:
        return None
    try:
        content = np.array(values, np.float64)
    except OverflowError:  # a whole number of more than 308 digits
        return None
    return content if np.abs(content).max() <= MAX_LOGIT else None


def decoded(content: bytes | memoryview, quick: int = MAX_PIXELS) -> np.ndarray:
    """(H, W, 3) uint8 of a JPEG, PNG or WebP file, upright; `TooManyPixels` where it has more than `quick`."""
    kind = next((name for start, name in FORMATS.items() if bytes(content[: len(start)]) == start), None)
    if kind is None:
        raise ValueError(f"frame begins with {bytes(content[:4])!r}, expected a JPEG, PNG or WebP picture")
    require_blocks("frame", kind, bytes(content))
    with damage_named("frame", kind, MAX_PIXELS):
        picture = Image.open(io.BytesIO(content), formats=[kind])
    with picture:
        require_pixels("frame", *picture.size, MAX_PIXELS)
        if math.prod(picture.size) > quick:
            raise TooManyPixels
        with damage_named("frame", kind, MAX_PIXELS):
            picture.load()
            return np.asarray(coloured(upright(picture)))


def pixels(header: Header, content: bytes | memoryview) -> np.ndarray:
    """(H, W, 3) uint8 as it came."""
    shape = header.get("shape", [])
    if len(shape) != 3 or shape[2] != 3 or min(shape) < 1:
        raise ValueError(f"shape is {shape}, expected [height, width, 3]")
    require_pixels("frame", shape[1], shape[0], MAX_PIXELS)
    if header.get("dtype", "uint8") != "uint8":
        raise ValueError(f"dtype is {header['dtype']}, expected uint8 for raw pixels")
    if len(content) != math.prod(shape):
        raise ValueError(f"frame has {len(content)} bytes, expected {math.prod(shape)} for shape {shape}")
    return np.frombuffer(content, np.uint8).reshape(shape)


def numbers(header: Header, content: bytes | memoryview) -> np.ndarray:
    """(n,) float64 of logits or branches."""
    dtype = header.get("dtype", "float32")
    if dtype == "uint8":
        raise ValueError("dtype is uint8, expected float32 or float64 for logits")
    size = np.dtype(DTYPES[dtype]).itemsize
    if len(content) % size or not size <= len(content) <= size * MAX_NUMBERS:
        raise ValueError(f"frame has {len(content)} bytes, expected a multiple of {size}, at most {size * MAX_NUMBERS}")
    return np.frombuffer(content, DTYPES[dtype]).astype(np.float64)


def small(picture: np.ndarray) -> np.ndarray:
    """(h, w, 3) of at most SHOWN pixels each way: every n-th pixel, which costs nothing."""
    step = -(-max(picture.shape[:2]) // SHOWN)
    return np.ascontiguousarray(picture[::step, ::step])


def webp(picture: np.ndarray) -> bytes:
    """The file."""
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "WEBP", quality=80, method=0)
    return file.getvalue()
