"""Fit attentive memory for a model: `python -m train.fit_memory CHECKPOINT --streams FILE... --out DIR`.

The streams are validation material (`train.change_streams --split validation` and `--split pairs`); others are refused.
1. b, d, tau, eps: one set for all models (`SHARED`), found on validation streams of three seeds.
2. a: as calm as it may be at home. The worst twentieth of streams may lose LOST of their right answers to the memory,
   and a new class must be shown after PROMPT frames on average.
3. t_0 and f: by NLL at home.
4. learned knobs: where NLL over (zeta, omega_n) is lowest, for each kind (mean gap) of which there are streams; those
   of mixed streams go into the checkpoint. The surfaces are written beside it.
The checkpoint in DIR is the same model with the weights and the learned knobs in its header.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from knob_core import branches, checkpoint, files, methods
from knob_core._arrays.top import pick
from knob_core.gates import Gate
from knob_core.measures.change import count
from knob_core.memories import Attentive, Frames
from knob_core.settings import HOME
from knob_core.tuning.streams import Streams, of_branches
from train import commands
from train.compare_filters import CHOOSING, checked_about

CHOSEN_ON = "mixed"  # kind of stream
SHARED = Attentive(a=0.0, b=2.0, d=2.5, tau=1.0, eps=0.005, t_0=0.0, f=0.3)
CALM, ALERT = -10.0, 2.0  # where a is looked for
LOST, WORST = 0.02, 0.05  # right answers that the worst streams may lose at home, and how many are the worst
PROMPT = 1.5  # frames of mean delay at home
ANSWER = {"t_0": (-1.0, 1.0), "f": (0.0, 0.8)}
KNOBS = {"zeta": (0.2, 3.0), "omega_n": (0.02, 3.0)}
ZETAS = tuple(np.geomspace(0.2, 3.0, 5))
OMEGAS = tuple(np.geomspace(0.05, 3.0, 10))  # rad/frame


@dataclass(frozen=True)
class Watched:
    """One model on labelled change streams, with its gate."""

    frames: Frames  # (R, T, ...)
    kind: Gate
    streams: Streams  # the frames by themselves, and the truth

    def answer(self, weights: Attentive, zeta: float = HOME.zeta, omega_n: float = HOME.omega_n) -> np.ndarray:
        """Probabilities (R, T, K)."""
        return weights.run(self.frames, self.kind, zeta, omega_n).probabilities

    def nll(self, p: np.ndarray) -> float:
        """Mean NLL of an answer, in nats."""
        return -float(np.log(np.maximum(pick(p, self.streams.labels), 1e-300)).mean())

    def right(self, predicted: np.ndarray) -> np.ndarray:
        """(R,) share of right answers of each stream."""
        return (predicted == self.streams.labels).mean(-1)


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


def watch(path: Path, method: str) -> Watched:
    """The streams of a file of `train.change_streams`."""
    loaded, kind = branches.load(path), methods.get(method).gate
    frames = Frames(*(x.astype(np.float64) for x in (loaded.z_static, loaded.z_dyn, loaded.u_star)))
    return Watched(frames, kind, of_branches(loaded, single=not kind.gated))


def fit(watched: Mapping[str, Sequence[Watched]]) -> Found:
    """Steps 2 to 4 on streams by kind, "mixed" among them."""
    known = watched[CHOSEN_ON]
    at_home = replace(SHARED, a=calmest(known))
    start = {name: getattr(at_home, name) for name in ANSWER}
    best = descend(lambda t_0, f: _mean_nll(known, replace(at_home, t_0=t_0, f=f)), start, ANSWER)
    weights = replace(at_home, t_0=best["t_0"], f=best["f"])
    return Found(weights, {kind: learn(parts, weights) for kind, parts in watched.items()})


def _mean_nll(parts: Sequence[Watched], weights: Attentive, *knobs: float) -> float:
    return float(np.mean([part.nll(part.answer(weights, *knobs)) for part in parts]))


def calmest(parts: Sequence[Watched]) -> float:
    """The smallest a that keeps LOST and PROMPT on every part, by halving: a calmer memory is later and loses more."""
    low, high = CALM, ALERT
    for _ in range(16):
        middle = (low + high) / 2
        keeps = all(_keeps(part, replace(SHARED, a=middle)) for part in parts)
        low, high = (low, middle) if keeps else (middle, high)
    return high


def _keeps(part: Watched, weights: Attentive) -> bool:
    predicted = part.answer(weights).argmax(-1)
    gained = np.sort(part.right(predicted) - part.right(part.streams.z.argmax(-1)))
    worst = gained[: max(1, round(WORST * len(gained)))].mean()
    return bool(worst >= -LOST and float(count(predicted, part.streams.known).delay_mean) <= PROMPT)


def learn(parts: Sequence[Watched], weights: Attentive) -> Learned:
    """The surface of NLL over the knobs, weights fixed, and its lowest point."""

    def nll(zeta: float, omega_n: float) -> float:
        return _mean_nll(parts, weights, zeta, omega_n)

    surface = [(zeta, omega_n, nll(zeta, omega_n)) for zeta in ZETAS for omega_n in OMEGAS]
    zeta, omega_n, _ = min(surface, key=lambda entry: entry[2])
    best = descend(nll, {"zeta": zeta, "omega_n": omega_n}, KNOBS)
    return Learned(best["zeta"], best["omega_n"], nll(**best), surface)


def descend(
    cost: Callable[..., float], start: Mapping[str, float], limits: Mapping[str, tuple[float, float]]
) -> dict[str, float]:
    """Where the cost of named numbers is lowest near `start`."""
    from scipy.optimize import minimize

    bounds = [limits[name] for name in start]
    found = minimize(
        lambda x: cost(**dict(zip(start, x.tolist(), strict=True))), list(start.values()), method="Nelder-Mead",
        bounds=bounds, options={"xatol": 1e-3, "fatol": 1e-6, "maxiter": 80},
    )  # fmt: skip
    return dict(zip(start, found.x.tolist(), strict=True))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = commands.parser("train.fit_memory", __doc__)
    parser.add_argument("checkpoint", type=commands.path)
    parser.add_argument(
        "--streams", nargs="+", action=commands.Several, type=commands.path, required=True, metavar="FILE.npz",
        help="mixed ones, and fast and slow ones for their learned knobs",
    )  # fmt: skip
    parser.add_argument("--out", type=commands.out_folder, required=True, metavar="FOLDER")
    return parser.parse_args(arguments)


def work(args: argparse.Namespace) -> None:
    model, name = checkpoint.load(args.checkpoint), args.checkpoint.stem
    watched: dict[str, list[Watched]] = {}
    for path in args.streams:
        about = checked_about(path, CHOOSING)
        if about["model"] != name:
            raise ValueError(f"{path} has streams of {about['model']!r}, expected {name!r}")
        watched.setdefault(about["kind"], []).append(watch(path, model.method))
    if CHOSEN_ON not in watched:
        raise ValueError(f"--streams has {', '.join(watched)} streams, expected {CHOSEN_ON} ones among them")
    found = fit(watched)
    model.attentive = found.weights
    header, learned = checkpoint.read_header(args.checkpoint), found.learned[CHOSEN_ON]
    header["trained_knobs"] = {"zeta": learned.zeta, "omega_n": learned.omega_n}
    args.out.mkdir(parents=True, exist_ok=True)
    checkpoint.save(model, args.out / args.checkpoint.name, header, half=checkpoint.is_half(args.checkpoint))
    learned_by_kind = {kind: vars(part) for kind, part in found.learned.items()}
    summary = {"model": name, "weights": found.weights.to_dict(), "learned": learned_by_kind}
    files.write_text(args.out / f"{name}-memory.json", json.dumps(summary, indent=1) + "\n")
    print(f"{name}: {found.weights}; learned zeta {learned.zeta:.3f}, omega_n {learned.omega_n:.3f}")


main = commands.main_of("train.fit_memory", parse, work)

if __name__ == "__main__":
    sys.exit(main())
