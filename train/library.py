"""Make what ships for the console and measure streams: `python -m train.library [CHECKPOINT ...]`.

Writes assets/branches (1,000 sample images x 95 cells), assets/streams (controlled streams, and streams in which scenes
change) with assets/manifest.json, and the stream tables and probe E-3 in assets/results. Goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from knob_core import library
from knob_core.assets import ASSETS
from knob_core.library import result_tables
from train import commands
from train.measuring import branch_outputs, library_files, library_tables, scene_files
from train.measuring.library_branches import LibraryBranches
from train.training import distributed


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = commands.parser("train.library", __doc__)
    commands.add_checkpoints(parser)
    parser.add_argument("--device", type=commands.device, default="auto", help="auto, cpu, cuda, cuda:1, ...")
    parser.add_argument("--assets", type=commands.out_folder, default=ASSETS, metavar="DIR", help="default: assets")
    parser.add_argument(
        "--out", type=commands.out_folder, default=result_tables.RESULTS, metavar="DIR", help="default: assets/results"
    )
    parser.add_argument(
        "--runs", type=commands.out_folder, default=Path("runs"), metavar="DIR", help="where the cache lies"
    )
    parser.add_argument("--scenes", action="store_true", help="only the streams in which scenes change; the rest stays")
    return parser.parse_args(arguments)


def work(args: argparse.Namespace) -> None:
    device = distributed.own_device(args.device)
    rank, world = distributed.start(device)
    members = branch_outputs.load(branch_outputs.find(args.checkpoints), device)
    made = LibraryBranches(members, args.runs / "library")
    if args.scenes:
        made.fill_scenes(rank, world)
    else:
        made.fill(rank, world)
    if rank == 0:
        size = 0 if args.scenes else library_files.write(made, args.assets)
        size += scene_files.write(made, args.assets)
        if not args.scenes:
            library_tables.write(made, args.out)
        print(f"{len(library.streams(args.assets))} streams, {size / 1e6:.1f} MB: {args.assets}")


main = commands.main_of("train.library", parse, work)

if __name__ == "__main__":
    sys.exit(main())
