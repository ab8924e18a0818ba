"""Probabilities that a model gives in place of logits: a whole array of them is refused, a stream is warned about."""

from __future__ import annotations

import warnings

import numpy as np

from knob_core._arrays.probabilities import EXACT, whole_of

ENOUGH = 8  # frames: fewer may add up to 1 by chance
LEAST = -100 * EXACT  # of a percentage; nearly all logits have a number below it
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


class ProbabilityCount:
    """Counts frames in a row that look like probabilities; one that does not look so begins anew."""

    def __init__(self) -> None:
        self._frames = 0

    def problem(self, name: str, z: np.ndarray) -> str | None:
        """What is wrong with frames z (N, K), once enough in a row were so; those that are not finite say nothing."""
        if z.size and z.min() < LEAST:
            self._frames = 0
            return None
        known = z[np.isfinite(z).all(axis=1)]
        if not len(known):
            return None
        whole = whole_of(known)
        self._frames = 0 if whole is None else self._frames + len(known)
        return words(name, whole) if whole is not None and self._frames >= ENOUGH else None


class ProbabilityNotice:
    """Warns once of a model."""

    def __init__(self) -> None:
        self._count: ProbabilityCount | None = ProbabilityCount()

    def check(self, name: str, z: np.ndarray) -> None:
        """Look at frames (N, K)."""
        if self._count is not None and (cause := self._count.problem(name, z)) is not None:
            self._count = None
            warnings.warn(cause, ProbabilitiesWarning, stacklevel=2)
