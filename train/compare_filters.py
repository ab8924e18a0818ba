"""Tune attentive memory and its rivals alike, then compare them: `python -m train.compare_filters tune|test ...`.

`tune FILE... --out TUNED.json`: validation streams of one model (`train.change_streams`, splits validation and pairs);
every filter gets the same streams, objective and number of evaluations. Of ours only omega_n is turned afterwards.
`test TUNED.json FILE... --out TABLE.csv`: the same settings on test streams, once.
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

from knob_core import branches, files, methods
from knob_core.rivals import RIVALS, WITH_COMMAND
from knob_core.rivals.attentive import AttentiveFirstOrder, AttentiveMemory, AttentiveSingle
from knob_core.rivals.base import Filter
from knob_core.tuning import saved
from knob_core.tuning.compare import Comparison, evaluate
from knob_core.tuning.streams import Streams, joined, of_branches
from knob_core.tuning.tune import EVALUATIONS, Tuned, tune
from train import commands

CHOOSING, TESTING = ("validation", "pairs"), ("test",)
OURS, OURS_SINGLE = "attentive", "attentive-single"
NLL_WEIGHT = 5.0  # of a nat, against a factor e in flips: .02 nats are worth a tenth of the flips
ABLATIONS: dict[str, tuple[type[Filter], dict[str, float]]] = {  # what is left of ours, and what is held
    "without l": (AttentiveMemory, {"b": 0.0}),
    "without u*": (AttentiveMemory, {"c": 0.0}),
    "without d": (AttentiveMemory, {"d": 0.0}),
    "first order": (AttentiveFirstOrder, {}),
    "without brake": (AttentiveMemory, {"brake": 0.0}),
    "without eye": (AttentiveMemory, {"eye": 0.0}),
    "without clip and pool": (AttentiveMemory, {"clip": 0.0, "pool": 0.0}),
}
KINDS: dict[str, type[Filter]] = {
    OURS: AttentiveMemory, OURS_SINGLE: AttentiveSingle, **RIVALS, **WITH_COMMAND,
    **{name: kind for name, (kind, _) in ABLATIONS.items()},
}  # fmt: skip


def read_by_kind(paths: Sequence[Path], splits: Sequence[str]) -> tuple[dict[str, Streams], str]:
    """Streams of one model by their kind, and its name."""
    kinds: dict[str, list[Path]] = {}
    for path in paths:
        kinds.setdefault(str(about_of(path).get("kind")), []).append(path)
    found = {kind: read(files_, splits) for kind, files_ in kinds.items()}
    models = sorted({str(about["model"]) for _, about in found.values()})
    if len(models) > 1:
        raise ValueError(f"the files are of {', '.join(models)}, expected one model")
    return {kind: streams for kind, (streams, _) in found.items()}, models[0]


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


def ours(streams: Streams) -> tuple[str, dict[str, Any]]:
    """Our filter for these streams, and what is fixed of it: how u* is standardised."""
    if streams.u is None:
        return OURS_SINGLE, {}
    return OURS, {"u_mean": float(streams.u.mean()), "u_scale": float(streams.u.std())}


def tune_all(streams: Streams, evaluations: int, names: Sequence[str] = tuple(RIVALS)) -> dict[str, Tuned]:
    """Every filter by its name."""
    key, fixed = ours(streams)
    jobs: dict[str, dict[str, Any]] = {key: fixed}
    for name in names:
        jobs[name] = {**fixed, **ABLATIONS[name][1]} if name in ABLATIONS else {}
    return {
        name: tune(KINDS[name], streams, evaluations, nll_weight=NLL_WEIGHT, fixed=held) for name, held in jobs.items()
    }


def table(compared: Comparison, model: str, kind: str) -> pd.DataFrame:
    """One row a filter and delay, with intervals, and the paired difference of ours to it."""
    own = next(name for name in compared.rows if name in (OURS, OURS_SINGLE))
    rows = []
    for name, row in compared.rows.items():
        flips, nll, best = (compared.interval(name, what) for what in ("flips", "nll", "best_nll"))
        apart = compared.difference(own, name)
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
    what = parser.add_subparsers(dest="what", required=True)
    choose = what.add_parser("tune", help="on validation streams")
    choose.add_argument("streams", nargs="+", type=commands.path, metavar="FILE.npz")
    choose.add_argument(
        "--evaluations", type=commands.positive, default=EVALUATIONS, help="of every filter; default: %(default)s"
    )
    choose.add_argument(
        "--filters",
        nargs="+",
        action=commands.Several,
        choices=[*RIVALS, *WITH_COMMAND, *ABLATIONS],
        default=list(RIVALS),
        help="default: all rivals without u*",
    )
    choose.add_argument("--out", type=commands.out_file, required=True, metavar="TUNED.json")
    test = what.add_parser("test", help="once, on test streams")
    test.add_argument("tuned", type=commands.path, metavar="TUNED.json")
    test.add_argument("streams", nargs="+", type=commands.path, metavar="FILE.npz")
    test.add_argument("--out", type=commands.out_file, required=True, metavar="TABLE.csv")
    return parser.parse_args(arguments)


def work(args: argparse.Namespace) -> None:
    args.out.parent.mkdir(parents=True, exist_ok=True)
    if args.what == "tune":
        streams, about = read(args.streams, CHOOSING)
        tuned = tune_all(streams, args.evaluations, args.filters)
        saved.save(tuned, args.out, {"model": about["model"], "streams": len(streams.z)})
        print(f"{about['model']}: {len(tuned)} filters tuned: {args.out}")
        return
    streams, about = read(args.streams, TESTING)
    compared = evaluate(saved.load(args.tuned, KINDS), streams)
    found = table(compared, str(about["model"]), str(about["kind"]))
    files.write_text(args.out, found.to_csv(index=False, float_format="%.5g"))
    shown = found.pivot(index="filter", columns="delay", values="excess_flips").round(2)
    shown["best NLL"] = found.groupby("filter")["best_nll"].first().round(4)
    print(shown.to_string())


def main(arguments: Sequence[str] | None = None) -> int:
    args = parse(arguments)
    return commands.run("train.compare_filters", lambda: work(args))


if __name__ == "__main__":
    sys.exit(main())
