"""Decode one uploaded picture file, still or moving, frame by frame, as small squares that the models see.

The middle square of each frame is shrunk to 32 x 32 with antialiasing, as `knob_core.runtime.frames` does.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

import numpy as np
from PIL import Image, ImageOps

from knob_core.uploads.budget import Budget, Stopped
from knob_core.uploads.limits import MAX_PIXELS, MAX_RLE_PIXELS, require_size, said
from knob_core.uploads.picture_blocks import require_blocks
from knob_core.uploads.picture_frames import PictureFrames, frame_rate
from knob_core.uploads.picture_sizes import require_canvas, require_pixels

SIZE = 32  # pixels
ROWS = 64  # that are converted at a time
FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP", ".bmp": "BMP", ".gif": "GIF"}
MOVING = (".png", ".webp", ".gif")  # may hold more than one frame
DAMAGE = (
    OSError, SyntaxError, EOFError, ValueError, LookupError, TypeError, ArithmeticError, AttributeError,
    NotImplementedError, struct.error,
)  # fmt: skip


def read(name: str, kind: str, content: bytes, budget: Budget, most_frames: int) -> PictureFrames:
    """The first `most_frames` frames of a file called `name`, upright; `kind` is a key of FORMATS."""
    found = list(islice(_frames(name, kind, content, budget), most_frames))
    seconds = [shown for _, shown in found]
    rate = len(found) / sum(seconds) if len(found) > 1 and min(seconds) > 0 else None
    return PictureFrames(np.stack([image for image, _ in found]), frame_rate(rate))


def _frames(name: str, kind: str, content: bytes, budget: Budget) -> Iterator[tuple[np.ndarray, float]]:
    """(image (3, 32, 32), seconds it is shown for; 0 where the file does not tell), one at a time."""
    require_size(name, len(content))
    require_blocks(name, FORMATS[kind], content, lambda: budget.check(name))
    if kind == ".gif":
        require_canvas(name, content, lambda: budget.check(name))
    with damage_named(name, FORMATS[kind]):
        picture = Image.open(_Watched(name, content, budget), formats=[FORMATS[kind]])
    with picture:
        slow = bool(picture.tile) and picture.tile[0][0] == "bmp_rle"
        number = 0
        while _at(name, picture, kind, number):
            width, height = picture.size  # the frame's own: a GIF may grow on the way
            require_pixels(name, width, height, MAX_RLE_PIXELS if slow else MAX_PIXELS)
            budget.spend(name, 3 * width * height)
            with damage_named(name, FORMATS[kind]):
                picture.load()
                if FORMATS[kind] == "JPEG":
                    ImageOps.exif_transpose(picture, in_place=True)
                image, seconds = small(picture), float(picture.info.get("duration") or 0) / 1000
            yield image, seconds
            number += 1


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


def small(frame: Image.Image) -> np.ndarray:
    """(3, 32, 32) uint8."""
    width, height = frame.size
    side = min(width, height)
    left, top = (width - side) // 2, (height - side) // 2
    square = frame.crop((left, top, left + side, top + side))
    if square.mode.startswith("I"):  # 16 bits of grey, which `convert` would cut off instead of scaling
        square = Image.fromarray(_eight_bits(np.asarray(square)))
    shrunk = square.convert("RGB").resize((SIZE, SIZE), Image.Resampling.BILINEAR)
    return np.moveaxis(np.asarray(shrunk), -1, 0)


def _eight_bits(grey: np.ndarray) -> np.ndarray:
    """(H, W) of 16 bits in 8, some rows at a time: as floats, a large picture would take gigabytes."""
    small = np.empty(grey.shape, np.uint8)
    for top in range(0, len(grey), ROWS):
        small[top : top + ROWS] = (grey[top : top + ROWS].clip(0, 65535) / 257).round()
    return small
