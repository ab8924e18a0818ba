"""Train a method: `python -m train.fit --method knob-ode --recipe pocket --seed 0`, or `--all` for all methods.

Runs are resumable: after a kill or Ctrl-C the same command goes on, and on a CPU ends with the same bits.
Several processes: `torchrun --nproc-per-node=N -m train.fit ...`.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from knob_core import checkpoint, data, methods, models
from knob_core.folder_lock import locked
from knob_core.library import result_tables
from train import commands
from train.measuring import branch_outputs
from train.training import distributed, loop, losses, validation
from train.training.batches import Loader
from train.training.encodings import Encodings
from train.training.progress_bar import Progress
from train.training.recipes import MIN_WIDTH, RECIPES, Recipe, as_dict, check, held_out, override

SEEDS = (0, 1, 2)
WARM_ENTRIES = (
    *("name", "width", "warm", "batch", "chunk", "clean_share"),
    *("curriculum", "label_smoothing", "validation", "limit"),
)

LATER_WARM_ENTRIES = ("padding", "severities", "continues")  # said where they are not what every encoder had before


class Rival(NamedTuple):
    """A member of the family that is trained otherwise, to stand beside the methods in tables."""

    method: str
    variant: str


# Static with the static branch's label smoothing: how much of a gate's calibration is smoothing alone?
RIVALS = {"static-smoothed": Rival("static", "smoothed")}


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
    encoder: Path | None = None  # a checkpoint whose encoder is used, frozen, instead of a warm stage's

    def split(self, recipe: Recipe) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
        """Training part and held-out part: the last `validation` images are never trained on."""
        cut = len(self.images) - recipe.validation
        if cut < 1:
            raise commands.WrongArgument(
                f"validation is {recipe.validation}, expected fewer than the {len(self.images)} images there are"
            )
        if recipe.limit > cut:
            kept = f"{recipe.validation} of {len(self.images)} are held out for validation"
            raise commands.WrongArgument(f"limit is {recipe.limit}, expected at most {cut}, since {kept}")
        train = slice(0, recipe.limit or cut)
        return (self.images[train], self.labels[train]), (self.images[cut:], self.labels[cut:])

    def alone_in(self, folder: Path, wait: bool = False) -> AbstractContextManager[None]:
        """The lock on a run's folder, held by the first of the run's processes."""
        return distributed.held_by_first(locked(folder, "trains in", "--runs", wait))


def fit(
    method: str, recipe: Recipe, seed: int, place: Workplace, encodings: Encodings | None = None
) -> models.GatedClassifier:
    """Train one method of one seed to its end; the warm stage first, where the recipe has one.

    Methods of a seed that are fitted after one another may share their frozen encoder's `encodings`.
    """
    if recipe.width < MIN_WIDTH:
        raise ValueError(f"width must be at least {MIN_WIDTH} to train, got {recipe.width}")
    identity = {"recipe": as_dict(recipe), "method": method, "seed": seed}
    rival = RIVALS.get(method)
    torch.manual_seed(seed)
    family = rival.method if rival else method
    reads = recipe.static_reads if methods.get(family).gate.gated else models.STATIC_READS[0]
    model = models.build(family, recipe.width, static_reads=reads).to(place.device)
    if place.encoder is not None:
        given = encoder_of(place.encoder, recipe, place.device)
        model.encoder.load_state_dict(given.state_dict())
        identity["encoder"] = branch_outputs.digest(given)[:16]
    elif recipe.warm is not None:
        model.encoder.load_state_dict(warm_encoder(recipe, seed, place))
    frozen = (model.encoder,) if place.encoder is not None or recipe.warm is not None else ()
    for module in frozen:
        module.requires_grad_(False)
    folder = place.runs / recipe.name / f"{method}-s{seed}"
    measure = lambda held: validation.measure_method(model, held)  # noqa: E731
    step = functools.partial(
        losses.method_step,
        encodings=(encodings or Encodings(0, model.reads_stages)) if frozen else None,
        smoothing=recipe.static_smoothing if rival else 0.0,
    )
    with place.alone_in(folder):
        run = _train(model, step, recipe, 1, folder, identity, seed, place, measure, frozen)
        if recipe.reset_form == "normalised":
            model.normalise_reset()
        if place.rank == 0:
            torch_version = torch.__version__.split("+")[0]
            header = {**identity, "history": run.history[-1], "data": "CIFAR-10", "torch": torch_version}
            header |= {"variant": rival.variant} if rival else {}
            checkpoint.save(model.eval(), folder / "final.safetensors", header)
    return model.eval()


def warm_encoder(recipe: Recipe, seed: int, place: Workplace) -> dict[str, Tensor]:
    """The encoder that all methods of a seed share: trained now, or taken from an earlier run."""
    assert recipe.warm is not None
    identity = {"recipe": _warm_part(recipe), "method": "warm", "seed": seed}
    torch.manual_seed(seed)
    model = losses.WarmClassifier(models.Encoder(recipe.width), 8 * recipe.width, 10).to(place.device)
    if recipe.continues:
        begun = continued_encoder(recipe, seed, place)
        model.encoder.load_state_dict(begun.state_dict())
        identity["begins with"] = branch_outputs.digest(begun)[:16]
    folder = place.runs / recipe.name / f"warm-s{seed}"
    measure = lambda held: validation.measure_warm(model, held)  # noqa: E731
    with place.alone_in(folder, wait=True):  # who comes second finds the encoder trained
        _train(model, losses.warm_step, recipe, 0, folder, identity, seed, place, measure, ())
    return model.encoder.state_dict()


def continued_encoder(recipe: Recipe, seed: int, place: Workplace) -> nn.Module:
    """The finished encoder that a warm stage begins with: Static has it, and every method of its seed the same."""
    path = place.runs / recipe.continues / f"static-s{seed}" / "final.safetensors"
    if not path.is_file():
        command = f"python -m train.fit --method static --recipe {recipe.continues} --seed {seed}"
        raise FileNotFoundError(f"{recipe.name} continues the encoder in {path}, which is missing; make it: {command}")
    return encoder_of(path, recipe, place.device)


def encoder_of(path: Path, recipe: Recipe, device: str | torch.device = "cpu") -> nn.Module:
    """The encoder of a checkpoint, of the recipe's width, that met none of its held-out pictures."""
    found, held = checkpoint.load(path, device), held_out(checkpoint.read_header(path))
    if found.width != recipe.width:
        expected = f"expected {recipe.width} as in the recipe"
        raise commands.WrongArgument(f"{path} has an encoder of width {found.width}, {expected}")
    if held is not None and held < recipe.validation:
        others = f"{path} held out the last {held} pictures, and may have been trained on the others"
        raise commands.WrongArgument(f"validation is {recipe.validation}, expected at most {held}: {others}")
    return found.encoder


def _warm_part(recipe: Recipe) -> dict[str, Any]:
    """The entries that decide a warm stage; a change of the others leaves its encoder good."""
    whole = as_dict(recipe)
    return {name: whole[name] for name in (*WARM_ENTRIES, *LATER_WARM_ENTRIES) if name in whole}


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
    before = RECIPES[recipe.continues].stage(0).epochs if recipe.continues and stage_index == 0 else 0
    loader = Loader(*training, recipe, seed, place.rank, place.world, epochs_before=before)
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
    what.add_argument("--method", choices=(*models.METHODS, *RIVALS))
    what.add_argument(
        "--all", action="store_true", help="all methods and their rival of --seeds; finished ones are skipped"
    )
    what.add_argument("--warm-only", action="store_true", help="only the encoders of --seeds")
    parser.add_argument("--recipe", choices=RECIPES, default="pocket")
    parser.add_argument("--seed", type=commands.seed, help="of a single --method; default: 0")
    parser.add_argument(
        "--seeds", type=commands.seed, nargs="+", action=commands.Several,
        help="of --all and --warm-only; default: 0 1 2",
    )  # fmt: skip
    parser.add_argument("--data", type=commands.path, help="folder with CIFAR-10; else KNOB_DATA or ./data")
    parser.add_argument("--download", action="store_true", help="fetch CIFAR-10 where it is missing")
    parser.add_argument(
        "--encoder", type=commands.path, metavar="CHECKPOINT", help="fit on this model's frozen encoder; no warm stage"
    )
    parser.add_argument(
        "--runs", type=commands.out_folder, default=Path("runs"), help="where states, histories and results go"
    )
    parser.add_argument("--device", type=commands.device, default="auto", help="auto, cpu, cuda, cuda:1, ...")
    parser.add_argument(
        "--threads", type=commands.threads, default=1, help="CPU threads; equal bits want equal numbers"
    )
    parser.add_argument("--compile", action="store_true", help="torch.compile the model")
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument(
        "--set",
        nargs="+",
        action="extend",  # in their order: of an entry that is set twice the later one counts
        default=[],
        metavar="NAME=VALUE",
        help="change the recipe: method.epochs=2",
    )
    args = parser.parse_args(arguments)
    if args.method is None and args.seed is not None:
        parser.error("--seed is of a single --method; --all and --warm-only take --seeds")
    if args.method is not None and args.seeds is not None:
        parser.error("--seeds is of --all and --warm-only; a single --method takes --seed")
    args.seed, args.seeds = args.seed or 0, args.seeds or list(SEEDS)
    return args


def work(args: argparse.Namespace) -> None:
    try:
        recipe = check(override(RECIPES[args.recipe], args.set), gated=args.all or args.method in methods.GATED)
    except ValueError as error:
        raise commands.WrongArgument(str(error)) from error
    if args.encoder is not None:
        encoder_of(args.encoder, recipe)  # refused before the data are read, if at all
    device = distributed.own_device(args.device)
    torch.set_num_threads(args.threads)
    images, labels = data.load_cifar10(args.data, "train", download=args.download)
    rank, world = distributed.start(device)
    tensors = torch.from_numpy(images).to(device), torch.from_numpy(labels).to(device)
    place = Workplace(device, rank, world, args.runs, *tensors, quiet=args.quiet, compile=args.compile)
    place = replace(place, encoder=args.encoder)
    if args.warm_only:
        for seed in args.seeds:
            warm_encoder(recipe, seed, place)
        return
    for seed in args.seeds if args.all else [args.seed]:
        encodings = Encodings(stages=recipe.static_reads == "stages") if args.all else None
        for method in (*models.METHODS, *RIVALS) if args.all else [args.method]:
            fit(method, recipe, seed, place, encodings)


def main(arguments: Sequence[str] | None = None) -> int:
    args = parse(arguments)
    return commands.run("train.fit", lambda: work(args))


if __name__ == "__main__":
    sys.exit(main())
