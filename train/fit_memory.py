"""Fit attentive memory for a model: `python -m train.fit_memory CHECKPOINT --tuned FILE --streams FILE... --out DIR`.

The streams are validation material (`train.change_streams --split validation` and `--split pairs`); others are refused.
1. b, c, d, tau, eps: as `train.compare_filters tune` found them; a full brake.
2. a: so that at home a new class is shown after one frame on average; less where a faster knob would be a later one,
   since without inertia an answer that flickers does not stay.  3. t_0 and eye: by NLL at home.
4. learned knobs: where NLL over (zeta, omega_n) is lowest, to convergence, for each kind (mean gap) of which there
   are streams; those of mixed streams go into the checkpoint. The surfaces are written beside it.
The checkpoint in DIR is the same model with the weights and the learned knobs in its header.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

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
from train.compare_filters import CHOOSING, KINDS, OURS, OURS_SINGLE, read_by_kind

CHOSEN_ON = "mixed"  # kind of stream
PROMPT = 1.0  # frames of mean delay at home
CALM, ALERT = -8.0, 3.0  # where a is looked for
LATER = 0.02  # frames of delay by which a faster knob may be later
DAMPINGS, SPEEDS = (0.2, 0.4, 0.7, 1.0, 2.0), tuple(np.geomspace(0.5, 2.0, 7))  # rad/frame: the fast end of the knob
LESS = 0.1  # of a, at a time
ANSWER = ("t_0", "eye")
KNOBS = ("zeta", "omega_n")
ZETAS = tuple(np.geomspace(0.2, 3.0, 9))
OMEGAS = tuple(np.geomspace(0.05, 3.0, 13))  # rad/frame


@dataclass(frozen=True)
class Learned:
    """The knobs that the likelihood of one kind of stream asks for."""

    zeta: float
    omega_n: float
    nll: float
    surface: list[tuple[float, float, float]]  # zeta, omega_n, NLL


@dataclass(frozen=True)
class Found:
    """What one model got."""

    weights: Attentive
    learned: dict[str, Learned]  # by kind of stream


def fit(streams: Mapping[str, Streams], tuned: Tuned) -> Found:
    """Steps 2 to 4 on streams by kind, "mixed" among them, whose command is as the network gives it."""
    filter_ = tuned.kind(omega_n=HOME.omega_n, **tuned.parameters)  # type: ignore[call-arg]
    assert isinstance(filter_, AttentiveMemory)
    known = streams[CHOSEN_ON]
    weights, labelled = filter_.weights, _labelled(known, filter_.weights)
    a = prompt(known, labelled, weights)
    while a > CALM and later(known, labelled, replace(weights, a=a)) > LATER:
        a -= LESS
    at_home = Setting(HOME.zeta, HOME.omega_n, replace(weights, a=a))
    home, _ = fit_nll(labelled, at_home, ANSWER, observations=labelled.frames)
    return Found(home.weights, {kind: learn(_labelled(part, weights), home) for kind, part in streams.items()})


def learn(labelled: Labelled, home: Setting) -> Learned:
    """The surface of NLL over the knobs, weights fixed, and its lowest point."""

    def nll(zeta: float, omega_n: float) -> float:
        return labelled.nll(home.put(zeta=zeta, omega_n=omega_n).run(labelled.z, labelled.u))

    surface = [(zeta, omega_n, nll(zeta, omega_n)) for zeta in ZETAS for omega_n in OMEGAS]
    zeta, omega_n, _ = min(surface, key=lambda entry: entry[2])
    best, lowest = fit_nll(labelled, home.put(zeta=zeta, omega_n=omega_n), KNOBS, 200, labelled.frames)
    return Learned(best.zeta, best.omega_n, lowest, surface)


def _labelled(streams: Streams, weights: Attentive) -> Labelled:
    return Labelled(streams.z, streams.labels, None if streams.u is None else weights.command(streams.u))


def prompt(streams: Streams, labelled: Labelled, weights: Attentive) -> float:
    """The calmest a at which the mean delay at home is PROMPT, by halving: a calmer memory is later."""
    low, high = CALM, ALERT
    for _ in range(16):
        middle = (low + high) / 2
        answer = Setting(HOME.zeta, HOME.omega_n, replace(weights, a=middle)).run(labelled.z, labelled.u)
        late = float(count(answer.argmax(-1), streams.known).delay_mean) > PROMPT
        low, high = (middle, high) if late else (low, middle)
    return high


def later(streams: Streams, labelled: Labelled, weights: Attentive) -> float:
    """Frames by which the delay rises at most from one position of omega_n to the next faster one."""

    def delay(zeta: float, omega_n: float) -> float:
        answer = Setting(zeta, omega_n, weights).run(labelled.z, labelled.u)
        return float(count(answer.argmax(-1), streams.known).delay_mean)

    return max(np.diff([delay(zeta, omega_n) for omega_n in SPEEDS]).max() for zeta in DAMPINGS)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = commands.parser("train.fit_memory", __doc__)
    parser.add_argument("checkpoint", type=commands.path)
    parser.add_argument("--tuned", type=commands.path, required=True, metavar="FILE.json")
    parser.add_argument(
        "--streams", nargs="+", action=commands.Several, type=commands.path, required=True, metavar="FILE.npz",
        help="mixed ones, and fast and slow ones for their learned knobs",
    )  # fmt: skip
    parser.add_argument("--out", type=commands.out_folder, required=True, metavar="FOLDER")
    return parser.parse_args(arguments)


def work(args: argparse.Namespace) -> None:
    model = checkpoint.load(args.checkpoint)
    streams, name = read_by_kind(args.streams, CHOOSING)
    if name != args.checkpoint.stem:
        raise ValueError(f"the streams are of {name!r}, expected {args.checkpoint.stem!r}")
    if CHOSEN_ON not in streams:
        raise ValueError(f"--streams has {', '.join(streams)} streams, expected {CHOSEN_ON} ones among them")
    tuned = saved.load(args.tuned, KINDS)
    found = fit(streams, tuned[OURS if streams[CHOSEN_ON].u is not None else OURS_SINGLE])
    model.attentive = found.weights
    header, learned = checkpoint.read_header(args.checkpoint), found.learned[CHOSEN_ON]
    header["trained_knobs"] = {"zeta": learned.zeta, "omega_n": learned.omega_n}
    args.out.mkdir(parents=True, exist_ok=True)
    checkpoint.save(model, args.out / args.checkpoint.name, header, half=checkpoint.is_half(args.checkpoint))
    summary = {
        "model": name,
        "weights": found.weights.to_dict(),
        "learned": {k: vars(v) for k, v in found.learned.items()},
    }
    files.write_text(args.out / f"{args.checkpoint.stem}-memory.json", json.dumps(summary, indent=1) + "\n")
    print(f"{name}: {found.weights}; learned zeta {learned.zeta:.3f}, omega_n {learned.omega_n:.3f}")


main = commands.main_of("train.fit_memory", parse, work)

if __name__ == "__main__":
    sys.exit(main())
