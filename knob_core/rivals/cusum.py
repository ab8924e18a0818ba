"""CUSUM with reset: a running mean of the logits, until enough frames in a row have contradicted it.

a = <softmax(m/τ), softmax(z/τ)>,    ℓ = -log[K (1-ε)² a + 1 - (1-ε)²]        evidence of a change
S <- max(0, S + ℓ - drift); the suspects are the frames since S was last 0
S > threshold, an alarm:   m <- mean of the suspects,  n <- their number,  S <- 0
else:                      n <- min(n + w, length),  m <- m + w (z - m) / n,   w = 1 where S = 0, else `suspect`
ℓ is a log Bayes factor, two classes against one; ε is the share of frames that tell nothing, so no frame counts for
more than -log(1 - (1-ε)²) nats. From m = z_0, n = 1. Page, "Continuous inspection schemes", Biometrika 41, 1954.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from knob_core._arrays.compiled import compiled
from knob_core.rivals.base import Filter, Floats, Range
from knob_core.rivals.probabilities import softmax


class CusumState(NamedTuple):
    m: Floats  # (R, K) running mean of the logits
    n: Floats  # (R,) frames in it; 0: nothing seen yet
    score: Floats  # (R,) S
    suspects: Floats  # (R, K) sum of their logits
    number: Floats  # (R,) their number


@compiled()
def follow(
    z: Floats, p: Floats, state: Any, threshold: float, drift: float, temperature: float, outlier: float,
    length: float, suspect: float,
) -> Floats:  # fmt: skip
    """m (R, T, K) from logits z and p = softmax(z / temperature), both (R, T, K); the state is brought to its end."""
    streams, frames, classes = z.shape
    m, n, score, suspects, number = state
    seen = (1 - outlier) ** 2
    out = np.empty_like(z)
    for r in range(streams):
        for t in range(frames):
            top = m[r].max()
            dot, total = 0.0, 0.0
            for k in range(classes):
                e = np.exp((m[r, k] - top) / temperature)
                total += e
                dot += e * p[r, t, k]
            evidence = -np.log(classes * seen * (dot / total) + 1 - seen)
            score[r] = max(0.0, score[r] + evidence - drift) if n[r] > 0 else 0.0
            if score[r] > 0:
                suspects[r] += z[r, t]
                number[r] += 1
            else:
                suspects[r] = 0
                number[r] = 0
            if score[r] > threshold:
                m[r] = suspects[r] / number[r]
                n[r] = min(number[r], length)
                score[r] = 0
                suspects[r] = 0
                number[r] = 0
            else:
                w = suspect if score[r] > 0 else 1.0
                n[r] = min(n[r] + w, length)
                for k in range(classes):
                    m[r, k] += w / n[r] * (z[r, t, k] - m[r, k])
            out[r, t] = m[r]
    return out


@dataclass(frozen=True)
class Cusum(Filter):
    """answer = m."""

    threshold: float  # nats
    drift: float = 0.1  # nats a frame
    temperature: float = 0.5  # τ
    outlier: float = 0.01  # ε
    length: float = 30.0  # frames: older ones are forgotten exponentially
    suspect: float = 0.3  # weight of a frame under suspicion in the running mean

    NAME: ClassVar = "CUSUM with reset"
    KNOWN_AS: ClassVar = "a control chart: an alarm once evidence has added up"
    PARAMETERS: ClassVar = {
        "threshold": Range(0.05, 60.0, "log"),
        "drift": Range(0.01, 3.0, "log"),
        "temperature": Range(0.1, 5.0, "log"),
        "outlier": Range(1e-4, 0.3, "logit"),
        "length": Range(3.0, 300.0, "log"),
        "suspect": Range(0.01, 1.0, "log"),
    }
    SWEEP: ClassVar = "threshold"

    def __post_init__(self) -> None:
        self._require("threshold", 0)
        self._require("drift", 0)
        self._require("temperature", 0, above=True)
        self._require("outlier", 0, 0.999, above=True)
        self._require("length", 1)
        self._require("suspect", 0, 1)

    def _run(self, z: Floats, state: CusumState | None, u: Floats | None) -> tuple[Floats, CusumState]:
        streams, _, classes = z.shape
        shapes = (streams, classes), (streams,), (streams,), (streams, classes), (streams,)
        end = tuple(np.zeros(shape) for shape in shapes) if state is None else tuple(x.copy() for x in state)
        p = softmax(z / self.temperature)
        out = follow(z, p, end, self.threshold, self.drift, self.temperature, self.outlier, self.length, self.suspect)
        return out, CusumState(*end)
