"""Put finished runs where the console finds them: `python -m train.ship` writes assets/checkpoints in half precision.

A model ships only when half precision leaves its accuracy on the sample as it was, and replaces one that ships only
where it is not worse on as many held-out training images or more (`--even-if-worse` does it all the same).
A memory that was fitted to what ships stays with the same tensors; other tensors need another one (`train.fit_memory`).
Rivals that only stand in tables do not ship.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from knob_core import checkpoint, data, files, models, seeding
from knob_core.inference import over_batches
from train import commands
from train.commands import CHECKPOINTS
from train.training.recipes import held_out

ACCURACIES = ("clean_accuracy", "corrupted_accuracy")  # of a history's last row
FITTED = ("attentive", "trained_knobs")  # entries of a header that `train.fit_memory` wrote
TOLERANCE = 0.002  # of accuracy: two images in a thousand


def sample_accuracy(model: models.GatedClassifier) -> float:
    images, labels, _ = data.load_sample()
    (logits,) = over_batches(lambda x: (model.predict(x, "settled"),), images)
    return float((logits.argmax(1) == torch.from_numpy(labels)).float().mean())


class Worse(ValueError):
    """A run that may not replace what ships."""


def validation_accuracy(header: dict[str, Any]) -> float | None:
    """Of the last epoch on held-out training images, clean and corrupted alike; None where the file does not tell."""
    history = header.get("history")
    found: list[Any] = [history.get(name) for name in ACCURACIES] if isinstance(history, dict) else [None]
    told = all(type(value) in (int, float) and 0 <= value <= 1 for value in found)  # no text, no nan
    return float(sum(found)) / len(ACCURACIES) if told else None


def seed_of(header: dict[str, Any], path: Path) -> int:
    """The seed of a run, which becomes part of the name of its file."""
    seed = header.get("seed")
    if type(seed) is not int or not 0 <= seed <= seeding.MAX_SEED:
        raise ValueError(f"{path} has seed {seed!r}, expected a whole number from 0 to {seeding.MAX_SEED}")
    return seed


def require_not_worse(source: Path, header: dict[str, Any], target: Path) -> None:
    """Raise Worse where the run has a lower validation accuracy than the file that it would replace."""
    if not target.is_file():
        return
    ships = checkpoint.read_header(target)
    new, old = validation_accuracy(header), validation_accuracy(ships)
    if new is None or old is None:
        lacking = source if new is None else target
        raise Worse(f"{source}: not shipped, since {lacking} does not tell its validation accuracy, 0 to 1")
    count, before = held_out(header), held_out(ships)
    if before is not None and (count is None or count < before):
        told = "an unknown number of" if count is None else count
        raise Worse(f"{source}: not shipped, since it was validated on {told} images, and what ships on {before}")
    if new < old:
        raise Worse(f"{source}: not shipped, since its validation accuracy is {new:.4f}, and {old:.4f} ships")


def fitted_memory(model: models.GatedClassifier, header: dict[str, Any], target: Path) -> tuple[dict[str, Any], bool]:
    """The fitted entries that the run lacks and what it would replace has, and whether they fit the run's tensors."""
    if not target.is_file():
        return {}, True
    ships = checkpoint.read_header(target)
    fitted = {name: ships[name] for name in FITTED if name in ships and name not in header}
    return fitted, not fitted or same_tensors(model, checkpoint.load(target))


def same_tensors(model: models.GatedClassifier, ships: models.GatedClassifier) -> bool:
    """Whether what ships is the model, each tensor in half precision or whole."""
    here, there = model.state_dict(), ships.state_dict()
    return here.keys() == there.keys() and all(
        torch.equal(value, there[name]) or torch.equal(value.half().to(value.dtype), there[name])
        for name, value in here.items()
    )


def ship(source: Path, folder: Path = CHECKPOINTS, even_if_worse: bool = False) -> Path:
    """One finished run: gives the shipped file."""
    whole, header = checkpoint.load(source), checkpoint.read_header(source)
    target = folder / f"{whole.method}-s{seed_of(header, source)}.safetensors"
    if not even_if_worse:
        require_not_worse(source, header, target)
    fitted, fits = fitted_memory(whole, header, target)
    anew = f"the memory of {target.name} was fitted to other tensors and must be fitted anew: train.fit_memory"
    if not fits and not even_if_worse:
        raise Worse(f"{source}: not shipped, since {anew}")
    before = sample_accuracy(whole)
    with files.replacing(target) as temporary:  # what ships already stays until this one is checked
        checkpoint.save(whole, temporary, {**header, **(fitted if fits else {}), "sample_accuracy": before}, half=True)
        after = sample_accuracy(checkpoint.load(temporary))
        if abs(after - before) > TOLERANCE:
            changed = f"half precision changes the sample accuracy from {before:.3f} to {after:.3f}"
            raise ValueError(f"{source}: {changed}; not shipped")
    size = target.stat().st_size / 1e6
    print(f"{target.name}: sample accuracy {before:.3f}, in half precision {after:.3f}, {size:.2f} MB")
    if not fits:
        print(anew)
    return target


def work(runs: Path, even_if_worse: bool = False) -> None:
    torch.set_num_threads(1)
    found = sorted(runs.glob("*/final.safetensors"))
    finished = [path for path in found if path.parent.name.rpartition("-s")[0] in models.METHODS]  # no rivals
    if not finished:
        raise FileNotFoundError(f"no finished run under {runs}")
    refused = []
    for path in finished:
        try:
            ship(path, even_if_worse=even_if_worse)
        except Worse as error:  # the others may still ship
            refused.append(str(error))
    if refused:
        raise Worse("\n".join([*refused, "ship them all the same: --even-if-worse"]))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = commands.parser("train.ship", __doc__)
    parser.add_argument("--runs", type=commands.path, default=Path("runs"))
    parser.add_argument("--recipe", default="pocket")
    parser.add_argument("--even-if-worse", action="store_true", help="replace also what is better on validation")
    args = parser.parse_args(arguments)
    return commands.run("train.ship", lambda: work(args.runs / args.recipe, args.even_if_worse))


if __name__ == "__main__":
    sys.exit(main())
