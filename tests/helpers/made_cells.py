"""Made-up predictions and result tables in a folder like assets/: for tests only, nothing of it ships.

The sharp branch suffers from severity, the robust one less, and the command goes down as it rises.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import made_streams
import numpy as np

from app.console.stream_choice import CORRUPTION_NAMES
from knob_core import data, library

CORRUPTIONS = CORRUPTION_NAMES
SEVERITIES = (1, 2, 3, 4, 5)
SAMPLES = 1000


def branches(seed: int, samples: int = SAMPLES) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """z_static, z_dyn (95, N, 10), u_star (95, N), labels (N,)."""
    rng = np.random.default_rng(seed)
    labels = data.load_sample()[1][:samples]
    cells = len(CORRUPTIONS) * len(SEVERITIES)
    severity = np.tile(SEVERITIES, len(CORRUPTIONS))[:, None]  # (C, 1)
    hard = rng.normal(0, 1, samples)[None] + 0.5 * severity + rng.normal(0, 0.6, (cells, 1))

    def logits(sharp: float, suffers: float) -> np.ndarray:
        z = rng.normal(0, 1.0, (cells, samples, 10)) * (1 + suffers * severity[..., None] / 5)
        z[:, np.arange(samples), labels] += sharp * (1.6 - 0.35 * hard)
        return z.astype(np.float32)

    u_star = (2.2 - 0.9 * hard + rng.normal(0, 0.5, (cells, samples))).astype(np.float32)
    return logits(2.4, 0.2), logits(4.2, 1.6), u_star, labels


def assets(root: Path, seeds: tuple[int, ...] = (0,), samples: int = SAMPLES) -> Path:
    """A folder like `assets/` with made-up streams, and the cells of knob-ode and static for each seed."""
    made_streams.assets(root)
    listing = json.loads((root / library.MANIFEST).read_text())
    listing |= {"corruptions": list(CORRUPTIONS), "severities": list(SEVERITIES)}
    for seed in seeds:
        z_static, z_dyn, u_star, labels = branches(seed, samples)
        for method in ("knob-ode", "static"):
            name = f"cells/{method}-s{seed}.npz"
            single = method == "static"
            pair = (z_static, z_static, np.zeros_like(u_star)) if single else (z_static, z_dyn, u_star)
            library.save(root / name, *pair, labels=labels.astype(np.int16))
            listing["files"][name] = hashlib.sha256((root / name).read_bytes()).hexdigest()
            listing["cells"].append({"method": method, "seed": seed, "file": name, "noise_seed": 0})
    (root / library.MANIFEST).write_text(json.dumps(listing))
    return root
