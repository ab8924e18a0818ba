"""Smoothing the probabilities themselves: what one would do without a gate.

EMA:       p_t = p_{t-1} + alpha (q_t - p_{t-1}), from the first frame.
One-euro:  likewise, alpha_t = 1 / (1 + 1 / (2 pi f_t)),  f_t = min_cutoff + beta |dq/dt|, the speed smoothed too.
Casiez, Roussel & Vogel, "1 € Filter: A Simple Speed-based Low-pass Filter for Noisy Input", CHI 2012.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from knob_core.ema import run_ema
from knob_core.rivals.one_euro import follow

D_CUTOFF = 0.05  # cycles/frame: how slowly the speed is followed; 1 Hz at 20 frames a second, as published


def ema(probabilities: NDArray, omega: float) -> NDArray:
    """Probabilities (..., T, K) through a first-order low-pass of omega rad/frame; alpha = 1 - exp(-omega)."""
    p = _checked(probabilities)
    return run_ema(p, omega, state=p[..., 0, :], axis=-2)[0]


def one_euro(probabilities: NDArray, min_cutoff: float, beta: float, d_cutoff: float = D_CUTOFF) -> NDArray:
    """Probabilities (..., T, K) through the filter, class by class, and scaled to sum to 1; cutoffs in cycles/frame."""
    q = _checked(probabilities)
    for name, value in (("min_cutoff", min_cutoff), ("d_cutoff", d_cutoff)):
        if not 0 < value < np.inf:
            raise ValueError(f"{name} is {value!r}, expected a finite number > 0")
    if not 0 <= beta < np.inf:
        raise ValueError(f"beta is {beta!r}, expected a finite number >= 0")
    smooth, _ = follow(q, min_cutoff, beta, d_cutoff)
    return smooth / smooth.sum(-1, keepdims=True)  # every class has its own alpha, so the sum drifts


def _checked(probabilities: NDArray) -> NDArray:
    p = np.asarray(probabilities, np.float64)
    if p.ndim < 2 or 0 in p.shape:
        raise ValueError(f"probabilities have shape {p.shape}, expected (..., T, K), not empty")
    if not (p.min() >= 0 and p.max() <= 1 + 1e-6):
        raise ValueError(f"probabilities must lie in [0, 1], got values from {p.min():g} to {p.max():g}")
    return p
