"""A message's bytes as a frame: pictures decoded, numbers checked. Nothing in it is trusted."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from knob_core.serving.messages import DTYPES, MAX_LOGIT, BadFrame, Frame, Header, checked_header

FORMATS = ("JPEG", "PNG", "WEBP")
SHOWN = 64  # pixels of the picture that is kept for those who watch


def frame_of(
    header: Header, content: bytes | memoryview, prepare: Callable[[np.ndarray], np.ndarray] = lambda picture: picture
) -> tuple[Frame, np.ndarray | None]:
    """The frame, and a small picture to be shown where there is one."""
    kind, shown = header["kind"], None
    array: np.ndarray | None
    if kind == "missing":
        array = None
        if len(content):
            raise ValueError(f"a missing frame came with {len(content)} bytes, expected none")
    elif kind in ("picture", "raw"):
        picture = decoded(content) if kind == "picture" else pixels(header, content)
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
    if not isinstance(values, list) or len(values) < 2 or not set(map(type, values)) <= {int, float}:
        return None
    try:
        content = np.array(values, np.float64)
    except OverflowError:  # a whole number of more than 308 digits
        return None
    return content if np.abs(content).max() <= MAX_LOGIT else None


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


def pixels(header: Header, content: bytes | memoryview) -> np.ndarray:
    """(H, W, 3) uint8 as it came."""
    shape = header.get("shape", [])
    if len(shape) != 3 or shape[2] != 3 or min(shape) < 1:
        raise ValueError(f"shape is {shape}, expected [height, width, 3]")
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
    if len(content) % size or not len(content):
        raise ValueError(f"frame has {len(content)} bytes, expected a multiple of {size}")
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
