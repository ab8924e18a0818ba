"""A real but tiny training run on the shipped sample: a few seconds of one core. Also a script, for torchrun."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import torch

from knob_core import data
from train.fit import Workplace, fit
from train.training import distributed
from train.training.recipes import PAPER, POCKET, Recipe

SMALL = {"width": 8, "batch": 32, "chunk": 16, "validation": 40, "limit": 160, "stream_frames": 4, "stream_every": 2}
WARM_TINY = replace(
    POCKET,
    **SMALL,
    warm=replace(POCKET.warm, epochs=2, window_epochs=1, lr=0.05),
    method=replace(POCKET.method, epochs=2),
)
END_TO_END_TINY = replace(PAPER, **SMALL, method=replace(PAPER.method, epochs=2))


def place(runs: Path, rank: int = 0, world: int = 1) -> Workplace:
    images, labels, _ = data.load_sample()
    picked = slice(None, None, 5)  # 200 images, all classes
    tensors = torch.from_numpy(images[picked].copy()), torch.from_numpy(labels[picked].copy())
    return Workplace(torch.device("cpu"), rank, world, runs, *tensors, quiet=True)


def run(runs: Path, method: str, recipe: Recipe, seed: int = 0) -> dict[str, torch.Tensor]:
    torch.set_num_threads(1)
    rank, world = distributed.start(torch.device("cpu"))
    return fit(method, recipe, seed, place(runs, rank, world)).state_dict()


if __name__ == "__main__":
    torch.set_default_dtype(torch.float64)  # so that only arithmetic can differ, not rounding that grew
    run(Path(sys.argv[1]), sys.argv[2], WARM_TINY)
    distributed.stop()
