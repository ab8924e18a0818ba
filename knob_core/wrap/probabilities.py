"""Probabilities that a model gives in place of logits: a whole array of them is refused, a stream is warned about."""

from __future__ import annotations

import warnings

import numpy as np

from knob_core._arrays.probabilities import whole_of

ENOUGH = 8  # frames: fewer may add up to 1 by chance
WHAT = {1.0: "probabilities: none is negative and frames add up to 1", 100.0: "percentages: frames add up to 100"}


class ProbabilitiesWarning(UserWarning):
    """What should be logits looks like probabilities."""


def words(name: str, whole: float) -> str:
    """What is wrong."""
    return (
        f"{name} look like {WHAT[whole]}; expected logits, the numbers before softmax, or logarithms of probabilities"
    )


def require_logits(name: str, z: np.ndarray) -> None:
    """Refuse probabilities (..., K)."""
    if z.size >= ENOUGH * z.shape[-1] and (whole := whole_of(z)) is not None:
        raise ValueError(words(name, whole))


class ProbabilityNotice:
    """Warns once, as soon as enough frames of a model in a row looked like probabilities."""

    def __init__(self) -> None:
        self._frames = 0
        self._warned = False

    def check(self, name: str, z: np.ndarray) -> None:
        """Look at frames (N, K); those that are not finite say nothing."""
        if self._warned or not len(z):
            return
        if z.min() < -1:  # as logits are: nothing else needs a look
            self._frames = 0
            return
        known = z[np.isfinite(z).all(axis=1)]
        if not len(known):
            return
        whole = whole_of(known)
        self._frames = 0 if whole is None else self._frames + len(known)
        if whole is not None and self._frames >= ENOUGH:
            self._warned = True
            warnings.warn(words(name, whole), ProbabilitiesWarning, stacklevel=2)
