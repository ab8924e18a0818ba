"""The weights of attentive memory for a model that nobody fitted: `python -m train.outside.unfitted choose|measure`.

`choose` looks at the fitting halves of the outside models' streams, and at validation streams of our own if files of
`train.change_streams` are given. Of a grid of weights it takes those that cost no stream set more than WORST points of
accuracy at the home setting, with the logits as they are and flatter or sharper (SCALES), and of these the one with the
fewest excess flips, relative to the bare model's, at home and with omega_n turned down. `measure` compares
`UNFITTED`, which it should be, with the bare model on the testing halves.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from knob_core import branches, metrics
from knob_core.library import result_tables
from knob_core.measures.change import count
from knob_core.measures.truth import truth
from knob_core.memories import UNFITTED, Attentive
from knob_core.settings import HOME, Settings
from knob_core.streams.change import CHANGE_STREAMS
from train import commands
from train.change_benchmark import shown
from train.outside.__main__ import add_stream_arguments, asked, load_or_make

WORST = -0.15  # points of accuracy
SCALES = (1.0, 0.4, 2.5)  # of the logits: models of other makers are more modest or surer
CALM = 0.1  # omega_n, rad/frame: turned down from home
GRID = {
    "a": (0.5, 1.0, 1.5, 2.0), "b": (2.0, 4.0), "tau": (1.0, 1.4), "eps": (0.01, 0.05, 0.3),
}  # fmt: skip
OTHERS = {"d": 0.0, "f": 0.4}  # the same for all of the grid
KINDS = ("mixed", "fast")


@dataclass(frozen=True)
class StreamSet:
    """Labelled logits of one model on one kind of stream."""

    model: str
    kind: str
    z: np.ndarray  # (R, T, K)
    labels: np.ndarray  # (R, T)


@dataclass(frozen=True)
class Against:
    """An answer beside the bare model's."""

    model: str
    kind: str
    accuracy_bare: float  # in [0, 1]
    accuracy: float
    flips_bare: float  # excess flips per 100 frames
    flips: float
    delay_bare: float  # frames, mean
    delay: float
    nll_bare: float  # nats
    nll: float
    streams: int
    frames: int

    @property
    def gained(self) -> float:
        """Points of accuracy."""
        return 100 * (self.accuracy - self.accuracy_bare)

    @property
    def calmed(self) -> float:
        """Share of the bare model's excess flips that is gone."""
        return 1 - self.flips / self.flips_bare if self.flips_bare else 0.0


@dataclass(frozen=True)
class Tried:
    """Weights, and what they do on all sets."""

    weights: Attentive
    worst: float  # points of accuracy at home, over sets and scales
    calmed: float  # share of flips that is gone, mean over sets, at home and turned down


def against(streams: StreamSet, weights: Attentive, omega_n: float = HOME.omega_n, scale: float = 1.0) -> Against:
    """What the weights do to a model whose logits are `scale` times those of the set."""
    z = scale * streams.z
    answer, bare = weights.run_logits(z, HOME.zeta, omega_n).z, z.argmax(-1)
    known, predicted = truth(streams.labels, bare), answer.argmax(-1)
    ours, theirs = count(predicted, known), count(bare, known)
    right, right_bare = (float((answers == streams.labels).mean()) for answers in (predicted, bare))
    return Against(
        streams.model, streams.kind, right_bare, right,
        float(theirs.excess_flips), float(ours.excess_flips), float(theirs.delay_mean), float(ours.delay_mean),
        _nll(z, streams.labels), _nll(answer, streams.labels), *streams.labels.shape,
    )  # fmt: skip


def _nll(z: np.ndarray, labels: np.ndarray) -> float:
    return metrics.nll(metrics.softmax(z.reshape(-1, z.shape[-1])), labels.ravel())


def grid() -> list[Attentive]:
    """Every combination."""
    values = itertools.product(*GRID.values())
    return [Attentive(**(OTHERS | dict(zip(GRID, point, strict=True)))) for point in values]  # type: ignore[arg-type]


def tried(weights: Attentive, sets: Sequence[StreamSet]) -> Tried:
    """Weights that cost too much on some set are not looked at any further."""
    worst = np.inf
    for streams, scale in itertools.product(sets, SCALES):
        worst = min(worst, against(streams, weights, scale=scale).gained)
        if worst < WORST:
            return Tried(weights, worst, 0.0)
    calmed = [against(streams, weights, omega_n).calmed for streams in sets for omega_n in (HOME.omega_n, CALM)]
    return Tried(weights, worst, float(np.mean(calmed)))


def chosen(rows: Sequence[Tried]) -> Tried:
    """The calmest of those that cost little anywhere."""
    allowed = [row for row in rows if row.worst >= WORST]
    if not allowed:
        raise ValueError(f"no weights of the grid cost less than {-WORST} points of accuracy on every set")
    return max(allowed, key=lambda row: row.calmed)


# Streams


def outside_sets(args: argparse.Namespace, half: int) -> list[StreamSet]:
    """Half 0 is to fit on, half 1 to measure on; made where the cache has none."""
    found = []
    for name, model in asked(args.models).items():
        for kind in args.kinds:
            sized = argparse.Namespace(**vars(args) | {"kind": kind})
            part = load_or_make(name, model, sized).halves[half]
            found.append(StreamSet(name, kind, part.z.astype(np.float64), part.labels))
    return found


def own_set(path: Path) -> StreamSet:
    """A file of `train.change_streams`, <split>-<kind>-<method>-s<seed>.npz; test streams are refused."""
    if path.stem.count("-") < 2:
        raise ValueError(f"{path} has another name than <split>-<kind>-<method>-s<seed>.npz")
    split, kind, model = path.stem.split("-", 2)
    if split == "test":
        raise ValueError(f"{path} has test streams, expected validation streams: nothing is chosen on test pictures")
    loaded = branches.load(path)
    return StreamSet(model, kind, shown(loaded, Settings(on=False), model.rsplit("-", 1)[0]), loaded.frame_labels)


# Commands


def choose(args: argparse.Namespace) -> None:
    sets = [*outside_sets(args, half=0), *(own_set(path) for path in args.own)]
    rows = sorted((tried(weights, sets) for weights in grid()), key=lambda row: -row.calmed)
    best = chosen(rows)
    for row in [row for row in rows if row.worst >= WORST][:5]:
        values = ", ".join(f"{name} {getattr(row.weights, name):g}" for name in GRID)
        print(f"{values}: {row.calmed:.0%} fewer flips, accuracy {row.worst:+.2f} points at worst")
    print("UNFITTED is the chosen one" if best.weights == UNFITTED else f"UNFITTED should be {best.weights}")


def measure(args: argparse.Namespace) -> None:
    rows = [against(streams, UNFITTED) for streams in outside_sets(args, half=1)]
    for row in rows:
        print(f"{row.model}, {row.kind}: accuracy {row.gained:+.2f} points, {row.calmed:.0%} fewer flips, "
              f"NLL {row.nll - row.nll_bare:+.4f}")  # fmt: skip
    if args.out:
        result_tables.write([asdict(row) for row in rows], args.out)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = commands.parser("train.outside.unfitted", __doc__)
    parser.add_argument("work", choices=("choose", "measure"))
    parser.add_argument(
        "--models", nargs="+", action=commands.Several, metavar="NAME", help="speech, text, images (default: all)"
    )
    parser.add_argument(
        "--kinds", nargs="+", action=commands.Several, choices=CHANGE_STREAMS, default=KINDS, help="default: mixed fast"
    )
    parser.add_argument(
        "--own",
        nargs="+",
        action=commands.Several,
        type=commands.path,
        default=(),
        metavar="FILE.npz",
        help="validation streams",
    )
    parser.add_argument("--out", type=commands.out_file, metavar="FILE.csv", help="write the table of `measure`, too")
    add_stream_arguments(parser)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    args = parse(arguments)
    work = {"choose": choose, "measure": measure}[args.work]
    return commands.run("train.outside.unfitted", lambda: work(args))


if __name__ == "__main__":
    sys.exit(main())
