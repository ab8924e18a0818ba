"""Probabilities in filters: the same digits for one frame as for many, and logs that stay finite.

NumPy adds up an axis in an order that depends on the other axes' lengths; a running sum has one order only.
"""

from __future__ import annotations

import numpy as np

from knob_core import metrics
from knob_core.rivals.base import Floats

FLOOR = 1e-30  # a probability below this counts as this


def total(x: Floats) -> Floats:
    """Sum over the last axis, which is kept with length 1, from the first entry to the last."""
    return np.add.accumulate(x, axis=-1)[..., -1:]


def softmax(z: Floats) -> Floats:
    """`metrics.softmax`, classes last in memory too: later sums depend on that."""
    return np.ascontiguousarray(metrics.softmax(z))


def log(p: Floats) -> Floats:
    """log max(p, FLOOR): an answer whose softmax is p, p summing to 1."""
    return np.log(np.maximum(p, FLOOR))
