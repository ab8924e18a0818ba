"""Are numbers that should be logits probabilities? A model's softmax is given by mistake where logits are asked for.

Softmax of probabilities is nearly uniform: p_max of .9 among ten classes would be shown as .2.
"""

from __future__ import annotations

import numpy as np

SHARE = 0.9  # of frames that must add up; a few may be blank or broken
ROUNDED = 0.005  # what rounding to two digits takes from or gives to each class
LEAST_ROOM, MOST_ROOM = 0.01, 0.1  # by which a frame may miss 1
EXACT = 1e-6  # by which a number may miss 0 or 1


def whole_of(z: np.ndarray) -> float | None:
    """What frames (..., K) add up to: 1 for probabilities, 100 for percentages; None for anything else."""
    lowest, highest = z.min(), z.max()
    room = min(MOST_ROOM, max(LEAST_ROOM, ROUNDED * z.shape[-1]))
    for whole in (1.0, 100.0):
        if lowest >= -EXACT * whole and highest <= (1 + EXACT) * whole and _share(z, whole, room) >= SHARE:
            return whole
    return None


def _share(z: np.ndarray, whole: float, room: float) -> float:
    return float((np.abs(z.sum(axis=-1) / whole - 1) <= room).mean())
