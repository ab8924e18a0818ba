"""Read uploaded pictures: a zip, some files, one animated file or video, as 32 x 32 frames in the order of their names.

The middle square of each picture is shrunk with antialiasing, as `knob_core.runtime.frames` does. A zip may hold a
labels.csv with lines `file,label`.
"""

from __future__ import annotations

import io
import re
import struct
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np
from PIL import Image, ImageOps, ImageSequence

from knob_core.uploads import archive, video
from knob_core.uploads.limits import MAX_ALL_PIXELS, MAX_PICTURES, MAX_PIXELS, MAX_UNPACKED, require_size, short

SIZE = 32  # pixels
FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP", ".bmp": "BMP", ".gif": "GIF"}
KINDS = (*FORMATS, *video.CONTAINERS)
DAMAGE = (
    OSError,
    SyntaxError,
    EOFError,
    ValueError,
    LookupError,
    TypeError,
    ArithmeticError,
    MemoryError,
    struct.error,
)


@dataclass(frozen=True)
class Pictures:
    """One stream of T frames."""

    images: np.ndarray  # (T, 3, 32, 32) uint8
    names: tuple[str, ...]  # of the files, in order
    labels: np.ndarray  # (T,) class, -1 where unknown


def read_pictures(files: Sequence[tuple[str, bytes]], classes: Sequence[str] = ()) -> Pictures:
    """Frames of (name, bytes) files: one zip, one moving picture, or many stills; labels by number or class name."""
    zips = [file for file in files if PurePosixPath(file[0]).suffix.lower() == ".zip"]
    if zips and len(files) > 1:
        raise ValueError(f"{short(zips[0][0])} is one of {len(files)} files, expected a zip alone")
    if zips:
        files = list(archive.members(*zips[0]))
    if sum(len(content) for _, content in files) > MAX_UNPACKED:
        raise ValueError(f"the pictures have more than {MAX_UNPACKED:,} bytes together")
    tables = [content for name, content in files if PurePosixPath(name).name == "labels.csv"]
    if len(tables) > 1:
        raise ValueError(f"there are {len(tables)} files called labels.csv, expected one at most")
    stills = sorted((f for f in files if PurePosixPath(f[0]).name != "labels.csv"), key=lambda f: natural(f[0]))
    if not stills:
        raise ValueError("there is no picture, expected at least one")
    images: list[np.ndarray] = []  # (3, 32, 32) each
    names, pixels = [], 0
    for name, content in stills:
        for frame in _frames(name, content):
            pixels += frame.width * frame.height
            if len(images) == MAX_PICTURES or pixels > MAX_ALL_PIXELS:
                raise ValueError(
                    f"{short(name)}: there are more than {MAX_PICTURES:,} frames or {MAX_ALL_PIXELS:,} pixels in all, "
                    "expected a shorter or smaller film"
                )
            images.append(_small(frame))
            names.append(name)
    labels = _labels(tables, names, classes) if tables else np.full(len(images), -1)
    return Pictures(np.stack(images), tuple(names), labels)


def natural(name: str) -> list[tuple[int, int | str]]:
    """A key that puts frame2 before frame10."""
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in re.split(r"(\d{1,18})", name) if part]


def _frames(name: str, content: bytes) -> Iterator[Image.Image]:
    kind, name = PurePosixPath(name).suffix.lower(), short(name)
    if kind not in KINDS:
        raise ValueError(f"{name} is a {kind[:10] or 'nameless'} file, expected one of {', '.join(KINDS)}")
    if kind in video.CONTAINERS:
        yield from video.frames(name, kind, content)
        return
    require_size(name, len(content))
    broken = f"{name} is damaged, cut short, or no {FORMATS[kind]} picture"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # our own limit is lower
        try:
            picture = Image.open(io.BytesIO(content), formats=[FORMATS[kind]])
        except Image.DecompressionBombError as error:
            raise ValueError(f"{name} has more than {MAX_PIXELS:,} pixels ({error})") from error
        except DAMAGE as error:
            raise ValueError(f"{broken} ({str(error)[:120]})") from error
    with picture:
        width, height = picture.size
        if width * height > MAX_PIXELS:
            raise ValueError(f"{name} has {width} x {height} pixels, expected at most {MAX_PIXELS:,}")
        frames = ImageSequence.Iterator(picture)
        while True:
            try:
                frame = next(frames)
                frame.load()
                upright = ImageOps.exif_transpose(frame) if kind in (".jpg", ".jpeg") else frame
            except StopIteration:
                return
            except DAMAGE as error:
                raise ValueError(f"{broken} ({str(error)[:120]})") from error
            yield upright


def _small(frame: Image.Image) -> np.ndarray:
    """(3, 32, 32) uint8."""
    width, height = frame.size
    side = min(width, height)
    left, top = (width - side) // 2, (height - side) // 2
    if frame.mode.startswith("I"):  # 16 bits of grey, which `convert` would cut off instead of scaling
        frame = Image.fromarray((np.asarray(frame).clip(0, 65535) / 257).round().astype(np.uint8))
    square = frame.convert("RGB").crop((left, top, left + side, top + side))
    small = square.resize((SIZE, SIZE), Image.Resampling.BILINEAR)
    return np.moveaxis(np.asarray(small), -1, 0)


def _labels(tables: list[bytes], names: list[str], classes: Sequence[str]) -> np.ndarray:
    try:
        lines = tables[0].decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"labels.csv is not UTF-8 text: byte {tables[0][error.start]:#04x} at {error.start}"
        ) from error
    known: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        file, comma, label = (part.strip() for part in line.rpartition(","))
        if not line.strip() or (number == 1 and label.lower() == "label"):
            continue
        value = classes.index(label) if label in classes else int(label) if re.fullmatch(r"\d{1,6}", label) else None
        if not comma or value is None or (classes and value >= len(classes)):
            raise ValueError(
                f"labels.csv, line {number}: {line[:60]!r}, expected `file,label` with a class name or number"
            )
        if file in known:
            raise ValueError(f"labels.csv, line {number}: {file[:60]!r} has a label already")
        known[file] = value
    found = [known.get(name, known.get(PurePosixPath(name).name, -1)) for name in names]
    if max(found) < 0:
        raise ValueError("labels.csv names none of the pictures")
    return np.array(found)
