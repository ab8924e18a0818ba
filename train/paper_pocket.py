"""Measure the finished runs of `--recipe paper-pocket`: `python -m train.paper_pocket [--runs runs]`.

Says how many of the fifteen there are, evaluates these as `train.evaluate` does, keeps the tables that the report reads
in assets/results/paper-pocket and prints the report's table. Goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from knob_core.library import result_tables
from train import commands, evaluate
from train.report import paper_recipe
from train.report.result_set import Results

RANGE = ("--first", "2000", "--count", "8000")  # pictures that train/PROTOCOL.md keeps for models frozen before


def finished(runs: Path) -> list[Path]:
    """Checkpoints of the runs that ended, in the order in which they are trained."""
    paths = [runs / paper_recipe.FOLDER / run / "final.safetensors" for run in paper_recipe.RUNS]
    return [path for path in paths if path.is_file()]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = commands.parser("train.paper_pocket", __doc__)
    parser.add_argument("--runs", type=commands.out_folder, default=evaluate.RUNS, metavar="DIR", help="default: runs")
    parser.add_argument("--data", type=commands.path, metavar="DIR", help="where CIFAR-10 lies")
    parser.add_argument(
        "--results",
        type=commands.out_folder,
        default=result_tables.RESULTS,
        metavar="DIR",
        help="default: assets/results",
    )
    parser.add_argument("--only-say", action="store_true", help="which runs are finished, and nothing else")
    return parser.parse_args(arguments)


def work(args: argparse.Namespace, more: Sequence[str] = RANGE) -> None:
    paths = finished(args.runs)
    names = [path.parent.name for path in paths]
    lacking = [run for run in paper_recipe.RUNS if run not in names]
    print(f"{len(paths)} of {len(paper_recipe.RUNS)} runs are finished; not yet: {', '.join(lacking) or 'none'}")
    if args.only_say or not paths:
        return
    made = args.runs / paper_recipe.FOLDER / "evaluation-tables"
    data = ["--data", str(args.data)] if args.data else []
    arguments = [*map(str, paths), *data, *more, "--out", str(made), "--runs", str(args.runs)]
    evaluate.work(evaluate.parse(arguments))
    kept = args.results / paper_recipe.FOLDER
    kept.mkdir(parents=True, exist_ok=True)
    for name in (*(f"{table}.csv" for table in paper_recipe.TABLES), result_tables.NOTE):
        if (made / name).is_file():  # without a gated method there are no probes
            shutil.copyfile(made / name, kept / name)
    print(paper_recipe.table(Results(args.results), Results(kept)))


main = commands.main_of("train.paper_pocket", parse, work)


if __name__ == "__main__":
    sys.exit(main())
