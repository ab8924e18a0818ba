"""Run models over change streams: `python -m train.change_streams --checkpoint FILE --split validation --out F.npz`.

For choosing and fitting: `validation`, the last 2,000 training pictures under the four training corruptions, and
`pairs`, the same under two of them at a time: the encoder has seen each alone, but no pair, so that answers flicker as
they do under a corruption that nobody trained on.
For the final measurement alone: `test`, test pictures 2,000-9,999 under the fifteen unseen corruptions.
Nothing else is offered, so nothing can be chosen on test material. Streams take the corruptions in turn.
The file is one of `knob_core.branches`, with the corruption and the motion of every stream beside it.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tqdm import tqdm

from knob_core import branches, checkpoint, corruptions, data, devices
from knob_core.branches import Branches
from knob_core.data import Images, Labels
from knob_core.data.pixels import to_bytes
from knob_core.streams import change
from knob_core.streams.change import CHANGE_STREAMS, ChangePlan
from knob_core.streams.change_frames import ChangeFrames
from train import commands
from train.measuring import branch_outputs
from train.measuring.branch_outputs import BranchArrays, Member
from train.training.recipes import held_out

STREAMS = 96
MOST_STREAMS, MOST_FRAMES = 100_000, 10_000


@dataclass(frozen=True)
class Split:
    """Which pictures and corruptions, and the number of the first stream: splits share no schedule and no noise."""

    source: str  # of CIFAR-10
    first: int  # first picture
    end: int  # one after the last picture
    corruptions: tuple[str, ...]
    first_stream: int


PAIRS = tuple("+".join(pair) for pair in itertools.combinations(corruptions.TRAINING, 2))
SPLITS = {
    "validation": Split("train", 48_000, 50_000, corruptions.TRAINING, 0),
    "pairs": Split("train", 48_000, 50_000, PAIRS, 500_000),
    "test": Split("test", 2_000, 10_000, corruptions.TEST, 1_000_000),
}


@dataclass(frozen=True)
class Work:
    """Streams that are the same for every model."""

    images: Images  # (N, 3, 32, 32)
    plans: list[ChangePlan]
    corruptions: list[str]  # one a stream
    numbers: list[int]  # of the streams
    first_picture: int
    seed: int


def prepare(
    images: Images, labels: Labels, split: Split, kind: str, count: int, frames: int, seed: int, names: Sequence[str]
) -> Work:
    """The plans of `count` streams over the pictures of a split."""
    check_corruptions(names, split)
    check_size(count, frames)
    part = slice(split.first, split.end)
    numbers = [split.first_stream + index for index in range(count)]
    plans = [change.plan(labels[part], kind, frames, seed, number) for number in numbers]
    return Work(images[part], plans, [names[i % len(names)] for i in range(count)], numbers, split.first, seed)


def check_size(count: int, frames: int) -> None:
    """More streams than that would share schedules and noise with the next split."""
    for name, value, most in (("--streams", count, MOST_STREAMS), ("--frames", frames, MOST_FRAMES)):
        if not 1 <= value <= most:
            raise ValueError(f"{name} is {value!s:.40}, expected 1 to {most}")


def check_corruptions(names: Sequence[str], split: Split) -> None:
    wrong = [name for name in names if name not in split.corruptions]
    if wrong or not names:
        raise ValueError(
            f"--corruptions has {', '.join(wrong) or 'none'}; this split allows {', '.join(split.corruptions)}"
        )


def check_held_out(path: Path, split: Split) -> None:
    """Refuse a model that may have been trained on the validation pictures."""
    if split.source != "train":
        return
    count = held_out(checkpoint.read_header(path)) or 0
    if count < split.end - split.first:
        raise ValueError(f"{path} held out {count} training pictures, expected at least {split.end - split.first}")


def run(members: Sequence[Member], work: Work, quiet: bool = False) -> dict[str, Branches]:
    """Branch outputs of every member, by its name; equal encoders run once."""
    found: dict[str, list[BranchArrays]] = {member.name: [] for member in members}
    device = next(members[0].model.parameters()).device
    jobs = list(zip(work.plans, work.corruptions, work.numbers, strict=True))
    for plan, corruption, number in tqdm(jobs, unit="stream", disable=True if quiet else None, dynamic_ncols=True):
        stream = ChangeFrames(work.images, plan, corruption, work.seed, number, device)
        arrays = branch_outputs.compute(members, to_bytes(stream.frames()))
        for member in members:
            found[member.name].append(arrays[member.branches])
    return {name: _branches(parts, work) for name, parts in found.items()}


def _branches(parts: Sequence[BranchArrays], work: Work) -> Branches:
    z_static, z_dyn, u_star = (np.stack([getattr(p, n) for p in parts]) for n in ("z_static", "z_dyn", "u_star"))
    labels, severity, segment = (
        np.stack([getattr(plan, name) for plan in work.plans]) for name in ("labels", "severity", "segment")
    )
    content = np.stack([plan.picture for plan in work.plans]) + work.first_picture  # places in CIFAR-10's split
    return Branches(z_static, z_dyn, u_star, labels, severity, content, segment)


def extras(work: Work, **about: str | int) -> dict[str, np.ndarray]:
    """What a table may want to group streams by: corruption (R,) and moving (R,); and `about`, one JSON object."""
    moving = np.array([plan.moving for plan in work.plans])
    return {"corruption": np.array(work.corruptions), "moving": moving, "about": np.array(json.dumps(about))}


def _out(text: str) -> Path:
    return (commands.out_file if text.endswith(".npz") else commands.out_folder)(text)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = commands.parser("train.change_streams", __doc__)
    parser.add_argument(
        "--checkpoint", nargs="+", action=commands.Several, type=commands.path, required=True, metavar="FILE"
    )
    parser.add_argument("--split", choices=SPLITS, required=True)
    parser.add_argument("--kind", choices=CHANGE_STREAMS, default="mixed", help="default: %(default)s")
    parser.add_argument("--streams", type=int, default=STREAMS, metavar="R", help="default: %(default)s")
    parser.add_argument("--frames", type=int, default=change.FRAMES, metavar="T", help="default: %(default)s")
    parser.add_argument("--seed", type=commands.seed, default=0, help="of plans and noise (default: %(default)s)")
    parser.add_argument(
        "--corruptions", nargs="+", action=commands.Several, metavar="NAME",
        help="some of the split's; default: all of them",
    )  # fmt: skip
    parser.add_argument(
        "--data", type=commands.path, metavar="DIR", help="where CIFAR-10 lies (default: KNOB_DATA, ./data)"
    )
    parser.add_argument("--device", type=commands.device, default="auto", help="auto, cpu, cuda, cuda:1, ...")
    parser.add_argument("--out", type=_out, required=True, metavar="FILE.npz",
                        help="or a folder, for files <split>-<kind>-<model>.npz")  # fmt: skip
    return parser.parse_args(arguments)


def work(args: argparse.Namespace) -> None:
    split = SPLITS[args.split]
    names = tuple(args.corruptions or split.corruptions)
    check_corruptions(names, split)
    check_size(args.streams, args.frames)
    for path in args.checkpoint:
        check_held_out(path, split)
    one = args.out.suffix == ".npz"
    if one and len(args.checkpoint) > 1:
        raise ValueError(f"--out is the file {args.out}, expected a folder for {len(args.checkpoint)} checkpoints")
    members = branch_outputs.load(args.checkpoint, devices.pick(args.device))
    images, labels = data.load_cifar10(args.data, split.source)
    prepared = prepare(images, labels, split, args.kind, args.streams, args.frames, args.seed, names)
    (args.out.parent if one else args.out).mkdir(parents=True, exist_ok=True)
    for name, made in run(members, prepared).items():
        path = args.out if one else args.out / f"{args.split}-{args.kind}-{name}.npz"
        about = {"split": args.split, "kind": args.kind, "seed": args.seed, "model": name}
        branches.save(made, path, "float16", **extras(prepared, **about))
        print(f"{name}: {len(prepared.plans)} streams x {args.frames} frames: {path}")


main = commands.main_of("train.change_streams", parse, work)

if __name__ == "__main__":
    sys.exit(main())
