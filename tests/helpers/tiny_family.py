"""Five untrained models of one seed on one encoder, as a finished training leaves them."""

from __future__ import annotations

from pathlib import Path

import torch

from knob_core import checkpoint, models

WIDTH = 4


def family(seed: int = 0) -> dict[str, models.GatedClassifier]:
    """Every method from the same first weights, so that the gated three have equal branches."""
    found = {}
    for method in models.METHODS:
        torch.manual_seed(seed)
        found[method] = models.build(method, WIDTH).eval()
    return found


def write(folder: Path, seeds: tuple[int, ...] = (0,)) -> Path:
    """Checkpoints in half precision, named as those that ship."""
    for seed in seeds:
        for method, model in family(seed).items():
            checkpoint.save(model, folder / f"{method}-s{seed}.safetensors", {"seed": seed}, half=True)
    return folder
