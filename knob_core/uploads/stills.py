"""Decode one picture file, still or moving, frame by frame, as small squares that the models see.

The middle square of each frame is shrunk to 32 x 32 with antialiasing, as `knob_core.runtime.frames` does.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from itertools import islice

import numpy as np
from PIL import Image, ImageSequence

from knob_core.uploads.refusals import readable

SIZE = 32  # pixels
FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP", ".bmp": "BMP", ".gif": "GIF"}
MOVING = (".png", ".webp", ".gif")  # may hold more than one frame; the second picture of a JPEG is a depth map
ORIENTATION = 0x112  # of Exif
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


@dataclass(frozen=True)
class Frames:
    """The T frames of one file, as the models see them."""

    images: np.ndarray  # (T, 3, 32, 32) uint8
    frame_rate: float | None  # frames/s, None where the file does not tell


def read(name: str, kind: str, content: bytes, most: int) -> Frames:
    """The first `most` frames of a file called `name`, upright; `kind` is a key of FORMATS."""
    images, seconds, format_ = [], [], FORMATS[kind]
    with readable(name, f"a {format_} picture"), _opened(content, format_) as picture:
        for frame in islice(ImageSequence.Iterator(picture), most if kind in MOVING else 1):
            frame.load()
            images.append(small(upright(frame)))
            seconds.append(float(frame.info.get("duration") or 0) / 1000)
    rate = len(images) / sum(seconds) if len(images) > 1 and min(seconds) > 0 else None
    return Frames(np.stack(images), rate)


def _opened(content: bytes, format_: str) -> Image.Image:
    try:
        return Image.open(io.BytesIO(content), formats=[format_])
    except Image.DecompressionBombError as error:
        raise MemoryError from error


def upright(picture: Image.Image) -> Image.Image:
    """The picture as its camera was held; other entries of its Exif may be damaged, which `exif_transpose` minds."""
    try:
        held = picture.getexif().get(ORIENTATION)
    except Exception:
        return picture
    return picture.transpose(TURNS[held]) if isinstance(held, int) and held in TURNS else picture


def coloured(picture: Image.Image) -> Image.Image:
    """The picture in RGB; 16 bits of grey are scaled, which `convert` would cut off."""
    if picture.mode.startswith("I"):
        picture = Image.fromarray((np.asarray(picture).clip(0, 65535) / 257).round().astype(np.uint8))
    return picture.convert("RGB")


def small(frame: Image.Image) -> np.ndarray:
    """(3, 32, 32) uint8 of its middle square."""
    width, height = frame.size
    side = min(width, height)
    left, top = (width - side) // 2, (height - side) // 2
    square = coloured(frame.crop((left, top, left + side, top + side)))
    return np.moveaxis(np.asarray(square.resize((SIZE, SIZE), Image.Resampling.BILINEAR)), -1, 0)
