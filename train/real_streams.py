"""Knob and its rivals on the real streams that ship: `python -m train.real_streams`.

Writes assets/results/real_streams.csv. One `knob_core.fit` a set: everybody is tuned alike, and every number comes from
groups that were not fitted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict

from knob_core import fit
from knob_core.cli import tell
from knob_core.data import real
from knob_core.library import result_tables
from train import commands


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = commands.parser("train.real_streams", __doc__)
    parser.add_argument(
        "--sets", nargs="+", action=commands.Several, choices=real.NAMES, default=real.NAMES, help="default: all"
    )
    parser.add_argument("--seed", type=commands.seed, default=0, help="default: %(default)s")
    return parser.parse_args(argv)


def work(args: argparse.Namespace) -> None:
    rows = []
    for name in args.sets:
        streams = real.load(name)
        found = fit(streams.logits, streams.labels, streams.groups, seed=args.seed)
        tell(f"{name}: {found}")
        rows += [{"set": name, **asdict(row)} for row in found.table]
    result_tables.write(rows, result_tables.RESULTS / "real_streams.csv")


main = commands.main_of("train.real_streams", parse, work)

if __name__ == "__main__":
    sys.exit(main())
