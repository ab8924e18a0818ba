"""Probabilities as answers: log p, never minus infinity."""

from __future__ import annotations

import numpy as np

from knob_core.rivals.base import Floats

FLOOR = 1e-30  # a probability below this counts as this


def log(p: Floats) -> Floats:
    """log max(p, FLOOR): an answer whose softmax is p, p summing to 1."""
    return np.log(np.maximum(p, FLOOR))
