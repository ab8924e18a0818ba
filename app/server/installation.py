"""What this installation is: versions, device and checkpoints, found without importing torch."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import tomllib
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from app.console.shipped_models import FOLDER, path_of, trained_knobs
from knob_core.assets import ROOT

PACKAGES = ("torch", "torchvision", "numpy", "scipy", "pandas", "streamlit", "plotly", "safetensors")


@dataclass(frozen=True)
class CheckpointFacts:
    """A file of weights, and where training left its knobs."""

    path: Path
    bytes: int
    sha256: str
    knobs: tuple[float, float] | None  # zeta, omega_n


def versions() -> dict[str, str]:
    """Name -> version of Knob, Python and what it runs on."""
    knob = installed("knob-core")
    if knob == "not installed":  # run from a checkout
        knob = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    found = {"knob": knob, "python": platform.python_version()}
    return found | {name: installed(name) for name in PACKAGES}


def installed(name: str) -> str:
    """A package's version, or what is the matter."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def device() -> str:
    """Where networks run, as far as can be told without loading torch; "" where only torch itself can tell."""
    cores = f"CPU, {os.cpu_count()} cores"
    build = installed("torch")
    if build == "not installed":
        return f"{cores}; PyTorch is not installed, so only what ships can be shown"
    if build.endswith("+cpu"):
        return f"{cores}; this build of PyTorch has no GPU support"
    return loaded_device() if "torch" in sys.modules else ""


def loaded_device() -> str:
    """Where networks run, asked of torch itself."""
    import torch

    if torch.cuda.is_available():
        names = ", ".join(torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count()))
        return f"GPU: {names}"
    return f"CPU, {os.cpu_count()} cores; PyTorch found no GPU"


def checkpoint(method: str, seed: int) -> CheckpointFacts | None:
    """The weights of a model, where they ship."""
    path = path_of(method, seed)
    if not path.is_file():
        return None
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return CheckpointFacts(path, path.stat().st_size, digest, trained_knobs(method, seed))


def checkpoint_names() -> list[str]:
    """The names of all checkpoints at hand."""
    return sorted(path.stem for path in FOLDER.glob("*.safetensors"))
