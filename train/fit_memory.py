"""Fit attentive memory for a model: `python -m train.fit_memory CHECKPOINT --tuned FILE --streams FILE... --out DIR`.

The streams are validation material (`train.change_streams --split validation` and `--split pairs`); others are refused.
1. b, c, d, tau, eps: as `train.compare_filters tune` found them.
2. a: so that at home a new class is shown after one frame on average.  3. t_0 to t_3: by NLL at home.
4. trained knobs: where NLL over (zeta, omega_n) is lowest, to convergence; the surface is written beside it.
The checkpoint in DIR is the same model with the weights and the trained knobs in its header.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from knob_core import checkpoint, files
from knob_core.measures.change import count
from knob_core.memories import Attentive
from knob_core.rivals.attentive import AttentiveMemory
from knob_core.settings import HOME
from knob_core.tuning import saved
from knob_core.tuning.streams import Streams
from knob_core.tuning.tune import Tuned
from knob_core.wrap.attentive_fit import Labelled, Setting, fit_nll
from train import commands
from train.compare_filters import CHOOSING, KINDS, OURS, OURS_SINGLE, read

PROMPT = 1.0  # frames of mean delay at home
CALM, ALERT = -6.0, 3.0  # where a is looked for
ZETAS = tuple(np.geomspace(0.2, 3.0, 9))
OMEGAS = tuple(np.geomspace(0.05, 3.0, 13))  # rad/frame


@dataclass(frozen=True)
class Found:
    """What one model got."""

    weights: Attentive
    zeta: float
    omega_n: float
    tuned: Tuned
    surface: list[tuple[float, float, float]]  # zeta, omega_n, NLL


def fit(streams: Streams, tuned: Tuned) -> Found:
    """Steps 2 to 4 on streams whose command, if there is one, is as the network gives it."""
    filter_ = tuned.kind(omega_n=HOME.omega_n, **tuned.parameters)  # type: ignore[call-arg]
    assert isinstance(filter_, AttentiveMemory)
    weights = filter_.weights
    labelled = Labelled(streams.z, streams.labels, None if streams.u is None else weights.command(streams.u))
    answer = [name for name in ("t_0", "t_1", "t_2", "t_3") if labelled.u is not None or name != "t_2"]
    at_home = Setting(HOME.zeta, HOME.omega_n, replace(weights, a=prompt(streams, labelled, weights)))
    home, _ = fit_nll(labelled, at_home, answer)
    surface = [(z, w, labelled.nll(home.put(zeta=z, omega_n=w).run(labelled.z, labelled.u)))
               for z in ZETAS for w in OMEGAS]  # fmt: skip
    zeta, omega_n, _ = min(surface, key=lambda entry: entry[2])
    trained, _ = fit_nll(labelled, home.put(zeta=zeta, omega_n=omega_n), ("zeta", "omega_n"), iterations=200)
    return Found(home.weights, trained.zeta, trained.omega_n, tuned, surface)


def prompt(streams: Streams, labelled: Labelled, weights: Attentive) -> float:
    """The calmest a at which the mean delay at home is PROMPT, by halving: a calmer memory is later."""
    low, high = CALM, ALERT
    for _ in range(16):
        middle = (low + high) / 2
        answer = Setting(HOME.zeta, HOME.omega_n, replace(weights, a=middle)).run(labelled.z, labelled.u)
        late = float(count(answer.argmax(-1), streams.known).delay_mean) > PROMPT
        low, high = (middle, high) if late else (low, middle)
    return high


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m train.fit_memory", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--tuned", type=Path, required=True, metavar="FILE.json")
    parser.add_argument("--streams", nargs="+", type=Path, required=True, metavar="FILE.npz")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    return parser.parse_args(arguments)


def work(args: argparse.Namespace) -> None:
    model = checkpoint.load(args.checkpoint)
    streams, about = read(args.streams, CHOOSING)
    if about["model"] != args.checkpoint.stem:
        raise ValueError(f"the streams are of {about['model']!r}, expected {args.checkpoint.stem!r}")
    tuned = saved.load(args.tuned, KINDS)
    found_ = fit(streams, tuned[OURS if streams.u is not None else OURS_SINGLE])
    model.attentive = found_.weights
    header = checkpoint.read_header(args.checkpoint)
    header["trained_knobs"] = {"zeta": found_.zeta, "omega_n": found_.omega_n}
    args.out.mkdir(parents=True, exist_ok=True)
    checkpoint.save(model, args.out / args.checkpoint.name, header, half=checkpoint.is_half(args.checkpoint))
    curve = found_.tuned.curve
    summary = {
        "weights": found_.weights.to_dict(), "trained": header["trained_knobs"], "surface": found_.surface,
        "sweep": {"omega_n": curve.value.tolist(), "delay": curve.delay.tolist(),
                  "excess_flips": curve.flips.tolist(), "nll": curve.nll.tolist()},
        "evaluations": found_.tuned.evaluations,
    }  # fmt: skip
    path = args.out / f"{args.checkpoint.stem}-memory.json"
    files.write_text(path, json.dumps(summary, indent=1) + "\n")
    print(f"{args.checkpoint.stem}: {found_.weights}; trained zeta {found_.zeta:.3f}, omega_n {found_.omega_n:.3f}")


def main(arguments: Sequence[str] | None = None) -> int:
    args = parse(arguments)
    return commands.run("train.fit_memory", lambda: work(args))


if __name__ == "__main__":
    sys.exit(main())
