"""Forward filter of a hidden Markov model: the class is hidden, stays, and now and then switches to another one.

prior_t(k) = (1 - switch) b_{t-1}(k) + switch / (K - 1) (1 - b_{t-1}(k)),    b_t(k) ∝ L_t(k) prior_t(k)
L_t = (1 - outlier) softmax(z_t / temperature) + outlier / K: the frame's likelihood, classes being equally likely
beforehand; with the share `outlier` of the frames the picture tells nothing. b_0 ∝ L_0.
Rabiner, "A tutorial on hidden Markov models and selected applications in speech recognition", Proc. IEEE 77, 1989.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from knob_core._arrays.compiled import compiled
from knob_core.rivals.base import Filter, Floats, Range
from knob_core.rivals.probabilities import log, softmax


class HmmState(NamedTuple):
    b: Floats  # (R, K) belief


@compiled()
def forward(likelihood: Floats, b: Floats, switch: float) -> Any:
    """Beliefs (R, T, K) from likelihoods (R, T, K) and the belief (R, K) before them."""
    streams, frames, classes = likelihood.shape
    other = switch / (classes - 1)
    beliefs = np.empty_like(likelihood)
    for r in range(streams):
        last = b[r].copy()
        for t in range(frames):
            total = 0.0
            for k in range(classes):
                last[k] = likelihood[r, t, k] * ((1 - switch) * last[k] + other * (1 - last[k]))
                total += last[k]
            for k in range(classes):
                last[k] /= total
                beliefs[r, t, k] = last[k]
    return beliefs


@dataclass(frozen=True)
class Hmm(Filter):
    """answer = log b."""

    switch: float  # probability of a change of class from one frame to the next
    temperature: float = 1.0
    outlier: float = 0.01  # share of the frames that tell nothing

    NAME: ClassVar = "HMM forward filter"
    KNOWN_AS: ClassVar = "smoothing of activities from accelerometers; a class lock that counts evidence"
    PARAMETERS: ClassVar = {
        "switch": Range(1e-15, 0.5, "logit"),
        "temperature": Range(0.3, 10.0, "log"),
        "outlier": Range(1e-6, 0.5, "logit"),
    }
    SWEEP: ClassVar = "switch"

    def __post_init__(self) -> None:
        self._require("switch", 0, 1, above=True)
        self._require("temperature", 0, above=True)
        self._require("outlier", 0, 1)

    def _run(self, z: Floats, state: HmmState | None, u: Floats | None) -> tuple[Floats, HmmState]:
        classes = z.shape[-1]
        likelihood = (1 - self.outlier) * softmax(z / self.temperature) + self.outlier / classes
        before = np.full((len(z), classes), 1 / classes) if state is None else state.b
        beliefs = forward(likelihood, before, self.switch)
        return log(beliefs), HmmState(beliefs[:, -1].copy())
