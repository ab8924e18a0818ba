"""Flip probability on perturbation sequences, as CIFAR-10-P measures it: `python -m train.flips [CHECKPOINT ...]`.

The bare networks: every frame by itself, through the settled gate, no memory. Writes assets/results/flips.csv, one row
for each model and perturbation, with its error over pictures. 10,000 pictures are 2.9 million frames an encoder, at a
millisecond each on one thread of width 16.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from tqdm import tqdm

from knob_core import data, perturbations, seeding
from knob_core.data import Images
from knob_core.data.pixels import to_unit
from knob_core.library import result_tables
from knob_core.metrics import clustered
from train import commands
from train.measuring import branch_outputs, cell_metrics
from train.measuring.branch_outputs import Member

CHUNK = 50  # pictures at a time, and the unit of seeding
COUNT = 1000


def measure(members: Sequence[Member], images: Images, first: int = 0, seed: int = 0) -> list[dict[str, Any]]:
    """Rows of every model and perturbation; `first` is the place of images[0] in the test split."""
    found: dict[tuple[str, str], list[np.ndarray]] = {}
    starts = range(0, len(images), CHUNK)
    with tqdm([(name, start) for name in perturbations.NAMES for start in starts], disable=None) as bar:
        for name, start in bar:
            part = to_unit(images[start : start + CHUNK])
            noise = seeding.generator("cpu", seed, "perturbations", name, first + start)
            frames = perturbations.perturb(part, name, noise)  # (N, T, 3, 32, 32)
            outputs = branch_outputs.compute(members, frames.flatten(0, 1))
            for member in members:
                answers = cell_metrics.says(member, outputs[member.branches]).argmax(1)
                flips = perturbations.flips(answers.reshape(frames.shape[:2]), name)
                found.setdefault((member.name, name), []).append(flips)
    rows = []
    for member in members:
        each = {name: np.concatenate(found[member.name, name]) for name in perturbations.NAMES}
        each["mean"] = np.mean(list(each.values()), 0)
        for name, flips in each.items():
            value, error = clustered.mean(flips)
            who = {"method": member.title, "seed": member.seed, "perturbation": name}
            rows.append({**who, "pictures": len(flips), "flip_probability": value, "error": error})
    return rows


def work(args: argparse.Namespace) -> None:
    members = branch_outputs.load(branch_outputs.find(args.checkpoints))
    images, labels = data.load_cifar10(args.data, "test")
    part = commands.checked_range(args.first, args.count, len(labels), CHUNK)
    started = time.monotonic()
    rows = measure(members, images[part], args.first, args.seed)
    frame = result_tables.write(rows, args.out)
    print(frame.pivot_table("flip_probability", "perturbation", "method", sort=False).round(4).to_string())
    seconds = time.monotonic() - started
    print(f"{len(members)} models, {args.count} pictures from {args.first} on, {seconds:.0f} s: {args.out}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = commands.parser("train.flips", __doc__)
    commands.add_checkpoints(parser)
    parser.add_argument(
        "--data", type=commands.path, metavar="DIR", help="where CIFAR-10 lies (default: KNOB_DATA, ./data)"
    )
    parser.add_argument("--first", type=int, default=0, metavar="PLACE", help="of the first test image (default: 0)")
    parser.add_argument("--count", type=int, default=COUNT, metavar="N", help="test images (default: %(default)s)")
    parser.add_argument("--seed", type=commands.seed, default=0, help="of the noise (default: %(default)s)")
    parser.add_argument("--out", type=commands.out_file, default=result_tables.RESULTS / "flips.csv", metavar="FILE")
    args = parser.parse_args(arguments)
    return commands.run("train.flips", lambda: work(args))


if __name__ == "__main__":
    sys.exit(main())
