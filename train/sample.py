"""Make the sample of test images that ships: the first 100 of every class, kept in test order.

python -m train.sample [--data DIR] [--out DIR]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from knob_core import files
from knob_core.data import CLASSES, SAMPLE, Images, Labels, load_cifar10, sample_digest
from knob_core.data.layouts import write_grid
from train import commands

PER_CLASS = 100


def choose(labels: Labels) -> Labels:
    """Places of the first 100 images of every class, ascending, (1000,)."""
    return np.sort(np.concatenate([np.flatnonzero(labels == k)[:PER_CLASS] for k in range(len(CLASSES))]))


def write(out: Path, images: Images, labels: Labels, indices: Labels) -> None:
    """`images.webp`, then `sample.json`, each replaced whole."""
    listing = {
        "rule": f"the first {PER_CLASS} images of every class of the CIFAR-10 test split, in test order",
        "sha256": sample_digest(images, labels, indices),
        "indices": indices.tolist(),
        "labels": labels.tolist(),
    }
    write_grid(out / "images.webp", images)
    files.write_text(out / "sample.json", json.dumps(listing) + "\n")


def work(directory: Path | None, out: Path) -> None:
    images, labels = load_cifar10(directory, split="test")
    indices = choose(labels)
    write(out, images[indices], labels[indices], indices)
    print(f"{len(indices)} images in {out}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = commands.parser("train.sample", __doc__)
    parser.add_argument(
        "--data", type=commands.path, metavar="DIR", help="where CIFAR-10 lies (default: KNOB_DATA, ./data)"
    )
    parser.add_argument("--out", metavar="DIR", type=commands.out_folder, default=SAMPLE, help="default: %(default)s")
    given = parser.parse_args(arguments)
    return commands.run("train.sample", lambda: work(given.data, given.out))


if __name__ == "__main__":
    sys.exit(main())
