"""Branch outputs of many models without computing twice: equal encoders share one pass, equal heads one result.

Models of a seed that were fitted on one frozen encoder differ in their heads alone, and those of one loss not even
there. Equality is decided by the weights' digest, never by a name.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from knob_core import checkpoint
from knob_core.data import Images
from knob_core.inference import over_batches
from knob_core.models import METHODS, GatedClassifier, Outputs


@dataclass(frozen=True)
class BranchArrays:
    """What one pass gives for N images, as float32."""

    z_static: NDArray[np.float32]  # (N, K)
    z_dyn: NDArray[np.float32]  # (N, K)
    u_star: NDArray[np.float32]  # (N,)

    def outputs(self) -> Outputs:
        return Outputs(*(torch.from_numpy(np.ascontiguousarray(a)) for a in (self.z_static, self.z_dyn, self.u_star)))


@dataclass(frozen=True)
class Member:
    """A model, what it is called, and the digests by which it shares work."""

    method: str
    seed: int
    model: GatedClassifier
    encoder: str  # digest of the encoder's weights
    branches: str  # digest of all that its branch outputs depend on
    variant: str = ""  # a rival's own way of training; empty for a method of the family

    @property
    def title(self) -> str:
        """What tables call it: a method of the family, or `static-smoothed`."""
        return f"{self.method}-{self.variant}" if self.variant else self.method

    @property
    def name(self) -> str:
        return f"{self.title}-s{self.seed}"

    @property
    def gated(self) -> bool:
        return _gated(self.model)


def _gated(model: GatedClassifier) -> bool:
    return model.dynamics.gated


def find(paths: Sequence[Path]) -> list[Path]:
    """Checkpoint files among paths and folders; of a training's folders, the finished models."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(path.glob("*.safetensors")) or sorted(path.glob("*/final.safetensors"))
            if not inside:
                raise FileNotFoundError(f"no checkpoints in {path}; make some: python -m train.fit --all")
            found += inside
        else:
            found.append(path)
    return found


def load(paths: Sequence[Path], device: str | torch.device = "cpu") -> list[Member]:
    """The models of checkpoint files, by seed, then in the family's order."""
    members = []
    for path in paths:
        header = checkpoint.read_header(path)
        if not isinstance(header.get("seed"), int):
            raise ValueError(f"{path} does not say which seed it was trained with")
        own = member(checkpoint.load(path, device), header["seed"])
        members.append(replace(own, variant=str(header.get("variant", ""))))
    members.sort(key=lambda m: (m.seed, METHODS.index(m.method), m.variant))
    names = [m.name for m in members]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"several checkpoints of {', '.join(twice)}; give one of each")
    return members


def member(model: GatedClassifier, seed: int) -> Member:
    model = model.eval().to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch's stubs forget it
    encoder = digest(model.encoder)
    kind = "gated" if _gated(model) else model.method
    heads = {name: child for name, child in model.named_children() if name not in ("encoder", "knobs")}
    branches = hashlib.sha256("".join([kind, encoder, *(digest(head) for head in heads.values())]).encode())
    return Member(model.method, seed, model, encoder, branches.hexdigest()[:16])


def digest(module: nn.Module) -> str:
    """SHA-256 of a module's weights, by name."""
    return checkpoint.digest(module.state_dict())


def compute(members: Sequence[Member], images: Images | Tensor) -> dict[str, BranchArrays]:
    """Branch outputs of images (N, 3, H, W), bytes or floats in [0, 1], by branch digest; each encoder runs once."""
    distinct: dict[str, dict[str, GatedClassifier]] = {}  # encoder -> branches -> model
    for m in members:
        distinct.setdefault(m.encoder, {}).setdefault(m.branches, m.model)
    found = {}
    for group in distinct.values():
        device = next(next(iter(group.values())).parameters()).device
        flat = over_batches(functools.partial(_decide, list(group.values())), images, device)
        for index, key in enumerate(group):
            found[key] = BranchArrays(*(x.numpy() for x in flat[3 * index : 3 * index + 3]))
    return found


def _decide(models: Sequence[GatedClassifier], images: Tensor) -> tuple[Tensor, ...]:
    """Outputs of models with one encoder, three for each, on the CPU."""
    widest = max(models, key=lambda model: (model.reads_stages, _gated(model)))
    encoded = widest.encode(images)  # gives all that the others read
    return tuple(x.float().cpu() for model in models for x in model.decide(*encoded))
