"""Choose how branches and gate are trained, by leaving one training corruption out: `python -m train.choose`.

For each of the four training corruptions an encoder is trained without it, heads and gate of every variant are fitted
on that encoder without it, and judged by it on held-out training images: it is unseen for all of them. These encoders
are short, so with `--encoder CHECKPOINT` a finished one, which has seen all four, is judged on in the same way. Chosen
is the simplest variant whose mean NLL of the settled gate over all of these rows is within one standard error of the
lowest. No test image and no test corruption is looked at (train/PROTOCOL.md).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from knob_core import corruptions, data, fusion, metrics, models, seeding
from knob_core.library import result_tables
from knob_core.metrics import clustered
from knob_core.models import GatedClassifier
from knob_core.probes.learning import auc, oracle_advantage
from train import commands
from train.fit import Workplace, encoder_of
from train.measuring import plain_rivals
from train.measuring.branch_outputs import BranchArrays
from train.study import Features, train_heads
from train.training import loop, losses, selection, validation
from train.training.batches import Loader, augment, corrupt_chunk
from train.training.progress_bar import Progress
from train.training.recipes import POCKET, RECIPES, Recipe, as_dict

PLAIN = {name: getattr(POCKET, name) for name in
         ("static_reads", "static_sees", "fused_teaches", "advantage_weight", "severity_weight")}  # fmt: skip
JOINT = {"fused_teaches": "branches"}
NO_TARGETS = {"advantage_weight": 0.0, "severity_weight": 0.0}
STAGES = {"static_reads": "stages"}
CORRUPTED = {"static_sees": "corrupted"}
VARIANTS: dict[str, dict[str, Any]] = {  # what differs from PLAIN; simplest first
    "the paper's heads": {},
    "static sees corrupted images": CORRUPTED,
    "static reads stages 1-3": STAGES,
    "static reads stages 1-3, sees corrupted images": STAGES | CORRUPTED,
    "the last, fused loss only": STAGES | CORRUPTED | NO_TARGETS,
    "the last, with the advantage target": STAGES | CORRUPTED | {"severity_weight": 0.0},
    "the last, with the severity target": STAGES | CORRUPTED | {"advantage_weight": 0.0},
    "the paper's heads, taught together": JOINT,
    "the paper's heads, taught together, fused loss only": JOINT | NO_TARGETS,
    "stages 1-3, taught together": STAGES | JOINT,
    "stages 1-3, taught together, fused loss only": STAGES | JOINT | NO_TARGETS,
    "stages 1-3, taught together, with the advantage target": STAGES | JOINT | {"severity_weight": 0.0},
    "stages 1-3, taught together, with the severity target": STAGES | JOINT | {"advantage_weight": 0.0},
}
SEVERITIES = (1.0, 2.0, 3.0, 4.0, 5.0)
SCORE = "nll"
SHORT, FINISHED = "short, without it", "finished"  # what a row was judged on


class Size(NamedTuple):
    """How much a choice may cost."""

    images: int = 12000  # training images that heads are fitted on, each once clean or corrupted
    epochs: int = 8  # of heads and gate
    encoder_images: int = 16000
    encoder_epochs: int = 6


def encoder_without(left_out: str, recipe: Recipe, size: Size, seed: int, place: Workplace) -> dict[str, Tensor]:
    """A short warm stage on the other three corruptions; goes on where it was stopped."""
    assert recipe.warm is not None
    stage = replace(recipe.warm, epochs=size.encoder_epochs, window_epochs=size.encoder_epochs - 1)
    short = replace(recipe, name="choose", warm=stage, limit=size.encoder_images)
    kept = tuple(name for name in selection.require_training_corruptions(corruptions.TRAINING) if name != left_out)
    torch.manual_seed(seed)
    model = losses.WarmClassifier(models.Encoder(recipe.width), 8 * recipe.width, 10)
    training, held_out = place.split(short)
    folder = place.runs / "choose" / f"without-{left_out}-s{seed}"
    identity = {"recipe": as_dict(short), "method": "warm", "seed": seed, "corruptions": list(kept)}
    held = validation.make(held_out[0][:200], held_out[1][:200], seed)
    loader = Loader(*training, short, seed, names=kept)
    run = loop.Run(
        model.to(memory_format=torch.channels_last),  # type: ignore[call-overload]  # torch's stubs forget this one
        losses.warm_step, loader, short, stage, 0, folder, identity,
        lambda: validation.measure_warm(model, held), place.device,
    )  # fmt: skip
    with place.alone_in(folder, wait=True):  # who comes second finds the encoder trained
        loop.train(run, Progress(folder.name, stage.epochs, loader.steps, short.batch, place.quiet))
    return model.encoder.state_dict()


@torch.no_grad()
def features_of(encoder: models.Encoder, images: Tensor, labels: Tensor, severity: Tensor) -> Features:
    """All that any variant reads."""
    encoder.eval()
    parts = [
        models.encode(encoder, part.contiguous(memory_format=torch.channels_last), True) for part in images.split(100)
    ]
    features, statistics = (torch.cat(part) for part in zip(*parts, strict=True))
    return Features((features, statistics), labels, severity)


def training_part(
    encoder: models.Encoder, images: Tensor, labels: Tensor, names: tuple[str, ...], recipe: Recipe
) -> Features:
    """Augmented, the clean share of them clean, the rest under the named corruptions."""
    generator = seeding.generator("cpu", 0, "choose")
    x = augment(images.float() / 255, images.shape[-1], generator)
    x, severity = corrupt_chunk(x, SEVERITIES[-1], recipe.clean_share, generator, names)
    return features_of(encoder, x, labels, severity)


def judging_part(encoder: models.Encoder, images: Tensor, labels: Tensor, name: str) -> Features:
    """Every held-out image once under the corruption, severities by turns."""
    (name,) = selection.require_training_corruptions([name])
    severity = torch.tensor(SEVERITIES)[torch.arange(len(images)) % len(SEVERITIES)]
    generator = seeding.generator("cpu", 0, "choose", name)
    return features_of(encoder, corruptions.corrupt(images.float() / 255, name, severity, generator), labels, severity)


@torch.no_grad()
def judge(model: GatedClassifier, judged: Features) -> tuple[dict[str, float], np.ndarray]:
    """Figures of one variant on the left-out corruption, and every picture's NLL (N,)."""
    outputs = model.eval().decide(*judged.encoded)
    found = BranchArrays(*(x.numpy() for x in outputs))
    labels, g = judged.labels.numpy(), torch.sigmoid(outputs.u_star).numpy()
    fused = fusion.diagnose(found.z_static, found.z_dyn, g)
    nll = metrics.cross_entropy(fused.z_fuse.astype(np.float64), labels)
    ce_static, ce_dyn = (metrics.cross_entropy(z.astype(np.float64), labels) for z in (found.z_static, found.z_dyn))
    constant = plain_rivals.choose(found, labels)  # in hindsight: a bound for any constant
    at_constant = metrics.cross_entropy(constant.logits(found)["constant"].astype(np.float64), labels)
    low, high = np.percentile(g, (5, 95))
    figures = {
        SCORE: float(nll.mean()),
        "static": float(ce_static.mean()),
        "dynamic": float(ce_dyn.mean()),
        "best constant": float(at_constant.mean()),
        "oracle": float(np.minimum(ce_static, ce_dyn).mean()),
        "accuracy": float((fused.top == labels).mean()),
        "ECE_deb": metrics.ece_debiased(metrics.softmax(fused.z_fuse.astype(np.float64)), labels),
        "agree": float(fusion.agreement(found.z_static, found.z_dyn).mean()),
        "T_eff": float(np.median(fused.t_eff)),
        "AUC": auc(g, oracle_advantage(found.z_static, found.z_dyn, labels)),
        "gate width": float(high - low),
    }
    return figures, nll


def compare(
    place: Workplace, recipe: Recipe, size: Size, seed: int, variants: Mapping[str, Mapping[str, Any]] = VARIANTS,
    encoder: Path | None = None,
) -> list[dict[str, Any]]:  # fmt: skip
    """One row for each variant and left-out corruption."""
    (images, labels), (held_images, held_labels) = place.split(replace(recipe, limit=0))
    picked = torch.randperm(len(images), generator=torch.Generator().manual_seed(seed))[: size.images]
    rows = []
    for kept, left_out in selection.leave_one_out():
        weights = (
            encoder_of(encoder, recipe).state_dict()
            if encoder is not None
            else encoder_without(left_out, recipe, size, seed, place)
        )
        body = models.Encoder(recipe.width)
        body.load_state_dict(weights)
        train = training_part(body, images[picked], labels[picked], kept, recipe)
        judged = judging_part(body, held_images, held_labels, left_out)
        first: np.ndarray | None = None
        for name, changes in variants.items():
            changed = replace(recipe, **{**PLAIN, **changes})
            torch.manual_seed(seed)
            model = models.build("knob-ia", recipe.width, static_reads=changed.static_reads)
            train_heads(model, train, changed, size.epochs)
            figures, nll = judge(model, judged)
            first = nll if first is None else first
            behind = clustered.mean(nll - first)
            which = SHORT if encoder is None else FINISHED
            about: dict[str, Any] = {"encoder": which, "variant": name, "left_out": left_out}
            row: dict[str, Any] = {**about, **figures}
            rows.append(row | {"less_first": behind.value, "error": behind.error})
            if not place.quiet:
                print(f"{left_out:14} {name:46} " + "  ".join(f"{k} {v:.3f}" for k, v in figures.items()), flush=True)
    return rows


def choice(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rule: the first variant whose mean score over encoders and left-out corruptions is as low as the lowest, but
    for one standard error of how far the lowest lies from the first variant."""
    names = list(dict.fromkeys(row["variant"] for row in rows))
    of = {name: [row for row in rows if row["variant"] == name] for name in names}
    mean = {name: float(np.mean([row[SCORE] for row in of[name]])) for name in names}
    best = min(names, key=lambda name: mean[name])
    error = float(np.hypot.reduce([row["error"] for row in of[best]])) / len(of[best])
    return next(name for name in names if mean[name] <= mean[best] + error)


def work(args: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    if args.encoder is not None:
        encoder_of(args.encoder, RECIPES[args.recipe])  # one that cannot be used is refused before the short ones
    images, labels = (torch.from_numpy(array) for array in data.load_cifar10(args.data, "train"))
    place = Workplace(torch.device("cpu"), 0, 1, args.runs, images, labels, quiet=args.quiet)
    size = Size(args.images, args.epochs, args.encoder_images, args.encoder_epochs)
    rows = compare(place, RECIPES[args.recipe], size, args.seed)
    if args.encoder is not None:
        rows += compare(place, RECIPES[args.recipe], size, args.seed, encoder=args.encoder)
    frame = result_tables.write(rows, args.out)
    print(frame.groupby(["encoder", "variant"], sort=False).mean(numeric_only=True).round(4).to_string())
    print(f"chosen: {choice(rows)}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = commands.parser("train.choose", __doc__)
    parser.add_argument("--recipe", choices=[name for name, recipe in RECIPES.items() if recipe.warm], default="robust")
    parser.add_argument("--seed", type=commands.seed, default=0)
    parser.add_argument("--data", type=commands.path)
    parser.add_argument("--runs", type=commands.out_folder, default=Path("runs"))
    parser.add_argument(
        "--encoder", type=commands.path, metavar="CHECKPOINT", help="a finished encoder beside the four short ones"
    )
    for name, value in Size()._asdict().items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=commands.positive, default=value)
    parser.add_argument("--out", type=commands.out_file, default=result_tables.RESULTS / "choice.csv", metavar="FILE")
    parser.add_argument("--quiet", action="store_true")
    args = parser.parse_args(arguments)
    return commands.run("train.choose", lambda: work(args))


if __name__ == "__main__":
    sys.exit(main())
