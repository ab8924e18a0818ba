"""Knob on pretrained classifiers from PyPI: `python -m train.outside [--models speech ...] [--out FILE.csv]`.

Each model's streams are made once, seeded, and kept as .npz; with the file there, the model's package is not needed.
Everything is fitted on the first half of the streams and measured on the second. Nothing is downloaded.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from knob_core.library import result_tables
from knob_core.streams.change import CHANGE_STREAMS
from train import commands
from train.outside import contenders, streams
from train.outside.contenders import DEFAULT, FITTED, OFF, Contender, Row
from train.outside.packages import Weights
from train.outside.streams import OutsideStreams

CACHE = Path("runs/outside")
HEADS = ("NLL", "accuracy", "excess flips", "delay", "confident errors")


@dataclass(frozen=True)
class Model:
    """An outside model: where its weights come from and how its streams are made."""

    words: str
    weights: Weights
    make: Callable[[argparse.Namespace], OutsideStreams]
    fewer: int = 1  # so many times fewer streams than of the others: the model is slow


def models() -> dict[str, Model]:
    """By name; importing them imports torch."""
    from train.outside import images, speech, text

    def sized(args: argparse.Namespace) -> tuple[int, int, int, str]:
        return args.seed, args.streams, args.frames, args.kind

    return {
        "speech": Model("Silero VAD: speech or not", speech.WEIGHTS, lambda a: speech.make(*sized(a))),
        "text": Model("PP-OCR: text upright or turned", text.WEIGHTS, lambda a: text.make(*sized(a))),
        "images": Model(
            "EfficientNet-Lite0: CIFAR-10 by ImageNet's classes",
            images.WEIGHTS,
            lambda a: images.make(*sized(a), folder=a.data),
            fewer=3,
        ),
    }


def asked(names: Sequence[str] | None) -> dict[str, Model]:
    """The models of these names; None is all."""
    known = models()
    unknown = [name for name in names or () if name not in known]
    if unknown:
        raise ValueError(f"--models has {', '.join(unknown)}, expected some of {', '.join(known)}")
    return {name: known[name] for name in names or known}


def load_or_make(name: str, model: Model, args: argparse.Namespace) -> OutsideStreams:
    """The model's streams, from the cache where they have the size asked for."""
    args = argparse.Namespace(**vars(args) | {"streams": args.streams // model.fewer})
    path = args.cache / f"{name}-{args.kind}-{args.streams}x{args.frames}-s{args.seed}.npz"
    if path.is_file():
        return streams.load(path)
    made = model.make(args)
    streams.save(made, path)
    print(f"{name}: {args.streams} streams x {args.frames} frames: {path}")
    return made


def text_table(rows: Sequence[Row]) -> str:
    """To be read in a terminal."""
    lines = [f"{'':28}" + "".join(f"{head:>{max(10, len(head) + 2)}}" for head in HEADS)]
    for r in rows:
        lines.append(
            f"{r.contender:28}{r.nll:10.4f}{100 * r.accuracy:9.2f}%{r.excess_flips:14.2f}{r.delay:10.2f}"
            f"{r.confident_errors:18.2f}"
        )
    return "\n".join(lines)


def verdict(rows: Sequence[Row]) -> str:
    """What was promised, beside what came out."""
    by_name = {row.contender: row for row in rows}
    bare, home, ours = (by_name[name] for name in (OFF, DEFAULT, FITTED))
    rivals = [row for row in rows if row.contender not in (OFF, DEFAULT, FITTED)]
    nll, accuracy = min(row.nll for row in rivals), max(row.accuracy for row in rivals)
    return (
        f"fitted: NLL {ours.nll - nll:+.4f} and accuracy {100 * (ours.accuracy - accuracy):+.2f} points "
        f"against the best rival in each; default: accuracy {100 * (home.accuracy - bare.accuracy):+.2f} points "
        f"against bare"
    )


def record(name: str, model: Model, kind: str, row: Row, entry: Contender, size: tuple[int, ...]) -> dict[str, object]:
    """One line of the CSV file."""
    whence = {"model": name, "package": model.weights.package, "version": model.weights.version, "kind": kind}
    chosen = json.dumps({name: _rounded(value) for name, value in entry.chosen.items()})
    return {**whence, **asdict(row), "streams": size[0], "frames": size[1], "chosen": chosen}


def _rounded(value: float | list[float]) -> float | list[float]:
    """To six digits."""
    return [float(f"{x:.6g}") for x in value] if isinstance(value, list) else float(f"{value:.6g}")


def add_stream_arguments(parser: argparse.ArgumentParser) -> None:
    """Of the streams that models are run over, and where they are kept."""
    parser.add_argument(
        "--streams", type=commands.whole(2, 10_000), default=streams.STREAMS, metavar="R", help="default: %(default)s"
    )
    parser.add_argument(
        "--frames", type=commands.whole(2, 10_000), default=300, metavar="T", help="default: %(default)s"
    )
    parser.add_argument("--seed", type=commands.seed, default=0, help="of streams and searches (default: %(default)s)")
    parser.add_argument(
        "--data", type=commands.path, metavar="DIR", help="where CIFAR-10 lies (default: KNOB_DATA, ./data)"
    )
    parser.add_argument(
        "--cache", type=commands.out_folder, default=CACHE, metavar="DIR", help="of logits (default: %(default)s)"
    )


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = commands.parser("train.outside", __doc__)
    parser.add_argument(
        "--models", nargs="+", action=commands.Several, metavar="NAME", help="speech, text, images (default: all)"
    )
    add_stream_arguments(parser)
    parser.add_argument("--kind", choices=CHANGE_STREAMS, default="mixed", help="default: %(default)s")
    parser.add_argument("--evaluations", type=commands.positive, default=contenders.EVALUATIONS, metavar="N",
                        help="settings tried for each filter (default: %(default)s)")  # fmt: skip
    parser.add_argument("--out", type=commands.out_file, metavar="FILE.csv", help="write the tables, too")
    return parser.parse_args(arguments)


def work(args: argparse.Namespace) -> None:
    lines = []
    for name, model in asked(args.models).items():
        fitting, testing = load_or_make(name, model, args).halves
        entries = contenders.contenders(fitting, args.evaluations, args.seed)
        rows = contenders.rows(entries, testing)
        print(f"\n{model.words}\n{text_table(rows)}\n{verdict(rows)}", flush=True)
        size = testing.labels.shape
        for row, entry in zip(rows, entries, strict=True):
            lines.append(record(name, model, args.kind, row, entry, size))
    if args.out:
        result_tables.write(lines, args.out)


def main(arguments: Sequence[str] | None = None) -> int:
    args = parse(arguments)
    return commands.run("train.outside", lambda: work(args))


if __name__ == "__main__":
    sys.exit(main())
