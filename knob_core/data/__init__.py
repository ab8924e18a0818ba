"""CIFAR-10 from wherever it lies, and the sample of it that ships.

Images are uint8 (N, 3, 32, 32), labels int64 (N,), in the official order; every load verifies the official checksums.
Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knob_core.assets import ASSETS, IN_CLONE, ROOT, advice
from knob_core.data.layouts import BATCHES, LAYOUTS, PER_BATCH, PIXELS, SIDE, Reader, read_grid

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
MEAN = (0.4914, 0.4822, 0.4465)  # of the training images in [0, 1], by channel
STD = (0.2470, 0.2435, 0.2616)

Images = NDArray[np.uint8]  # (N, 3, 32, 32)
Labels = NDArray[np.int64]  # (N,)

PLACES = ("", "cifar10", "cifar-10-batches-bin", "cifar-10-batches-py", "data/cifar10")  # looked at under every root
SAMPLE = ASSETS / "sample"
DOWNLOAD_TIMEOUT = 30.0  # seconds without a byte


def load_cifar10(
    root: str | os.PathLike[str] | None = None, split: str = "train", download: bool = False
) -> tuple[Images, Labels]:
    """All images and labels of a split, from `root`, or else KNOB_DATA, ./data, the project's data/.

    With `download`, and where none of them holds the data, torchvision's archive is fetched into the first of these.
    """
    if split not in BATCHES:
        raise ValueError(f"split is {split!r}, expected one of {', '.join(map(repr, BATCHES))}")
    roots = [Path(root)] if root is not None else _default_roots()
    found = _find(roots, split)
    if found is None and download:
        _download(roots[0])
        found = _find(roots, split)
    if found is None:
        raise FileNotFoundError(_three_ways(roots, split))
    directory, reader = found
    count = PER_BATCH * len(BATCHES[split])
    images = np.empty((count, PIXELS), np.uint8)
    labels = np.empty(count, np.int64)
    for index, records in enumerate(reader(directory, split)):
        block = slice(index * PER_BATCH, (index + 1) * PER_BATCH)
        labels[block], images[block] = records[:, 0], records[:, 1:]
    return images.reshape(count, 3, SIDE, SIDE), labels


def load_sample() -> tuple[Images, Labels, Labels]:
    """The 1,000 test images that ship, 100 a class: images, labels, and their places in the test split (N,)."""
    if not (SAMPLE / "sample.json").is_file():
        raise FileNotFoundError(f"{SAMPLE / 'sample.json'} is missing; {advice('python -m train.sample')}")
    listing = json.loads((SAMPLE / "sample.json").read_text(encoding="utf-8"))
    labels, indices = (np.array(listing[key], np.int64) for key in ("labels", "indices"))
    images = read_grid(SAMPLE / "images.webp", len(indices))
    if sample_digest(images, labels, indices) != listing["sha256"]:
        raise ValueError(
            f"{SAMPLE}: images or list are damaged; restore them, or make them anew: python -m train.sample"
        )
    return images, labels, indices


def sample_digest(images: Images, labels: Labels, indices: Labels) -> str:
    """SHA-256 of the sample's pixels, labels and indices, in this order."""
    digest = hashlib.sha256(np.ascontiguousarray(images).data)
    for numbers in (labels, indices):
        digest.update(numbers.astype("<i8").tobytes())
    return digest.hexdigest()


def _default_roots() -> list[Path]:
    named = os.environ.get("KNOB_DATA")
    return [*([Path(named)] if named else []), Path("data"), *([ROOT / "data"] if IN_CLONE else [])]


def _find(roots: list[Path], split: str) -> tuple[Path, Reader] | None:
    for root in roots:
        for place in PLACES:
            for telltale, reader in LAYOUTS.values():
                if (root / place / telltale(split)).is_file():
                    return root / place, reader
    return None


def _three_ways(roots: list[Path], split: str) -> str:
    return (
        f"CIFAR-10 ({split}) was not found under {', '.join(str(root) for root in roots)}. Three ways to have it:\n"
        "  1. point to it: --data DIR or the environment variable KNOB_DATA, where DIR holds the official binary\n"
        "     files (data_batch_1.bin ...), torchvision's cifar-10-batches-py/ or lossless grids (train_00.webp ...);\n"
        "  2. put one of these into ./data;\n"
        "  3. with a network, let torchvision download it: --download, or load_cifar10(download=True)."
    )


def _download(root: Path) -> None:
    from knob_core._torchvision import torchvision

    dataset = torchvision.datasets.CIFAR10
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(DOWNLOAD_TIMEOUT)  # urllib would wait for ever on a silent network
    try:
        root.mkdir(parents=True, exist_ok=True)
        torchvision.datasets.utils.download_and_extract_archive(
            dataset.url, str(root), filename=dataset.filename, md5=dataset.tgz_md5
        )
    except (OSError, RuntimeError) as error:
        reason = f"CIFAR-10 could not be downloaded from {dataset.url}: {error}"
        raise FileNotFoundError(f"{reason}\n{_three_ways([root], 'train')}") from error
    finally:
        socket.setdefaulttimeout(before)
