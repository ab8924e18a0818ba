"""`fit` on three small made-up sets of streams: the settings and the table. They change with the memory's equation."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from knob_core import fit
from knob_core.rivals import RIVALS

SETS = {  # streams, frames, classes, frames of one class, noise, max_delay
    "noisy": (6, 120, 4, 30, 1.8, np.inf),
    "two classes": (5, 100, 2, 12, 2.5, 2.0),
    "clean": (4, 80, 3, 20, 0.4, 1.0),
}


def fits() -> dict[str, Any]:
    return {name: _fitted(name) for name in SETS}


def _fitted(name: str) -> dict[str, Any]:
    streams, frames, classes, every, noise, max_delay = SETS[name]
    rng = np.random.default_rng(len(name))
    labels = np.repeat(rng.integers(0, classes, (streams, -(-frames // every))), every, axis=1)[:, :frames]
    z = rng.normal(0, noise, (streams, frames, classes)) + 3.0 * np.eye(classes)[labels]
    found = fit(z, labels, max_delay=max_delay, rivals={"ema-logits": RIVALS["ema-logits"]})
    settings = found.settings
    home = fit(z).settings
    return {
        "home": {"omega_n": home.omega_n, "on": home.on},
        "settings": {"zeta": settings.zeta, "omega_n": settings.omega_n, "on": settings.on, "memory": settings.memory},
        "helps": found.helps, "earned": found.earned, "nll": found.nll, "nll_before": found.nll_before,
        "flips": found.flips,
        "flips_before": found.flips_before, "delay": found.delay, "table": [asdict(row) for row in found.table],
    }  # fmt: skip
