"""Measure checkpoints on CIFAR-10-C: `python -m train.evaluate [CHECKPOINT ...]`; writes assets/results.

19 corruptions x 5 severities and clean: accuracy, NLL, Brier, ECE, debiased ECE of every output and its plain rivals,
with errors over pictures and paired differences; probes E-1 and E-2. `--first 2000 --count 8000` is the range that
train/PROTOCOL.md keeps for models that were frozen before.
Goes on where it was stopped. Several processes share the work: `torchrun --nproc-per-node=N -m train.evaluate`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from knob_core import checkpoint, data, files
from knob_core.corruptions import NAMES
from knob_core.data import cifar10c
from knob_core.library import result_tables
from train import commands
from train.measuring import branch_outputs, cell_metrics, comparison_tables, probe_tables
from train.measuring.branch_cache import BranchCache, fill_all
from train.measuring.branch_outputs import Member
from train.measuring.cell_images import CLEAN, HELD_OUT, CellPixels, HeldOutPixels
from train.measuring.picture_scores import PictureScores
from train.training import distributed, histories, recipes

COUNT = 2000  # test images
RUNS = Path("runs")  # of training
HELD_OUT_COUNT = 2000  # the last training images, which the recipes never train on
TABLES = ("cells", "temperatures", "plain_rivals", "errors", "differences", *probe_tables.TABLES)


def evaluate(
    members: Sequence[Member], test: CellPixels, held_out: HeldOutPixels, out: Path, test_cache: BranchCache,
    held_out_cache: BranchCache,
) -> None:  # fmt: skip
    """All tables from filled caches, whose arrays lie on the CPU."""
    for member in members:
        member.model.cpu()
    tables: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    scored: dict[tuple[str, int], dict[str, dict[str, PictureScores]]] = {}
    with tqdm(members, unit="model", disable=None, dynamic_ncols=True) as bar:
        for member in bar:
            bar.set_postfix_str(member.name)
            who = {"method": member.title, "seed": member.seed}
            fitted = cell_metrics.fit(member, held_out_cache, held_out)
            for (output, fitted_on), value in fitted.temperatures.items():
                tables["temperatures"].append({**who, "output": output, "fitted_on": fitted_on, "temperature": value})
            if fitted.plain is not None:
                tables["plain_rivals"].append({**who, **asdict(fitted.plain)})
            rows, scored[member.title, member.seed] = cell_metrics.measure(member, test_cache, test, fitted)
            tables["cells"] += rows
            if member.gated:
                for name, rows in probe_tables.probes(member, test_cache, test).items():
                    tables[name] += rows
    tables["errors"] += comparison_tables.errors(scored)
    tables["differences"] += comparison_tables.differences(scored)
    for name, rows in tables.items():
        if rows:
            result_tables.write(rows, out / f"{name}.csv")
    result_tables.write(cell_metrics.summarise(result_tables.read(out / "cells.csv")), out / "summary.csv")
    note = {
        "images": len(test.labels),
        "first_image": test.first,
        "held_out_images": len(held_out.labels),
        "pixels": "official CIFAR-10-C files" if test.official else "our own corruptions",
        "noise_seed": test.seed,
        "models": {m.name: {"width": m.model.width, "branches": m.branches, **_knobs(m)} for m in members},
        "torch": torch.__version__.split("+")[0],
    }
    files.write_text(out / "evaluation.json", json.dumps(note, indent=1) + "\n")


def _knobs(member: Member) -> dict[str, float]:
    knobs = getattr(member.model, "knobs", None)
    return {} if knobs is None else {"zeta": round(knobs.zeta, 6), "omega_n": round(knobs.omega_n, 6)}


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = commands.parser("train.evaluate", __doc__)
    commands.add_checkpoints(parser)
    parser.add_argument(
        "--data", type=commands.path, metavar="DIR", help="where CIFAR-10 lies (default: KNOB_DATA, ./data)"
    )
    parser.add_argument("--cifar10c", metavar="DIR", help="official CIFAR-10-C files; default: our own corruptions")
    parser.add_argument("--first", type=int, default=0, metavar="PLACE", help="of the first test image (default: 0)")
    parser.add_argument("--count", type=int, default=COUNT, metavar="N", help="test images (default: %(default)s)")
    parser.add_argument(
        "--only", nargs="+", action=commands.Several, metavar="NAME", choices=NAMES, default=NAMES,
        help="some of the nineteen",
    )  # fmt: skip
    parser.add_argument("--seed", type=commands.seed, default=0, help="of our own noise (default: %(default)s)")
    parser.add_argument("--device", type=commands.device, default="auto", help="auto, cpu, cuda, cuda:1, ...")
    parser.add_argument("--out", type=commands.out_folder, metavar="DIR", help="default: assets/results")
    parser.add_argument(
        "--runs", type=commands.out_folder, metavar="DIR",
        help="training histories, and branch outputs that are kept; default: runs, but in --out where that is given",
    )  # fmt: skip
    args = parser.parse_args(arguments)
    args.cache = (args.runs or args.out or RUNS) / "evaluation"
    args.out, args.runs = args.out or result_tables.RESULTS, args.runs or RUNS
    return args


def official(root: str | None) -> Path | None:
    if root is None:
        return None
    found = cifar10c.find(root)
    if found is None:
        raise FileNotFoundError(f"no CIFAR-10-C (labels.npy and 19 .npy files) at or under {root}")
    lacking = sorted(set(NAMES) - set(cifar10c.available(found)))
    if lacking:
        raise FileNotFoundError(f"{found} lacks {', '.join(f'{name}.npy' for name in lacking)}")
    return found


def require_held_out(paths: Sequence[Path]) -> None:
    """Refuse a model that may have been trained on pictures that temperatures and constants are fitted on."""
    for path in paths:
        count = recipes.held_out(checkpoint.read_header(path))
        if count is not None and count < HELD_OUT_COUNT:
            said = f"{path} held out the last {count} training pictures, expected at least {HELD_OUT_COUNT}"
            raise commands.WrongArgument(f"{said}: temperatures are fitted on them")


def work(args: argparse.Namespace) -> None:
    paths = branch_outputs.find(args.checkpoints)
    require_held_out(paths)
    device = distributed.own_device(args.device)
    rank, world = distributed.start(device)
    members = branch_outputs.load(paths, device)
    images, labels = data.load_cifar10(args.data, "test")
    least = 2  # an error over pictures takes two
    part = commands.checked_range(args.first, args.count, len(labels), cifar10c.CHUNK, least)
    here = str(device)
    units = (CLEAN, *args.only)
    test = CellPixels(images[part], labels[part], args.seed, official(args.cifar10c), here, units, args.first)
    images, labels = data.load_cifar10(args.data, "train")
    last = slice(len(labels) - HELD_OUT_COUNT, None)
    held_out = HeldOutPixels(np.ascontiguousarray(images[last]), labels[last], args.seed, here)
    test_cache, held_out_cache = BranchCache(args.cache, test, members), BranchCache(args.cache, held_out, members)
    started = time.monotonic()
    fill_all([(test_cache, test.units), (held_out_cache, HELD_OUT)], rank, world)
    if rank == 0:
        ran = time.monotonic()
        evaluate(members, test, held_out, args.out, test_cache, held_out_cache)
        learning = histories.gather(args.runs)
        if learning is not None:
            result_tables.write(learning, args.out / "learning.csv")
        seconds = f"{ran - started:.0f} s for branch outputs, {time.monotonic() - ran:.0f} s for tables"
        print(f"{len(members)} models x {len(test.units)} units x {args.count} images from {args.first} on: {args.out}")
        print(seconds)


def main(arguments: Sequence[str] | None = None) -> int:
    args = parse(arguments)
    return commands.run("train.evaluate", lambda: work(args))


if __name__ == "__main__":
    sys.exit(main())
