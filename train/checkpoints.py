"""The state of a running stage, written whole after every epoch, so that a killed run goes on where it was.

safetensors with a JSON header; nothing is pickled. Randomness needs no state: it follows from the seed and the step.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from train.averaging import WeightAverage
from train.recipes import differences


def save(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    header: dict[str, Any],
    average: WeightAverage | None = None,
) -> None:
    """Write atomically: a kill leaves the old file or the new one."""
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    for index, entries in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{index}.{name}": torch.as_tensor(value) for name, value in entries.items()}
    if average is not None:
        tensors |= {f"average.{name}": value for name, value in average.mean.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".part")
    save_file({name: value.contiguous() for name, value in tensors.items()}, temporary, {"header": json.dumps(header)})
    with temporary.open("r+b") as file:
        os.fsync(file.fileno())
    temporary.replace(path)


def read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and header of a saved state."""
    try:
        with safe_open(path, "pt") as file:
            header = json.loads((file.metadata() or {})["header"])
            return {name: file.get_tensor(name) for name in file.keys()}, header  # noqa: SIM118 (not a dict)
    except (SafetensorError, KeyError, ValueError, OSError) as error:
        raise ValueError(f"{path} is not a whole training state ({error}); move it away to start anew") from error


def restore(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    identity: dict[str, Any],
    average: WeightAverage | None = None,
) -> dict[str, Any]:
    """Load a state of this very run; another recipe, method or seed is refused with the difference named."""
    tensors, header = read(path)
    changed = differences(header["identity"], json.loads(json.dumps(identity)))
    if changed:
        raise ValueError(
            f"{path} belongs to another run; "
            + "; ".join(changed)
            + ". Move it away, or ask for what it was made with."
        )
    model.load_state_dict({name[6:]: value for name, value in tensors.items() if name.startswith("model.")})
    if average is not None:
        own = model.state_dict()
        named = {name[8:]: value for name, value in tensors.items() if name.startswith("average.")}
        average.mean = {name: value.to(own[name].device) for name, value in named.items()}
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        if name.startswith("optimizer."):
            _, index, entry = name.split(".")
            state.setdefault(int(index), {})[entry] = value
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    return header
