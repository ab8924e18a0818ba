"""CIFAR-10-C: the official files, and our own pixels in fixed, seeded chunks.

`<corruption>.npy` is uint8 (5 N, 32, 32, 3), block s-1 = all N images at severity s; `labels.npy` is (5 N,).
Hendrycks & Dietterich, Benchmarking Neural Network Robustness to Common Corruptions and Perturbations, ICLR 2019.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from knob_core.corruptions import NAMES, corrupt
from knob_core.data import Images, Labels
from knob_core.data.pixels import to_bytes, to_unit
from knob_core.seeding import generator

SEVERITIES = (1, 2, 3, 4, 5)
CHUNK = 250  # images; the unit of seeding
PIXELS_VERSION = 1  # counts up whenever the same seed would give other pixels; part of the names of caches
PLACES = ("", "CIFAR-10-C", "cifar10c", "data/CIFAR-10-C")


def find(root: str | os.PathLike[str]) -> Path | None:
    """The folder at or under `root` that holds CIFAR-10-C files, if there is one."""
    return next((Path(root, place) for place in PLACES if Path(root, place, "labels.npy").is_file()), None)


def available(folder: str | os.PathLike[str]) -> tuple[str, ...]:
    """Which of the nineteen lie in `folder`, in their usual order."""
    return tuple(name for name in NAMES if Path(folder, f"{name}.npy").is_file())


def read(folder: str | os.PathLike[str], name: str, severity: int, count: int | None = None) -> tuple[Images, Labels]:
    """Images (N, 3, 32, 32) and labels (N,) of one corruption at one severity, the first `count` of them."""
    if name not in NAMES:
        raise ValueError(f"name is {name!r}, expected one of {', '.join(NAMES)}")
    if severity not in SEVERITIES:
        raise ValueError(f"severity is {severity!r}, expected one of {SEVERITIES}; the files hold no others")
    pixels = _open(Path(folder, f"{name}.npy"))
    labels = _open(Path(folder, "labels.npy"))
    if pixels.ndim != 4 or pixels.shape[1:] != (32, 32, 3) or pixels.dtype != np.uint8 or len(pixels) % 5:
        raise ValueError(f"{name}.npy in {folder} is {pixels.dtype} {pixels.shape}, expected uint8 (5 N, 32, 32, 3)")
    if labels.shape != pixels.shape[:1] or labels.dtype.kind not in "iu":
        raise ValueError(f"labels.npy in {folder} is {labels.dtype} {labels.shape}, expected integers ({len(pixels)},)")
    n = len(pixels) // 5
    if count is not None and not 1 <= count <= n:
        raise ValueError(f"count is {count!r}, expected 1 to {n}")
    block = slice((int(severity) - 1) * n, (int(severity) - 1) * n + (count or n))
    return np.ascontiguousarray(pixels[block].transpose(0, 3, 1, 2)), labels[block].astype(np.int64)


def _open(path: Path) -> NDArray[np.generic]:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path}: not a whole NumPy file ({error})") from error
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{path}: a NumPy archive, expected one array")
    return array


def chunks(
    images: Images,
    name: str,
    severity: float,
    seed: int = 0,
    device: str | torch.device = "cpu",
    start: int = 0,
    count: int | None = None,
    first: int = 0,
) -> Iterator[Images]:
    """The corrupted images, at most CHUNK at a time, from chunk number `start` on, the first `count` images of all.

    A chunk's noise depends on the seed, the corruption and the chunk's place alone, and chunks are always rendered
    whole: fewer images or a shorter count give the same pixels, and every severity has the same noise. `first`, a
    multiple of CHUNK, is the place of images[0] where they are a part of a larger set.
    """
    if first < 0 or first % CHUNK:
        raise ValueError(f"first is {first!r}, expected a multiple of {CHUNK}")
    count = len(images) if count is None else count
    if not 1 <= count <= len(images):
        raise ValueError(f"count is {count!r}, expected 1 to {len(images)}")
    for chunk in range(start, -(-count // CHUNK)):
        places = np.minimum(chunk * CHUNK + np.arange(CHUNK), len(images) - 1)  # a short chunk is filled with its last
        clean = to_unit(images[places], device)
        noise = generator(clean.device, seed, "cifar10c", name, chunk + first // CHUNK)
        yield to_bytes(corrupt(clean, name, severity, noise))[: count - chunk * CHUNK]


def make(
    images: Images,
    name: str,
    severity: float,
    seed: int = 0,
    device: str | torch.device = "cpu",
    count: int | None = None,
    first: int = 0,
) -> Images:
    """All of `chunks` together: the first `count` images under one corruption, (count, 3, H, W)."""
    return np.concatenate(list(chunks(images, name, severity, seed, device, count=count, first=first)))
