"""Put finished runs where the console finds them: `python -m train.ship` writes assets/checkpoints in half precision.

A model ships only when half precision leaves its accuracy on the sample as it was.
A run that `train.trim` has fitted to static memory ships as fitted. Rivals that only stand in tables do not ship.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from knob_core import checkpoint, data, files, models
from knob_core.assets import ASSETS
from knob_core.inference import over_batches
from train import commands

CHECKPOINTS = ASSETS / "checkpoints"
TOLERANCE = 0.002  # of accuracy: two images in a thousand


def sample_accuracy(model: models.GatedClassifier) -> float:
    images, labels, _ = data.load_sample()
    (logits,) = over_batches(lambda x: (model.predict(x, "settled"),), images)
    return float((logits.argmax(1) == torch.from_numpy(labels)).float().mean())


def ship(source: Path, folder: Path = CHECKPOINTS) -> Path:
    """One finished run: gives the shipped file."""
    whole, header = checkpoint.load(source), checkpoint.read_header(source)
    target = folder / f"{whole.method}-s{header['seed']}.safetensors"
    before = sample_accuracy(whole)
    with files.replacing(target) as temporary:  # what ships already stays until this one is checked
        checkpoint.save(whole, temporary, {**header, "sample_accuracy": before}, half=True)
        after = sample_accuracy(checkpoint.load(temporary))
        if abs(after - before) > TOLERANCE:
            changed = f"half precision changes the sample accuracy from {before:.3f} to {after:.3f}"
            raise ValueError(f"{source}: {changed}; not shipped")
    size = target.stat().st_size / 1e6
    print(f"{target.name}: sample accuracy {before:.3f}, in half precision {after:.3f}, {size:.2f} MB")
    return target


def work(runs: Path) -> None:
    torch.set_num_threads(1)
    finished = [
        path for path in sorted(runs.glob("*/final.safetensors")) if "variant" not in checkpoint.read_header(path)
    ]
    if not finished:
        raise FileNotFoundError(f"no finished run under {runs}")
    for path in finished:
        trimmed = path.with_name("trimmed.safetensors")  # made by train.trim
        ship(trimmed if trimmed.is_file() else path)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = commands.parser("train.ship", __doc__)
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--recipe", default="pocket")
    args = parser.parse_args(arguments)
    return commands.run("train.ship", lambda: work(args.runs / args.recipe))


if __name__ == "__main__":
    sys.exit(main())
