"""Decode one uploaded picture file, still or moving, frame by frame, as small squares that the models see.

The middle square of each frame is shrunk to 32 x 32 with antialiasing, as `knob_core.runtime.frames` does.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from itertools import islice

import numpy as np
from PIL import Image

from knob_core.uploads.budget import Budget, Stopped
from knob_core.uploads.limits import (
    LARGE_PIXELS,
    MAX_EXIF,
    MAX_MOVING_PIXELS,
    MAX_PIXELS,
    MAX_RLE_PIXELS,
    require_size,
    said,
)
from knob_core.uploads.picture_blocks import require_blocks
from knob_core.uploads.picture_frames import PictureFrames, frame_rate
from knob_core.uploads.picture_sizes import MOVES, require_canvas, require_pixels, webp_size

SIZE = 32  # pixels
ROWS = 64  # that are shrunk at a time
FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP", ".bmp": "BMP", ".gif": "GIF"}
MOVING = (".png", ".webp", ".gif")  # may hold more than one frame
ORIENTATION = 0x112  # of Exif
TURNS = dict(enumerate((
    Image.Transpose.FLIP_LEFT_RIGHT, Image.Transpose.ROTATE_180, Image.Transpose.FLIP_TOP_BOTTOM,
    Image.Transpose.TRANSPOSE, Image.Transpose.ROTATE_270, Image.Transpose.TRANSVERSE, Image.Transpose.ROTATE_90,
), 2))  # fmt: skip
DAMAGE = (
    OSError, SyntaxError, EOFError, ValueError, LookupError, TypeError, ArithmeticError, AttributeError,
    NotImplementedError, struct.error,
)  # fmt: skip


def read(name: str, kind: str, content: bytes, budget: Budget, most_frames: int) -> PictureFrames:
    """The first `most_frames` frames of a file called `name`, upright; `kind` is a key of FORMATS."""
    with budget.turns(), closing(_frames(name, kind, content, budget)) as frames:
        found = list(islice(frames, most_frames))
    seconds = [shown for _, shown in found]
    rate = len(found) / sum(seconds) if len(found) > 1 and min(seconds) > 0 else None
    return PictureFrames(np.stack([image for image, _ in found]), frame_rate(rate))


def _frames(name: str, kind: str, content: bytes, budget: Budget) -> Generator[tuple[np.ndarray, float]]:
    """(image (3, 32, 32), seconds it is shown for; 0 where the file does not tell), one at a time."""
    require_size(name, len(content))
    require_blocks(name, FORMATS[kind], content, lambda: budget.check(name))
    if kind == ".gif":
        require_canvas(name, content, lambda: budget.check(name))
    if kind == ".webp":
        require_pixels(name, *webp_size(content), MAX_MOVING_PIXELS)
        _take_turn(name, webp_size(content), budget)
    with damage_named(name, FORMATS[kind]):
        picture = Image.open(_Watched(name, content, budget), formats=[FORMATS[kind]])
    with picture:
        slow = bool(picture.tile) and picture.tile[0][0] == "bmp_rle"
        number = 0
        while _at(name, picture, kind, number):
            width, height = picture.size  # the frame's own: a GIF may grow on the way
            require_pixels(name, width, height, MAX_RLE_PIXELS if slow else MAX_PIXELS)
            if kind == ".png" and getattr(picture, "n_frames", 1) > 1:
                require_pixels(name, width, height, MAX_MOVING_PIXELS, MOVES)
            _take_turn(name, picture.size, budget)
            budget.spend(name, 3 * width * height)
            with damage_named(name, FORMATS[kind]):
                picture.load()
                image, seconds = small(upright(picture)), float(picture.info.get("duration") or 0) / 1000
            yield image, seconds
            number += 1


def _take_turn(name: str, size: tuple[int, int], budget: Budget) -> None:
    if size[0] * size[1] > LARGE_PIXELS:
        budget.wait_for_turn(name)


def _at(name: str, picture: Image.Image, kind: str, number: int) -> bool:
    """Go to frame `number`; False where there is none."""
    if number == 0 or kind not in MOVING:
        return number == 0
    with damage_named(name, FORMATS[kind]):
        try:
            picture.seek(number)
        except EOFError:
            return False
    return True


class _Watched(io.BytesIO):
    """A file in memory that asks the budget whenever a decoder reads on."""

    def __init__(self, name: str, content: bytes, budget: Budget) -> None:
        super().__init__(content)
        self.name, self.budget = name, budget

    def read(self, size: int | None = -1, /) -> bytes:
        self.budget.check(self.name)
        return super().read(size)


@contextmanager
def damage_named(name: str, kind: str, most: int = MAX_PIXELS) -> Iterator[None]:
    """Say a decoder's complaint as an error of this file; `most` is the number of pixels that is allowed."""
    try:
        yield
    except Stopped:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise ValueError(f"{name} has more than {most:,} pixels") from error
    except Image.UnidentifiedImageError as error:
        raise ValueError(f"{name} is damaged, cut short, or no {kind} picture") from error
    except DAMAGE as error:
        raise ValueError(f"{name} is damaged, cut short, or no {kind} picture ({said(error)})") from error


def upright(picture: Image.Image) -> Image.Image:
    """The picture as its camera was held; what else its Exif says, good, damaged or endless, does not matter."""
    if any(len(picture.info.get(key, "")) > MAX_EXIF for key in ("exif", "Raw profile type exif")):
        return picture
    try:
        held = picture.getexif().get(ORIENTATION)
    except DAMAGE:
        return picture
    return picture.transpose(TURNS[held]) if isinstance(held, int) and held in TURNS else picture


def coloured(picture: Image.Image) -> Image.Image:
    """The picture in RGB; 16 bits of grey are scaled, which `convert` would cut off."""
    if picture.mode.startswith("I"):
        picture = Image.fromarray((np.asarray(picture).clip(0, 65535) / 257).round().astype(np.uint8))
    return picture.convert("RGB")


def small(frame: Image.Image) -> np.ndarray:
    """(3, 32, 32) uint8. Shrunk across strip by strip, then down, as `resize` itself does it: no copy of all pixels."""
    width, height = frame.size
    side = min(width, height)
    left, top = (width - side) // 2, (height - side) // 2
    narrow = Image.new("RGB", (SIZE, side))
    for at in range(0, side, ROWS):
        strip = frame.crop((left, top + at, left + side, top + min(at + ROWS, side)))
        narrow.paste(coloured(strip).resize((SIZE, strip.height), Image.Resampling.BILINEAR), (0, at))
    return np.moveaxis(np.asarray(narrow.resize((SIZE, SIZE), Image.Resampling.BILINEAR)), -1, 0)
