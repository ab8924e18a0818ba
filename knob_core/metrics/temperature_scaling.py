"""Temperature scaling, the baseline: one number that makes a classifier as modest as its validation data say.

T* = argmin_T mean CE(z / T);  in beta = 1/T the loss is convex, its slope is mean_i (sum_k p_k z_k - z_y).
Guo, Pleiss, Sun & Weinberger, "On Calibration of Modern Neural Networks", ICML 2017.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from knob_core import metrics
from knob_core._arrays.checks import require_finite

T_LIMITS = (0.05, 20.0)  # where no T is best (all right, or all wrong) the nearer limit is given


def fit(z: NDArray, labels: NDArray) -> float:
    """The temperature that minimises the cross-entropy of logits (N, K) with labels (N,)."""
    from scipy.optimize import brentq

    z, labels = np.asarray(z, np.float64), np.asarray(labels)
    if labels.dtype.kind not in "iu":
        raise ValueError(f"labels must be integers, got {labels.dtype}")
    if z.ndim != 2 or labels.shape != z.shape[:1] or not len(z):
        raise ValueError(f"z must be (N, K) and labels (N,), N >= 1, got {z.shape} and {labels.shape}")
    if labels.min() < 0 or labels.max() >= z.shape[1]:
        raise ValueError(f"labels must lie in [0, {z.shape[1] - 1}], got {labels.min()} to {labels.max()}")
    require_finite("z", z)
    z_y = z[np.arange(len(labels)), labels]

    def slope(beta: float) -> float:
        return float(((metrics.softmax(beta * z) * z).sum(-1) - z_y).mean())

    low, high = 1 / T_LIMITS[1], 1 / T_LIMITS[0]
    if slope(high) <= 0:
        return T_LIMITS[0]
    if slope(low) >= 0:
        return T_LIMITS[1]
    return float(1 / brentq(slope, low, high, xtol=1e-10))


def tempered(z: NDArray, temperature: float) -> NDArray:
    """z / T of a T that was checked; z itself, bit for bit, where T is 1."""
    return z if temperature == 1.0 else z / temperature


def apply(z: NDArray, temperature: float) -> NDArray:
    """z / T."""
    if not 0 < temperature < np.inf:
        raise ValueError(f"temperature is {temperature!r}, expected a finite number > 0")
    return z / temperature
