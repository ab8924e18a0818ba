"""Tune every filter on validation streams: python -m knob_core.tuning.command STREAMS.npz --out TUNED.json

Prints a line when a filter is done and a table in the end; the file is written anew after each filter.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from knob_core import branches
from knob_core.rivals import RIVALS, WITH_COMMAND
from knob_core.tuning import saved
from knob_core.tuning.streams import of_branches
from knob_core.tuning.table import table
from knob_core.tuning.tune import EVALUATIONS, Tuned, tune

FILTERS = {**RIVALS, **WITH_COMMAND}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("streams", type=Path, help="a branches file of change streams")
    parser.add_argument("--out", type=Path, required=True, help="the JSON file to write")
    parser.add_argument("--filters", nargs="+", choices=FILTERS, default=list(FILTERS), metavar="NAME")
    parser.add_argument("--single", action="store_true", help="z_static alone, as of a model without a gate")
    parser.add_argument("--evaluations", type=int, default=EVALUATIONS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--nll-weight", type=float, default=1.0)
    args = parser.parse_args(arguments)
    streams = of_branches(branches.load(args.streams), args.single)
    about = {name: getattr(args, name) for name in ("single", "evaluations", "seed", "nll_weight")}
    tuned: dict[str, Tuned] = {}
    for name in args.filters:
        tuned[name] = tune(FILTERS[name], streams, args.evaluations, args.seed, args.nll_weight)
        saved.save(tuned, args.out, {"streams": args.streams.name, **about})
        print(f"{name}: {tuned[name].objective:.3f} {tuned[name].parameters}", flush=True)
    print(table(tuned))


if __name__ == "__main__":
    main()
