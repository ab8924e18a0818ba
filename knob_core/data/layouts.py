"""The three ways CIFAR-10 lies on a disk, each read into verified records.

A record is the official binary one, label byte then 32x32 planes R, G, B: a batch is (10000, 3073) bytes of known MD5.
Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009.
"""

from __future__ import annotations

import hashlib
import pickletools
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knob_core import files
from knob_core._extras import needed_for

SIDE = 32
PIXELS = 3 * SIDE * SIDE
PER_BATCH = 10_000
BATCHES = {"train": tuple(f"data_batch_{k}" for k in range(1, 6)), "test": ("test_batch",)}

RECORD_MD5 = {  # of the official .bin files
    "data_batch_1": "5dd7e06a14cb22eb9f671a540d1b7c25",
    "data_batch_2": "5ea93a67294ea407fff1d09f752e9692",
    "data_batch_3": "942cd6a4bcdd0dd3c604fbe906cb4421",
    "data_batch_4": "ae636b3ba5c66a11e91e8cb52e771fcb",
    "data_batch_5": "53f37980c15c3d472c316c40844f3f0d",
    "test_batch": "803d5f7f4d78ea53de84dbe85f74fb6d",
}
PICKLE_MD5 = {  # of the official Python batches, as torchvision lists them
    "data_batch_1": "c99cafc152244af753f735de768cd75f",
    "data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
    "data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
    "data_batch_4": "634d18415352ddfa80567beed471001a",
    "data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
    "test_batch": "40351d587109b95175f43aff81a1287e",
}
GRID_COLUMNS, GRID_IMAGES = 100, 5_000  # of the lossless WebP grids

Records = NDArray[np.uint8]  # (PER_BATCH, 1 + PIXELS)
Reader = Callable[[Path, str], Iterator[Records]]  # (directory, split) -> one verified batch after the other


def _verify(content: bytes | memoryview, expected: str, where: Path | str) -> None:
    found = hashlib.md5(content, usedforsecurity=False).hexdigest()
    if found != expected:
        raise ValueError(f"{where}: MD5 is {found}, CIFAR-10's is {expected}; truncated, damaged or other data")


def read_binary(directory: Path, split: str) -> Iterator[Records]:
    """`data_batch_1.bin` ... `data_batch_5.bin`, `test_batch.bin`."""
    for batch in BATCHES[split]:
        path = directory / f"{batch}.bin"
        content = path.read_bytes()
        _verify(content, RECORD_MD5[batch], path)
        yield np.frombuffer(content, np.uint8).reshape(PER_BATCH, 1 + PIXELS)


def read_pickled(directory: Path, split: str) -> Iterator[Records]:
    """`data_batch_1` ... `test_batch` in torchvision's layout: the opcodes are listed, nothing is unpickled."""
    for batch in BATCHES[split]:
        path = directory / batch
        content = path.read_bytes()
        _verify(content, PICKLE_MD5[batch], path)
        yield _records_from_opcodes(content, path)


def _records_from_opcodes(content: bytes, path: Path) -> Records:
    """The pixels are the one string of their size, the labels the integers from the key `labels` to the next key."""
    labels: list[int] = []
    pixels: bytes | None = None
    in_labels = False
    for opcode, argument, _ in pickletools.genops(content):
        if isinstance(argument, str):  # Python 2 strings arrive as latin-1 text
            in_labels = argument == "labels"
            if len(argument) == PER_BATCH * PIXELS:
                pixels = argument.encode("latin-1")
        elif in_labels and opcode.name == "BININT1":
            labels.append(int(argument))  # type: ignore[arg-type]
    if pixels is None or len(labels) != PER_BATCH:
        raise ValueError(f"{path}: holds {len(labels)} labels where a CIFAR-10 batch has {PER_BATCH}")
    planes = np.frombuffer(pixels, np.uint8).reshape(PER_BATCH, PIXELS)
    return np.concatenate([np.array(labels, np.uint8)[:, None], planes], axis=1)


def read_grids(directory: Path, split: str) -> Iterator[Records]:
    """`train_00.webp` ... `test_01.webp`, lossless, 5,000 images each, with `train_labels.npy`, `test_labels.npy`."""
    labels = read_labels(directory / f"{split}_labels.npy", PER_BATCH * len(BATCHES[split]))
    grids = PER_BATCH // GRID_IMAGES  # two grids make one batch
    for index, batch in enumerate(BATCHES[split]):
        paths = [directory / f"{split}_{index * grids + k:02d}.webp" for k in range(grids)]
        planes = np.concatenate([read_grid(path, GRID_IMAGES) for path in paths]).reshape(PER_BATCH, PIXELS)
        records = np.concatenate([labels[index * PER_BATCH : (index + 1) * PER_BATCH, None], planes], axis=1)
        _verify(records.data, RECORD_MD5[batch], " + ".join(str(path) for path in paths) + " with their labels")
        yield records


def read_labels(path: Path, count: int) -> NDArray[np.uint8]:
    """One class number a byte, (count,)."""
    try:
        labels = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path}: not a NumPy file of labels ({error})") from error
    if labels.shape != (count,) or labels.dtype != np.uint8:
        raise ValueError(f"{path}: labels are {labels.dtype} {labels.shape}, expected uint8 ({count},)")
    return labels


def read_grid(path: Path, count: int) -> NDArray[np.uint8]:
    """A picture of 100 images a row -> (count, 3, 32, 32)."""
    with needed_for(f"reading {path.name}"):
        from PIL import Image
    rows = -(-count // GRID_COLUMNS)
    size = (GRID_COLUMNS * SIDE, rows * SIDE)  # (width, height)
    try:
        with Image.open(path, formats=["WEBP"]) as picture:
            if picture.size != size:  # known before anything is decoded
                raise ValueError(f"{path}: the grid is {picture.size} pixels, expected {size}")
            pixels = np.asarray(picture.convert("RGB"))  # (H, W, 3)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ValueError(f"{path}: not a readable WebP grid ({error})") from error
    tiles = pixels.reshape(rows, SIDE, GRID_COLUMNS, SIDE, 3).transpose(0, 2, 4, 1, 3)
    return np.ascontiguousarray(tiles.reshape(-1, 3, SIDE, SIDE)[:count])


def write_grid(path: Path, images: NDArray[np.uint8], method: int = 6) -> None:
    """(N, 3, 32, 32) -> a lossless WebP of 100 images a row, whole; N a multiple of 100; method 0 is quick, 6 small."""
    rows = len(images) // GRID_COLUMNS
    from PIL import Image

    tiles = images.reshape(rows, GRID_COLUMNS, 3, SIDE, SIDE).transpose(0, 3, 1, 4, 2)
    picture = Image.fromarray(np.ascontiguousarray(tiles.reshape(rows * SIDE, GRID_COLUMNS * SIDE, 3)))
    with files.replacing(path) as temporary:
        picture.save(temporary, format="WEBP", lossless=True, quality=100 if method else 0, method=method, exact=True)


LAYOUTS: dict[str, tuple[Callable[[str], str], Reader]] = {  # the file that gives a layout away, and its reader
    "binary": (lambda split: f"{BATCHES[split][0]}.bin", read_binary),
    "python": (lambda split: BATCHES[split][0], read_pickled),
    "grids": (lambda split: f"{split}_00.webp", read_grids),
}
