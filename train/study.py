"""Which losses make the gate follow the severity? Heads and gate on the features of one warm encoder, a row a variant.

`python -m train.study --seed 0 --data DIR` prints the table of train/STUDY.md; the encoder runs once.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.stats import spearmanr
from torch import Tensor
from torch.nn.functional import cross_entropy

from knob_core import corruptions, data, metrics, models, seeding
from knob_core.inference import over_batches
from knob_core.probes.learning import gate_advantage
from train import commands
from train.training import loop, losses, saved_state
from train.training.batches import Batch, augment, corrupt_chunk
from train.training.recipes import POCKET, Recipe

SEVERITIES = (1.0, 2.0, 3.0, 4.0, 5.0)
VARIANTS: dict[str, dict[str, Any]] = {
    "the recipe": {},
    "fused loss only": {"severity_weight": 0.0, "advantage_weight": 0.0},
    "advantage target only": {"severity_weight": 0.0},
    "severity target only": {"advantage_weight": 0.0},
    "severity target halved": {"severity_weight": POCKET.severity_weight / 2},
    "severity target doubled": {"severity_weight": POCKET.severity_weight * 2},
    "no branch smoothed": {"static_smoothing": 0.0, "dyn_smoothing": 0.0},
    "dynamic not smoothed": {"dyn_smoothing": 0.0},
    "static smoothed twice": {"static_smoothing": POCKET.static_smoothing * 2},
}


@dataclass(frozen=True)
class Features:
    """What the heads read, with labels and severities."""

    encoded: tuple[Tensor, Tensor]
    labels: Tensor
    severity: Tensor

    def __len__(self) -> int:
        return len(self.labels)

    def rows(self, index: Tensor | slice) -> Features:
        return Features((self.encoded[0][index], self.encoded[1][index]), self.labels[index], self.severity[index])


def encode(model: models.GatedClassifier, images: Tensor, labels: Tensor, severity: Tensor) -> Features:
    features, statistics = over_batches(model.encode, images)
    return Features((features, statistics), labels, severity)


def training_features(model: models.GatedClassifier, images: Tensor, labels: Tensor, recipe: Recipe) -> Features:
    """Augmented, half of them corrupted, as a batch of the method stage is."""
    generator = seeding.generator("cpu", 0, "study")
    x, severity = corrupt_chunk(augment(images.float() / 255, 32, generator), 5.0, recipe.clean_share, generator)
    return encode(model, x, labels, severity)


def test_features(model: models.GatedClassifier, images: Tensor, labels: Tensor) -> dict[str, Features]:
    """Clean, and each unseen corruption at five severities."""
    x = images.float() / 255
    cells = {"clean": encode(model, x, labels, torch.zeros(len(x)))}
    for name in corruptions.TEST:
        for s in SEVERITIES:
            y = corruptions.corrupt(x, name, s, seeding.generator("cpu", 1, "study", name, int(s)))
            cells[f"{name} {s:g}"] = encode(model, y, labels, torch.full((len(x),), s))
    return cells


def train_heads(model: models.GatedClassifier, train: Features, recipe: Recipe, epochs: int) -> None:
    """The method stage on cached features, with the recipe's own optimiser and schedule; no streams."""
    model.encoder.requires_grad_(False)
    optimizer = loop.make_optimizer(recipe.method, model)
    generator = torch.Generator().manual_seed(0)
    steps = len(train) // recipe.batch
    model.train()
    for epoch in range(epochs):
        order = torch.randperm(len(train), generator=generator)
        for step, index in enumerate(order.split(recipe.batch)[:steps]):
            for group in optimizer.param_groups:
                group["lr"] = loop.learning_rate(recipe.method, (epoch + step / steps) / epochs)
            rows = train.rows(index)
            batch = Batch(torch.empty(0), rows.labels, rows.severity, ())
            outputs = model.decide(*rows.encoded)
            if model.dynamics.gated:
                loss = losses.branch_loss(outputs, batch, recipe) + losses.gate_loss(outputs, batch, recipe)
            else:
                loss = cross_entropy(outputs.z_static, rows.labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    model.eval()


@torch.no_grad()
def measure(model: models.GatedClassifier, cells: dict[str, Features]) -> dict[str, float]:
    """The acceptance figures of the gate, over the unseen corruptions."""
    out = {name: model.decide(*cell.encoded) for name, cell in cells.items()}
    ce = {name: [float(cross_entropy(z, cells[name].labels)) for z in (o.z_dyn, o.z_static)] for name, o in out.items()}
    worst = np.mean([ce[f"{name} 5"] for name in corruptions.TEST], 0)
    g = {name: torch.sigmoid(o.u_star) for name, o in out.items()}
    corrupted = [name for name in cells if name != "clean"]
    columns = [(out[name].z_static, out[name].z_dyn, g[name], cells[name].labels) for name in corrupted]
    probe = gate_advantage(*(torch.cat(column).numpy() for column in zip(*columns, strict=True)))
    mean_u = {n: [float(out[f"{n} {s:g}"].u_star.mean()) for s in SEVERITIES] for n in corruptions.TEST}
    rho = [spearmanr(SEVERITIES, means)[0] for means in mean_u.values()]
    probs = {name: metrics.softmax(model.logits(o, "settled").numpy()) for name, o in out.items()}
    labels = cells["clean"].labels.numpy()
    return {
        "dyn clean": ce["clean"][0],
        "static clean": ce["clean"][1],
        "dyn 5": worst[0],
        "static 5": worst[1],
        "shot 1": float(g["shot_noise 1"].mean()),
        "shot 5": float(g["shot_noise 5"].mean()),
        "monotone": float(sum(r < -0.899 for r in rho)),
        "AUC OA": probe.auc_oa["all"],
        "AUC GCA": probe.auc_gca["all"],
        "Π": probe.polarisation,
        "saturated": probe.saturated,
        "acc clean": 100 * metrics.accuracy(probs["clean"], labels),
        "Avg-C": 100 * float(np.mean([metrics.accuracy(probs[name], labels) for name in corrupted])),
        "ECE_deb": float(np.mean([metrics.ece_debiased(probs[name], labels) for name in corrupted])),
    }


def work(args: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    state, _ = saved_state.read(args.runs / "pocket" / f"warm-s{args.seed}" / "state.safetensors")
    prefix = "model.encoder."
    encoder = {name[len(prefix) :]: value for name, value in state.items() if name.startswith(prefix)}
    images, labels = (torch.from_numpy(array) for array in data.load_cifar10(args.data))
    sample, sample_labels = (torch.from_numpy(array)[:: 1000 // args.test] for array in data.load_sample()[:2])

    def fresh(method: str = "knob-ia") -> models.GatedClassifier:
        torch.manual_seed(args.seed)
        model = models.build(method, POCKET.width)
        model.encoder.load_state_dict(encoder)
        return model.eval()

    picked = torch.randperm(len(images) - POCKET.validation, generator=torch.Generator().manual_seed(0))[: args.images]
    train = training_features(fresh(), images[picked], labels[picked], POCKET)
    cells = test_features(fresh(), sample, sample_labels)
    rows = [("static alone", fresh("static"), POCKET)]
    rows += [(name, fresh(), replace(POCKET, **changes)) for name, changes in VARIANTS.items()]
    for number, (name, model, recipe) in enumerate(rows):
        train_heads(model, train, recipe, args.epochs)
        result = measure(model, cells)
        if number == 0:
            print("| variant | " + " | ".join(result) + " |\n|---|" + "---|" * len(result))
        print(f"| {name} | " + " | ".join(f"{value:.3f}" for value in result.values()) + " |", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = commands.parser("train.study", __doc__)
    parser.add_argument("--seed", type=commands.seed, default=0)
    parser.add_argument("--data", type=commands.path)
    parser.add_argument("--runs", type=commands.path, default=Path("runs"))
    parser.add_argument("--images", type=commands.positive, default=20000, help="training images, each seen once")
    parser.add_argument("--epochs", type=commands.positive, default=10, help="over the cached features")
    parser.add_argument("--test", type=commands.whole(1, 1000), default=1000, help="images of the shipped sample")
    args = parser.parse_args(arguments)
    return commands.run("train.study", lambda: work(args))


if __name__ == "__main__":
    sys.exit(main())
