"""The trained models that ship, seen without torch: which there are, and where training left their knobs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from app.console.stream_choice import MODEL_ORDER
from app.widgets.knobs import OMEGA_N, ZETA
from app.widgets.untrusted import clamp
from knob_core.assets import ASSETS

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


def trained_knobs(method: str, seed: int) -> tuple[float, float] | None:
    """(zeta, omega_n) that training found, as a knob can show it; None where the file has none or is absent."""
    path = path_of(method, seed)
    if not path.is_file():
        return None
    try:
        from safetensors import safe_open

        with safe_open(path, "np") as file:
            if "knobs.raw" not in file.keys():  # noqa: SIM118 (not a dict)
                return None
            raw = file.get_tensor("knobs.raw").astype(float)
    except (
        Exception
    ):  # a damaged file: the page says so when the model is needed, a missing mark on a knob does not matter
        return None
    values = np.log1p(np.exp(raw))  # softplus
    if raw.shape != (2,) or not np.isfinite(values).all():
        return None
    zeta, omega_n = (clamp(f"{value:.3g}", ends, ends[0]) for value, ends in zip(values, (ZETA, OMEGA_N), strict=True))
    return zeta, omega_n
