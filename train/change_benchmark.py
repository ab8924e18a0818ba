"""Attentive memory and its rivals, from checkpoints to tables: `python -m train.change_benchmark choose|measure ...`.

`choose CHECKPOINT... --work DIR --ship DIR`: validation streams, all filters tuned alike, weights and learned knobs.
The checkpoints in the ship folder are the same models with the weights of attentive memory in their headers.
`measure CHECKPOINT... --work DIR --out DIR`: test streams, once, with everything frozen, and the tables of the report:
change_filters, change_ablations, change_home, change_groups, memory_surface, memory_learned.
What lies in the work folder is not made again, so a command that was stopped goes on. Models are independent of each
other: several processes may each choose for some of them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from knob_core import branches, checkpoint, files, methods
from knob_core.assets import ASSETS
from knob_core.branches import Branches
from knob_core.gates import INSTANT
from knob_core.memories import Attentive
from knob_core.response import respond
from knob_core.rivals import WITH_COMMAND
from knob_core.settings import HOME, Settings
from knob_core.tuning import saved
from knob_core.tuning.compare import compare
from knob_core.tuning.measured import Measured, measure_answer, together
from knob_core.tuning.streams import Streams
from knob_core.tuning.sweep import repeat, with_sweep
from knob_core.tuning.tune import Tuned
from train import change_streams, commands, compare_filters, fit_memory
from train.compare_filters import CHOOSING, KINDS, OURS, TESTING
from train.fit_memory import Watched
from train.measuring import change_tables

VALIDATION = {"mixed": 96, "fast": 48, "slow": 48}  # streams
TEST = {"mixed": 210, "fast": 60, "slow": 60}
RIVALS = (
    "ema-logits", "two-speeds", "second-order", "one-euro-logits", "hmm", "cusum", "change-point", "hysteresis",
    "debounce",
)  # fmt: skip
SHIPPED = ASSETS / "rivals"  # tuned filters of Knob-ODE, one file a seed
AT_HOME = ("cusum", "change-point", "hmm")  # beside ours at home, at the same delay
EVALUATIONS = 80
OMEGAS = tuple(np.geomspace(0.001, 6.0, 30))  # rad/frame: our own sweep
FIRST_ORDER = 100.0  # so much damping that v has no say, and omega_n larger by twice that
ABLATIONS = ("without l", "without d", "without f", "gate instant", "first order")


def streams_of(
    checkpoints: Sequence[Path], split: str, sizes: dict[str, int], folder: Path, data: Path | None, seed: int = 0
) -> None:
    """Make what is missing."""
    for kind, size in sizes.items():
        missing = [path for path in checkpoints if not _file(folder, split, kind, path.stem).is_file()]
        if missing:
            asked = ["--checkpoint", *map(str, missing), "--split", split, "--kind", kind, "--streams", str(size)]
            asked += ["--seed", str(seed), "--out", str(folder)] + (["--data", str(data)] if data else [])
            _done(change_streams.main(asked))


def _file(folder: Path, split: str, kind: str, model: str) -> Path:
    return folder / f"{split}-{kind}-{model}.npz"


def _done(code: int) -> None:
    if code:
        raise ValueError(f"a step ended with code {code}; what it said stands above")


def choose(args: argparse.Namespace) -> None:
    streams_of(args.checkpoints, "pairs", VALIDATION, args.work, args.data)
    streams_of(args.checkpoints, "validation", {"mixed": VALIDATION["mixed"]}, args.work, args.data)
    for path in args.checkpoints:
        mixed, tuned = _file(args.work, "pairs", "mixed", path.stem), args.work / f"tuned-{path.stem}.json"
        if not tuned.is_file():
            gated = methods.get(path.stem.rpartition("-s")[0]).gate.gated
            names = [*RIVALS, *(WITH_COMMAND if gated else ())]
            streams, about = compare_filters.read([mixed], CHOOSING)
            found = compare_filters.tune_all(streams, args.evaluations, names)
            saved.save(found, tuned, {"model": about["model"], "streams": len(streams.z)})
            print(f"{path.stem}: {len(found)} filters tuned: {tuned}", flush=True)
        files_ = [str(_file(args.work, "pairs", kind, path.stem)) for kind in VALIDATION]
        files_.append(str(_file(args.work, "validation", "mixed", path.stem)))
        _done(fit_memory.main([str(path), "--streams", *files_, "--out", str(args.ship)]))


def measure(args: argparse.Namespace) -> None:
    streams_of(args.checkpoints, "test", TEST, args.work, args.data, args.seed)
    filters, ablations, home, groups = [], [], [], []
    for path in args.checkpoints:
        tuned = saved.load(tuned_file(path, args.work), KINDS)
        for kind in TEST:
            file = _file(args.work, "test", kind, path.stem)
            streams, _ = compare_filters.read([file], TESTING)
            own = our_curves(fit_memory.watch(file, method_of(path)), weights_of(path), (OURS,))
            rivals = {name: repeat(t.kind, t.parameters, t.curve, streams) for name, t in tuned.items()}
            filters.append(compare_filters.table(compare(own | rivals), path.stem, kind))
            if kind == "mixed":
                left = our_curves(fit_memory.watch(file, method_of(path)), weights_of(path), (OURS, *ABLATIONS))
                ablations.append(compare_filters.table(compare(left), path.stem, kind))
                table = at_home(file, streams, path, tuned)
                home.append(table[table["by"] == change_tables.ALL])
                groups.append(table[table["by"] != change_tables.ALL])
        print(f"{path.stem}: measured", flush=True)
    _write(args.out / "change_filters.csv", filters)
    _write(args.out / "change_ablations.csv", ablations)
    _write(args.out / "change_home.csv", home)
    _write(args.out / "change_groups.csv", groups)
    surface, learned = learned_knobs(args.checkpoints)
    _write(args.out / "memory_surface.csv", [surface])
    _write(args.out / "memory_learned.csv", [learned])


def tuned_file(checkpoint_path: Path, work: Path) -> Path:
    """The filters that `choose` tuned for a model; where it was not given, those that ship."""
    own = work / f"tuned-{checkpoint_path.stem}.json"
    return own if own.is_file() else SHIPPED / f"{checkpoint_path.stem}.json"


def _write(path: Path, frames: list[pd.DataFrame]) -> None:
    if frames:
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write_text(path, pd.concat(frames).to_csv(index=False, float_format="%.5g"))


def method_of(path: Path) -> str:
    """The method of a checkpoint, by its name."""
    return path.stem.rpartition("-s")[0]


def weights_of(path: Path) -> Attentive:
    """The weights of attentive memory that a checkpoint ships with."""
    weights = checkpoint.load(path).attentive
    if weights is None:
        raise ValueError(f"{path} has no weights of attentive memory; `train.change_benchmark choose` fits them")
    return weights


def our_curves(watched: Watched, weights: Attentive, names: Sequence[str]) -> dict[str, Measured]:
    """Our own memory, or what is left of it, at every omega_n of the sweep; the temperature is the weights' own."""
    left = {
        OURS: (watched, weights, 1.0, 1.0),
        "without l": (watched, replace(weights, b=0.0), 1.0, 1.0),
        "without d": (watched, replace(weights, a=weights.a + 0.75 * weights.d, d=0.0), 1.0, 1.0),
        "without f": (watched, replace(weights, f=0.0), 1.0, 1.0),
        "gate instant": (replace(watched, kind=INSTANT if watched.kind.gated else watched.kind), weights, 1.0, 1.0),
        "first order": (watched, weights, FIRST_ORDER, 2 * FIRST_ORDER),
    }
    curves = {}
    for name in names:
        seen, own, zeta, faster = left[name]
        answers = (np.log(np.maximum(seen.answer(own, zeta, faster * omega_n), 1e-300)) for omega_n in OMEGAS)
        curves[name] = together([measure_answer(answer, watched.streams, 1.0) for answer in answers])
    return curves


def at_home(file: Path, streams: Streams, path: Path, tuned: dict[str, Tuned]) -> pd.DataFrame:
    """What an operator gets without turning anything, beside rivals of the same delay on the validation streams."""
    loaded, method = branches.load(file), path.stem.rpartition("-s")[0]
    weights = weights_of(path)
    answers = {"without Knob": streams.z, "plain memory at home": shown(loaded, Settings(memory="plain"), method)}
    answers["attentive memory at home"] = shown(loaded, HOME, method, weights)
    for name in AT_HOME:
        answers[f"{KINDS[name].NAME}, same delay"] = at_delay(tuned[name], fit_memory.PROMPT, streams)
    with np.load(file, allow_pickle=False) as stored:
        corruption = stored["corruption"]
    assert loaded.segment is not None
    frames = change_tables.groups(corruption, loaded.segment)
    return pd.DataFrame([{"model": path.stem, **row} for row in change_tables.table(answers, streams, frames)])


def shown(loaded: Branches, settings: Settings, method: str, weights: Attentive | None = None) -> np.ndarray:
    """Logits (R, T, K) of the answer that console and runtime would show."""
    return np.log(np.maximum(respond(loaded, settings, method, attentive=weights)[0].probabilities, 1e-300))


def at_delay(tuned: Tuned, delay: float, streams: Streams) -> np.ndarray:
    """The answer of the setting whose mean delay was nearest on the streams it was tuned on, the calmer of equals."""
    off = np.abs(np.log(np.maximum(tuned.curve.delay, 1e-3) / delay))
    best = int(np.lexsort((tuned.curve.flips, off.round(2)))[0])
    value: float | int = float(tuned.curve.value[best])
    answer, _ = with_sweep(tuned.kind, tuned.parameters, value).run(streams.z, u=streams.u)
    return answer / tuned.curve.temperature[best]


def learned_knobs(checkpoints: Sequence[Path]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The surfaces of NLL over the knobs and their lowest points, from the files that `choose` left beside them."""
    surface: list[dict[str, Any]] = []
    lowest: list[dict[str, Any]] = []
    for path in checkpoints:
        summary = json.loads((path.parent / f"{path.stem}-memory.json").read_text())
        for kind, learned in summary["learned"].items():
            about = {"model": path.stem, "kind": kind}
            surface += [{**about, "zeta": z, "omega_n": w, "nll": nll} for z, w, nll in learned["surface"]]
            lowest.append({**about, **{name: learned[name] for name in ("zeta", "omega_n", "nll")}})
    return pd.DataFrame(surface), pd.DataFrame(lowest)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = commands.parser("train.change_benchmark", __doc__)
    what = parser.add_subparsers(dest="what", required=True)
    first = what.add_parser("choose", help="on validation streams")
    first.add_argument(
        "--ship", type=commands.out_folder, required=True, metavar="DIR", help="for the checkpoints with weights"
    )
    first.add_argument(
        "--evaluations", type=commands.positive, default=EVALUATIONS, help="of every filter; default: %(default)s"
    )
    second = what.add_parser("measure", help="on test streams, once")
    second.add_argument("--out", type=commands.out_folder, required=True, metavar="DIR", help="for the tables")
    second.add_argument("--seed", type=commands.seed, default=0, help="of the test streams (default: %(default)s)")
    for one in (first, second):
        one.add_argument("checkpoints", nargs="+", type=commands.path, metavar="CHECKPOINT")
        one.add_argument(
            "--work", type=commands.out_folder, required=True, metavar="DIR", help="for streams and tuned filters"
        )
        one.add_argument(
            "--data", type=commands.path, metavar="DIR", help="where CIFAR-10 lies (default: KNOB_DATA, ./data)"
        )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    args = parse(arguments)
    return commands.run("train.change_benchmark", lambda: {"choose": choose, "measure": measure}[args.what](args))


if __name__ == "__main__":
    sys.exit(main())
