"""A logit of -inf, or one far below any logit: the model rules a class out.

The frame counts, with that logit FAR below its lowest other one. Without this every frame of a model that masks a class
would count as missing, and its stream stay silent for ever; a mask such as -1e9 would keep a memory from that class for
long after it is gone.
"""

from __future__ import annotations

import numpy as np

FAR = 30.0  # exp(-30) is 1e-13
MASK = np.float64(-1e6)  # what lies below is no logit; a Python number would be too large for half precision


def finite(z: np.ndarray) -> np.ndarray:
    """Logits (..., K); frames with NaN or +inf, or without a logit, stay as they are."""
    out: np.ndarray = z < MASK
    if not out.any():
        return z
    rest_known = np.all(np.isfinite(np.where(out, 0.0, z)), axis=-1)  # (...)
    rows: np.ndarray = out.any(axis=-1) & ~out.all(axis=-1) & rest_known
    if not rows.any():
        return z
    lowest = np.where(out, np.inf, z).min(axis=-1, keepdims=True)  # (..., 1)
    return np.where(rows[..., None] & out, lowest - FAR, z)
