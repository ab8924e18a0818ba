"""Official CIFAR-10-C pixels beside ours, picture by picture: `python -m train.official_sample DIR [CHECKPOINT ...]`.

DIR has lossless grids `<corruption>.webp`, five rows of the first 100 test pictures, severity after severity, of
corruptions without chance. Writes assets/results/official.csv: for each model and corruption both accuracies and
NLLs, and the paired difference with its error over pictures.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from knob_core import data
from knob_core.corruptions import NAMES
from knob_core.data import Images, Labels, cifar10c
from knob_core.data.cifar10c import SEVERITIES
from knob_core.data.layouts import read_grid
from knob_core.library import result_tables
from knob_core.metrics import clustered
from train import commands
from train.measuring import branch_outputs, cell_metrics, picture_scores
from train.measuring.branch_outputs import Member

PICTURES = 100
ALL = "all"
SCORES = ("accuracy", "nll")


def official(folder: Path) -> dict[str, list[Images]]:
    """By corruption, one array (100, 3, 32, 32) for each severity."""
    found = {}
    for name in NAMES:
        path = folder / f"{name}.webp"
        if path.is_file():
            grid = read_grid(path, len(SEVERITIES) * PICTURES)
            found[name] = [grid[index * PICTURES : (index + 1) * PICTURES] for index in range(len(SEVERITIES))]
    if not found:
        raise FileNotFoundError(f"no <corruption>.webp of CIFAR-10-C in {folder}")
    return found


def compare(
    members: Sequence[Member], pixels: dict[str, list[Images]], images: Images, labels: Labels
) -> list[dict[str, Any]]:
    """One row for each model and corruption, and one over all: ours less official, paired by picture."""
    rows = []
    for member in members:
        each: dict[str, dict[str, np.ndarray]] = {}  # corruption -> score -> (2, N): official, ours
        for name, theirs in pixels.items():
            ours = [cifar10c.make(images, name, severity) for severity in SEVERITIES]
            cells = [[_score(member, part, labels) for part in source] for source in (theirs, ours)]
            each[name] = {
                score: np.array([np.mean([getattr(cell, score) for cell in source], 0) for source in cells])
                for score in SCORES
            }
        each[ALL] = {score: np.mean([found[score] for found in each.values()], 0) for score in SCORES}
        for name, found in each.items():
            row: dict[str, Any] = {"method": member.title, "seed": member.seed, "corruption": name}
            for score in SCORES:
                theirs_mean, ours_mean = found[score].mean(1)
                difference = clustered.mean(found[score][1] - found[score][0])
                row |= {f"official_{score}": theirs_mean, f"own_{score}": ours_mean,
                        f"{score}_difference": difference.value, f"{score}_error": difference.error}  # fmt: skip
            rows.append(row)
    return rows


def _score(member: Member, images: Images, labels: Labels) -> picture_scores.CellScores:
    branches = branch_outputs.compute([member], images)[member.branches]
    return picture_scores.score(cell_metrics.says(member, branches), labels)


def verdict(rows: Sequence[dict[str, Any]]) -> str:
    """In words, over all corruptions and models."""
    whole = [row for row in rows if row["corruption"] == ALL]
    parts = []
    for score in SCORES:
        found = [clustered.Estimate(row[f"{score}_difference"], row[f"{score}_error"]) for row in whole]
        apart = sum(estimate.sign != 0 for estimate in found)
        mean = float(np.mean([estimate.value for estimate in found]))
        parts.append(f"{score}: {mean:+.4f} on average, 95 % interval excludes 0 for {apart} of {len(found)} models")
    return "ours less official, " + "; ".join(parts)


def work(args: argparse.Namespace) -> None:
    members = branch_outputs.load(branch_outputs.find(args.checkpoints or [commands.CHECKPOINTS]))
    images, labels = data.load_cifar10(args.data, "test")
    rows = compare(members, official(args.folder), images[:PICTURES], labels[:PICTURES])
    frame = result_tables.write(rows, args.out)
    print(frame[frame["corruption"] == ALL].drop(columns="corruption").round(4).to_string(index=False))
    print(verdict(rows))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = commands.parser("train.official_sample", __doc__)
    parser.add_argument("folder", type=commands.path, metavar="DIR", help="with the official grids")
    parser.add_argument("checkpoints", nargs="*", type=commands.path, metavar="CHECKPOINT", help="default: what ships")
    parser.add_argument(
        "--data", type=commands.path, metavar="DIR", help="where CIFAR-10 lies (default: KNOB_DATA, ./data)"
    )
    parser.add_argument("--out", type=commands.out_file, default=result_tables.RESULTS / "official.csv", metavar="FILE")
    args = parser.parse_args(arguments)
    return commands.run("train.official_sample", lambda: work(args))


if __name__ == "__main__":
    sys.exit(main())
