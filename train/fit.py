"""Train a method: `python -m train.fit --method knob-ode --recipe pocket --seed 0`, or `--all` for the fifteen runs.

Runs are resumable: after a kill or Ctrl-C the same command goes on, and ends with the same bits.
Several processes: `torchrun --nproc-per-node=N -m train.fit ...`.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from knob_core import checkpoint, data, models
from knob_core.library import result_tables
from train import commands
from train.training import distributed, loop, losses, validation
from train.training.batches import Loader
from train.training.encodings import Encodings
from train.training.progress_bar import Progress
from train.training.recipes import RECIPES, Recipe, as_dict, check, override
from train.training.run_lock import locked

SEEDS = (0, 1, 2)
MIN_WIDTH = 8  # narrower, torch's channels-last convolutions have been seen to corrupt memory in the backward pass
WARM_ENTRIES = (
    *("name", "width", "warm", "batch", "chunk", "clean_share"),
    *("curriculum", "label_smoothing", "validation", "limit"),
)


@dataclass(frozen=True)
class Workplace:
    """Where and on what a run happens."""

    device: torch.device
    rank: int
    world: int
    runs: Path
    images: Tensor  # (N, 3, 32, 32) uint8
    labels: Tensor  # (N,)
    quiet: bool = False
    compile: bool = False

    def split(self, recipe: Recipe) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
        """Training part and held-out part: the last `validation` images are never trained on."""
        cut = len(self.images) - recipe.validation
        if recipe.limit > cut:
            kept = f"{recipe.validation} of {len(self.images)} are held out for validation"
            raise commands.WrongArgument(f"limit is {recipe.limit}, expected at most {cut}, since {kept}")
        train = slice(0, recipe.limit or cut)
        return (self.images[train], self.labels[train]), (self.images[cut:], self.labels[cut:])

    def alone_in(self, folder: Path, wait: bool = False) -> AbstractContextManager[None]:
        """The lock on a run's folder, held by the first of the run's processes."""
        return locked(folder, wait) if self.rank == 0 else nullcontext()


def fit(
    method: str, recipe: Recipe, seed: int, place: Workplace, encodings: Encodings | None = None
) -> models.GatedClassifier:
    """Train one method of one seed to its end; the warm stage first, where the recipe has one.

    Methods of a seed that are fitted after one another may share their frozen encoder's `encodings`.
    """
    if recipe.width < MIN_WIDTH:
        raise ValueError(f"width must be at least {MIN_WIDTH} to train, got {recipe.width}")
    identity = {"recipe": as_dict(recipe), "method": method, "seed": seed}
    torch.manual_seed(seed)
    model = models.build(method, recipe.width).to(place.device)
    if recipe.warm is not None:
        model.encoder.load_state_dict(warm_encoder(recipe, seed, place))
        model.encoder.requires_grad_(False)
    frozen = (model.encoder,) if recipe.warm is not None else ()
    folder = place.runs / recipe.name / f"{method}-s{seed}"
    measure = lambda held: validation.measure_method(model, held)  # noqa: E731
    step = functools.partial(losses.method_step, encodings=(encodings or Encodings(limit=0)) if frozen else None)
    with place.alone_in(folder):
        run = _train(model, step, recipe, 1, folder, identity, seed, place, measure, frozen)
        if place.rank == 0:
            torch_version = torch.__version__.split("+")[0]
            header = {**identity, "history": run.history[-1], "data": "CIFAR-10", "torch": torch_version}
            checkpoint.save(model.eval(), folder / "final.safetensors", header)
    return model.eval()


def warm_encoder(recipe: Recipe, seed: int, place: Workplace) -> dict[str, Tensor]:
    """The encoder that all methods of a seed share: trained now, or taken from an earlier run."""
    assert recipe.warm is not None
    identity = {"recipe": _warm_part(recipe), "method": "warm", "seed": seed}
    torch.manual_seed(seed)
    model = losses.WarmClassifier(models.Encoder(recipe.width), 8 * recipe.width, 10).to(place.device)
    folder = place.runs / recipe.name / f"warm-s{seed}"
    measure = lambda held: validation.measure_warm(model, held)  # noqa: E731
    with place.alone_in(folder, wait=True):  # who comes second finds the encoder trained
        _train(model, losses.warm_step, recipe, 0, folder, identity, seed, place, measure, ())
    return model.encoder.state_dict()


def _warm_part(recipe: Recipe) -> dict[str, Any]:
    """The entries that decide a warm stage; a change of the others leaves its encoder good."""
    whole = as_dict(recipe)
    return {name: whole[name] for name in WARM_ENTRIES}


def _train(
    model: nn.Module,
    step: loop.StepFunction,
    recipe: Recipe,
    stage_index: int,
    folder: Path,
    identity: dict[str, Any],
    seed: int,
    place: Workplace,
    measure: Any,
    frozen: tuple[nn.Module, ...],
) -> loop.Run:
    stage = recipe.warm if stage_index == 0 else recipe.method
    assert stage is not None
    model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch's stubs forget this one
    if place.world > 1:
        distributed.share_batch_statistics(model)
    if place.compile:
        model.compile()
    training, held_out = place.split(recipe)
    loader = Loader(*training, recipe, seed, place.rank, place.world)
    held = validation.make(*held_out, seed)
    run = loop.Run(
        model, step, loader, recipe, stage, stage_index, folder, identity, lambda: measure(held),
        place.device, place.rank, frozen,
    )  # fmt: skip
    quiet = place.quiet or place.rank > 0
    loop.train(run, Progress(folder.name, stage.epochs, loader.steps, recipe.batch, quiet))
    if place.rank == 0:
        result_tables.write(run.history, folder / "history.csv", float_format=None)
    distributed.wait_for_all()
    return run


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = commands.parser("train.fit", __doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--method", choices=models.METHODS)
    what.add_argument("--all", action="store_true", help="all five methods of --seeds; finished ones are skipped")
    what.add_argument("--warm-only", action="store_true", help="only the encoders of --seeds")
    parser.add_argument("--recipe", choices=RECIPES, default="pocket")
    parser.add_argument("--seed", type=commands.seed, default=0, help="of a single --method")
    parser.add_argument("--seeds", type=commands.seed, nargs="+", default=list(SEEDS), help="of --all and --warm-only")
    parser.add_argument("--data", type=Path, help="folder with CIFAR-10; else KNOB_DATA or ./data")
    parser.add_argument("--download", action="store_true", help="fetch CIFAR-10 where it is missing")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="where states, histories and results go")
    parser.add_argument("--device", type=commands.device, default="auto", help="auto, cpu, cuda, cuda:1, ...")
    parser.add_argument(
        "--threads", type=commands.positive, default=1, help="CPU threads; equal bits want equal numbers"
    )
    parser.add_argument("--compile", action="store_true", help="torch.compile the model")
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument(
        "--set",
        nargs="+",
        default=[],
        metavar="NAME=VALUE",
        help="change the recipe: method.epochs=2",
    )
    return parser.parse_args(arguments)


def work(args: argparse.Namespace) -> None:
    try:
        recipe = check(override(RECIPES[args.recipe], args.set))
    except ValueError as error:
        raise commands.WrongArgument(str(error)) from error
    device = distributed.own_device(args.device)
    torch.set_num_threads(args.threads)
    images, labels = data.load_cifar10(args.data, "train", download=args.download)
    rank, world = distributed.start(device)
    tensors = torch.from_numpy(images).to(device), torch.from_numpy(labels).to(device)
    place = Workplace(device, rank, world, args.runs, *tensors, quiet=args.quiet, compile=args.compile)
    if args.warm_only:
        for seed in args.seeds:
            warm_encoder(recipe, seed, place)
        return
    for seed in args.seeds if args.all else [args.seed]:
        encodings = Encodings() if args.all else None
        for method in models.METHODS if args.all else [args.method]:
            fit(method, recipe, seed, place, encodings)


def main(arguments: Sequence[str] | None = None) -> int:
    args = parse(arguments)
    return commands.run("train.fit", lambda: work(args))


if __name__ == "__main__":
    sys.exit(main())
