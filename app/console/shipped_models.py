"""The trained models that ship, seen without torch: which there are, and where training left their knobs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from app.console.stream_choice import MODEL_ORDER
from app.widgets.knobs import OMEGA_N, ZETA
from app.widgets.untrusted import clamp
from knob_core.assets import ASSETS
from knob_core.memories import Attentive

FOLDER = ASSETS / "checkpoints"


def path_of(method: str, seed: int) -> Path:
    """Where a model's weights are, if they ship."""
    return FOLDER / f"{method}-s{seed}.safetensors"


def at_hand() -> list[tuple[str, int]]:
    """(method, seed) of every checkpoint."""
    found = []
    for path in FOLDER.glob("*-s*.safetensors"):
        method, _, seed = path.stem.rpartition("-s")
        if method in MODEL_ORDER and seed.isdecimal():
            found.append((method, int(seed)))
    return ordered(found)


def ordered(models: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """By seed, then in the menus' order of the methods."""
    return sorted(models, key=lambda model: (model[1], MODEL_ORDER.index(model[0])))


def _header(path: Path) -> dict[str, Any]:
    """What the trainer wrote into a checkpoint; empty where it cannot be read.

    A damaged file: the page says so when the model is needed, a missing mark on a knob does not matter.
    """
    from safetensors import safe_open

    try:
        with safe_open(path, "np") as file:
            found = json.loads((file.metadata() or {}).get("knob", "{}"))
            if "knobs.raw" in file.keys():  # noqa: SIM118 (not a dict)
                values = np.log1p(np.exp(file.get_tensor("knobs.raw").astype(float)))  # softplus
                found.setdefault("trained_knobs", dict(zip(("zeta", "omega_n"), values.tolist(), strict=True)))
    except Exception:
        return {}
    return found if isinstance(found, dict) else {}


def trained_knobs(method: str, seed: int) -> tuple[float, float] | None:
    """(zeta, omega_n) that training found, as a knob can show it; None where the file has none or is absent."""
    found = _header(path_of(method, seed)).get("trained_knobs")
    values = [found.get(name) for name in ("zeta", "omega_n")] if isinstance(found, dict) else []
    if len(values) != 2 or not all(isinstance(value, float) and math.isfinite(value) for value in values):
        return None
    zeta, omega_n = (clamp(f"{value:.3g}", ends, ends[0]) for value, ends in zip(values, (ZETA, OMEGA_N), strict=True))
    return zeta, omega_n


def reset_reference(method: str, seed: int) -> float | None:
    """The form of a model's Reset Mode (`knob_core.gates`); None, the literal one, where the file has none."""
    found = _header(path_of(method, seed)).get("reset")
    kappa = found.get("kappa") if isinstance(found, dict) else None
    return kappa if isinstance(kappa, float) and 0 < kappa <= 4 else None


def attentive_weights(method: str, seed: int) -> Attentive | None:
    """Weights of attentive memory that were fitted for a model; None where the file has none or is absent."""
    try:
        return Attentive.from_dict(_header(path_of(method, seed))["attentive"])
    except (KeyError, ValueError, TypeError):
        return None
