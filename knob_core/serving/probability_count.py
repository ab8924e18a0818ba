"""Do frames in a row look like probabilities where logits are expected? Of one stream, or of the model.

Softmax of probabilities is nearly uniform, so all answers would look unsure, and nobody would be told why.
"""

from __future__ import annotations

import numpy as np

from knob_core._arrays.probabilities import EXACT, whole_of
from knob_core.wrap.probabilities import ENOUGH, words

LEAST = -100 * EXACT  # of a percentage; nearly all logits have a number below it


class ProbabilityCount:
    """Counts them; a frame that does not look so begins anew."""

    def __init__(self) -> None:
        self._frames = 0

    def problem(self, name: str, z: np.ndarray) -> str | None:
        """What is wrong with frames z (N, K), once enough in a row were so; those that are not finite say nothing."""
        if z.min() < LEAST:
            self._frames = 0
            return None
        known = z[np.isfinite(z).all(axis=1)]
        if not len(known):
            return None
        whole = whole_of(known)
        self._frames = 0 if whole is None else self._frames + len(known)
        return words(name, whole) if whole is not None and self._frames >= ENOUGH else None
