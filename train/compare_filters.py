"""Tune the filters to compare with: `python -m train.compare_filters FILE... --out TUNED.json`.

Validation streams of one model (`train.change_streams`, splits validation and pairs); every filter gets the same
streams, objective and number of evaluations. `train.change_benchmark` sets them beside our own memory.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from knob_core import branches, methods
from knob_core.rivals import RIVALS, WITH_COMMAND
from knob_core.rivals.base import Filter
from knob_core.tuning import saved
from knob_core.tuning.compare import Comparison
from knob_core.tuning.streams import Streams, joined, of_branches
from knob_core.tuning.tune import EVALUATIONS, Tuned, tune
from train import commands

CHOOSING, TESTING = ("validation", "pairs"), ("test",)
OURS = "attentive"
NLL_WEIGHT = 5.0  # of a nat, against a factor e in flips: .02 nats are worth a tenth of the flips
KINDS: dict[str, type[Filter]] = {**RIVALS, **WITH_COMMAND}


def about_of(path: Path) -> dict[str, Any]:
    """What a file of streams says of itself."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(json.loads(str(file["about"]))) if "about" in file else {}
    except FileNotFoundError:
        raise
    except Exception as error:  # zipfile, json and numpy each have errors of their own for another file
        wanted = "expected an .npz of python -m train.change_streams"
        raise ValueError(f"{path} is not a file of streams, {wanted} ({error})") from error


def checked_about(path: Path, splits: Sequence[str]) -> dict[str, Any]:
    """What a file of streams of an allowed split says of itself: its split, kind and model."""
    about = about_of(path)
    if about.get("split") not in splits:
        raise ValueError(f"{path} has split {about.get('split')!r}, expected {' or '.join(splits)} here")
    for name in ("kind", "model"):
        if not isinstance(about.get(name), str):
            raise ValueError(f"{path} has {name} {about.get(name)!r}, expected a name")
    return about


def read(paths: Sequence[Path], splits: Sequence[str]) -> tuple[Streams, dict[str, Any]]:
    """Streams of one model, all of an allowed split; and what the files say of themselves."""
    parts, abouts = [], []
    for path in paths:
        about = checked_about(path, splits)
        abouts.append(about)
        method = methods.get(str(about["model"]).rpartition("-s")[0])
        parts.append(of_branches(branches.load(path), single=not method.gate.gated))
    if len({about["model"] for about in abouts}) > 1:
        raise ValueError(f"the files are of {', '.join(str(about['model']) for about in abouts)}, expected one model")
    return joined(parts), abouts[0]


def tune_all(streams: Streams, evaluations: int, names: Sequence[str] = tuple(RIVALS)) -> dict[str, Tuned]:
    """Every filter by its name."""
    return {name: tune(KINDS[name], streams, evaluations, nll_weight=NLL_WEIGHT) for name in names}


def table(compared: Comparison, model: str, kind: str) -> pd.DataFrame:
    """One row a filter and delay, with intervals, and the paired difference of ours to it."""
    rows = []
    for name, row in compared.rows.items():
        flips, nll, best = (compared.interval(name, what) for what in ("flips", "nll", "best_nll"))
        apart = compared.difference(OURS, name)
        for i, delay in enumerate(compared.delays):
            rows.append({
                "model": model, "kind": kind, "filter": name, "delay": delay, "reached": bool(row.reached[i]),
                "excess_flips": flips.value[i], "low": flips.low[i], "high": flips.high[i],
                "nll": nll.value[i], "best_nll": best.value[0], "best_nll_low": best.low[0],
                "best_nll_high": best.high[0], "ours_less": apart.value[i], "ours_less_low": apart.low[i],
                "ours_less_high": apart.high[i],
            })  # fmt: skip
    return pd.DataFrame(rows)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = commands.parser("train.compare_filters", __doc__)
    parser.add_argument("streams", nargs="+", type=commands.path, metavar="FILE.npz")
    parser.add_argument(
        "--evaluations", type=commands.positive, default=EVALUATIONS, help="of every filter; default: %(default)s"
    )
    parser.add_argument(
        "--filters", nargs="+", action=commands.Several, choices=[*RIVALS, *WITH_COMMAND], default=list(RIVALS),
        help="default: all that do without u*",
    )  # fmt: skip
    parser.add_argument("--out", type=commands.out_file, required=True, metavar="TUNED.json")
    return parser.parse_args(arguments)


def work(args: argparse.Namespace) -> None:
    args.out.parent.mkdir(parents=True, exist_ok=True)
    streams, about = read(args.streams, CHOOSING)
    tuned = tune_all(streams, args.evaluations, args.filters)
    saved.save(tuned, args.out, {"model": about["model"], "streams": len(streams.z)})
    print(f"{about['model']}: {len(tuned)} filters tuned: {args.out}")


main = commands.main_of("train.compare_filters", parse, work)

if __name__ == "__main__":
    sys.exit(main())
