"""A made-up stream for tests: what a trained model's branches look like, roughly, and nothing that ships."""

from __future__ import annotations

import numpy as np

from knob_core.branches import Branches
from knob_core.schedules import SCHEDULES


def branches(images: int = 4, realisations: int = 8, frames: int = 240, schedule: str = "step", seed: int = 0) -> Branches:
    """Noise grows with severity; the dynamic branch is sharp and suffers from it, the static one modest and robust."""
    rng = np.random.default_rng(seed)
    severity = SCHEDULES[schedule](frames)
    labels = np.repeat(rng.integers(0, 10, images), realisations)
    rival = (labels + 1 + rng.integers(0, 8)) % 10
    paths = np.arange(images * realisations)
    u_star = 1.8 - 0.75 * severity + rng.normal(0, 0.15 + 0.12 * severity, (len(paths), frames))
    harder = np.repeat(rng.uniform(0.5, 1.2, images), realisations)[:, None] * severity

    def logits(sharp: float, suffers: float) -> np.ndarray:
        z = rng.normal(0, 0.4 + suffers * severity[None, :, None] / 5, (len(paths), frames, 10))
        z[paths, :, labels] += sharp * (1 - 0.12 * harder)
        z[paths, :, rival] += sharp * 0.16 * harder
        return z

    z_static, z_dyn = logits(4.0, 0.9), logits(7.0, 2.6)
    return Branches(*(a.astype(np.float32) for a in (z_static, z_dyn, u_star)), labels.astype(np.int64), severity.astype(np.float32))
