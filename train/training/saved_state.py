"""The state of a running stage, written whole after every epoch, so that a killed run goes on where it was.

safetensors with a JSON header; nothing is pickled. Randomness needs no state: it follows from the seed and the step.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as serialise
from torch import Tensor, nn

from knob_core import checkpoint, files
from train.training.averaging import WeightAverage
from train.training.recipes import differences


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
    whole = {name: value.contiguous() for name, value in tensors.items()}
    own = {**header, checkpoint.DIGEST: checkpoint.digest(whole)}
    files.write_bytes(path, serialise(whole, {"header": json.dumps(own)}), sync=True)


def read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and header of a saved state."""
    try:
        with safe_open(path, "pt") as file:
            header = json.loads((file.metadata() or {})["header"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    except (SafetensorError, KeyError, ValueError, OSError, RecursionError) as error:
        raise not_whole(path, error) from error
    _check(header, path)
    if checkpoint.DIGEST in header and header[checkpoint.DIGEST] != checkpoint.digest(tensors):
        raise not_whole(path, "the SHA-256 of its tensors is not the one in its header")
    return tensors, header


def not_whole(path: Path, cause: object) -> ValueError:
    """The refusal of a state that is damaged, in one line."""
    line = (str(cause).strip() or repr(cause)).replace("\n", " ")
    return ValueError(f"{path} is not a whole training state ({line[:200]}); move it away to start anew")


def _check(header: Any, path: Path) -> None:
    """The entries that a run goes on from."""
    if not isinstance(header, dict):
        raise not_whole(path, f"its header is a {type(header).__name__}")
    expected: dict[str, tuple[Callable[[Any], bool], str]] = {
        "identity": (lambda x: isinstance(x, dict), "a table"),
        "epoch": (_is_place, "a whole number from 0 on"),
        "step": (_is_place, "a whole number from 0 on"),
        "sums": (lambda x: isinstance(x, list) and len(x) == 3 and all(map(_is_number, x)), "three numbers"),
        "history": (_is_history, "a list of rows of numbers"),
        "scaler": (lambda x: isinstance(x, dict), "a table"),
    }
    for name, (right, words) in expected.items():
        if not right(header.get(name)):
            raise not_whole(path, f"{name} is {header.get(name)!r:.80}, expected {words}")


def _is_place(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _is_history(value: Any) -> bool:
    rows = value if isinstance(value, list) and value else [None]
    return all(isinstance(row, dict) and all(type(entry) in (int, float) for entry in row.values()) for row in rows)


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
    try:
        _load(tensors, model, optimizer, average)
    except (RuntimeError, KeyError, IndexError, TypeError, ValueError) as error:  # torch has a kind for each misfit
        raise not_whole(path, error) from error
    return header


def _load(
    tensors: dict[str, Tensor], model: nn.Module, optimizer: torch.optim.Optimizer, average: WeightAverage | None
) -> None:
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
