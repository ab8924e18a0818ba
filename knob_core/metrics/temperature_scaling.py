"""Temperature scaling, the baseline: one number that makes a classifier as modest as its validation data say.

T* = argmin_T mean CE(z / T);  in beta = 1/T the loss is convex, its slope is mean_i (sum_k p_k z_k - z_y).
Guo, Pleiss, Sun & Weinberger, "On Calibration of Modern Neural Networks", ICML 2017.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knob_core._arrays.checks import require_finite
from knob_core._arrays.compiled import compiled

T_LIMITS = (0.05, 20.0)  # where no T is best (all right, or all wrong) the nearer limit is given


def fit(z: NDArray, labels: NDArray, tolerance: float = 1e-10) -> float:
    """The temperature that minimises the cross-entropy of logits (N, K) with labels (N,); `tolerance` is of 1/T."""
    from scipy.optimize import brentq

    z, labels = np.asarray(z, np.float64), np.asarray(labels)
    if labels.dtype.kind not in "iu":
        raise ValueError(f"labels must be integers, got {labels.dtype}")
    if z.ndim != 2 or labels.shape != z.shape[:1] or not len(z):
        raise ValueError(f"z must be (N, K) and labels (N,), N >= 1, got {z.shape} and {labels.shape}")
    if labels.min() < 0 or labels.max() >= z.shape[1]:
        raise ValueError(f"labels must lie in [0, {z.shape[1] - 1}], got {labels.min()} to {labels.max()}")
    require_finite("z", z)
    z, labels = np.ascontiguousarray(z), labels.astype(np.int64)

    def slope(beta: float) -> float:
        return float(_slope(z, labels, beta))

    low, high = 1 / T_LIMITS[1], 1 / T_LIMITS[0]
    if slope(high) <= 0:
        return T_LIMITS[0]
    if slope(low) >= 0:
        return T_LIMITS[1]
    return float(1 / brentq(slope, low, high, xtol=tolerance))


@compiled()
def _slope(z: NDArray, labels: NDArray, beta: float) -> Any:
    """mean_i (sum_k p_k z_k - z_y), p = softmax(beta z), of logits z (N, K) and labels (N,)."""
    found = 0.0
    for i in range(len(z)):
        top = z[i].max()
        total, weighted = 0.0, 0.0
        for k in range(z.shape[1]):
            e = math.exp(beta * (z[i, k] - top))
            total += e
            weighted += e * z[i, k]
        found += weighted / total - z[i, labels[i]]
    return found / len(z)


def tempered(z: NDArray, temperature: float) -> NDArray:
    """z / T of a T that was checked; z itself, bit for bit, where T is 1."""
    return z if temperature == 1.0 else z / temperature


def apply(z: NDArray, temperature: float) -> NDArray:
    """z / T."""
    if not 0 < temperature < np.inf:
        raise ValueError(f"temperature is {temperature!r}, expected a finite number > 0")
    return z / temperature
