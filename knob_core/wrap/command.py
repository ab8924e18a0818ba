"""A command u* for models that have none: trust the eye unless it is unsure or contradicts what was seen so far.

u* = w . [1, H(now), H(seen), JS(now, seen)],  entropies H in units of log K, Jensen-Shannon divergence in bits.
"Seen" is the observer: the logits through the gate's own recursion with knobs of its own, so
that u* does not depend on where the operator's knobs stand, and is computed once per stream.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from knob_core import metrics
from knob_core._arrays import checks as check
from knob_core.memories import PLAIN

FEATURES = ("bias", "entropy now", "entropy seen", "divergence")


@dataclass(frozen=True)
class Command:
    """Weights of the features, and the observer's knobs."""

    weights: tuple[float, ...] = (-1.0, -4.0, 2.0, -8.0)
    zeta: float = 1.0
    omega_n: float = 0.3  # rad/frame

    def __post_init__(self) -> None:
        weights = check.real_numbers("weights", self.weights)
        if weights.shape != (len(FEATURES),) or not (np.abs(weights) <= check.LARGEST).all():
            expected = f"{len(FEATURES)} numbers of at most {check.LARGEST:g} in size"
            raise ValueError(f"weights must be {expected}, got {check.shown(self.weights)}")
        check.knobs(self.zeta, self.omega_n, 1.0)

    def packed(self) -> np.ndarray:
        """All its numbers, to tell one command from another."""
        return np.array([*self.weights, self.zeta, self.omega_n], np.float64)

    def __call__(self, z_seen: np.ndarray, z_now: np.ndarray) -> np.ndarray:
        """u* (...) from logits (..., K); a stream's does not depend on how many others there are, to the last bit."""
        return (features(z_seen, z_now) * self.weights).sum(axis=-1)  # a matrix product would sum in another order


def observe(z: np.ndarray, command: Command) -> np.ndarray:
    """What has been seen so far, frame by frame, of logits (..., T, K); it starts from the first frame."""
    return PLAIN.smooth(z, command.zeta, command.omega_n)[0]


def features(z_seen: np.ndarray, z_now: np.ndarray) -> np.ndarray:
    """(..., 4), each of order one for any number of classes."""
    z = np.stack(np.broadcast_arrays(z_now, z_seen)).astype(np.float64, copy=False)  # (2, ..., K)
    p = np.ascontiguousarray(metrics.softmax(z))  # rows, so that sums do not depend on how many there are
    now, seen = entropy(p)
    divergence = entropy(p.mean(axis=0)) - (now + seen) / 2  # nats
    unit = np.log(z.shape[-1])
    return np.stack([np.ones_like(now), now / unit, seen / unit, divergence / np.log(2)], axis=-1)


def entropy(p: np.ndarray) -> np.ndarray:
    """-sum p log p over the last axis, nats."""
    return -(p * np.log(np.maximum(p, 1e-300))).sum(axis=-1)
