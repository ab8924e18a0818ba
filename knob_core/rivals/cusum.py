"""CUSUM with reset: a running mean of the logits, until enough frames in a row have contradicted it.

a = <softmax(m/τ), softmax(z/τ)>,   ℓ = -log[K (1-ε)² a + 1 - (1-ε)²], clipped to ±clip       evidence of a change
S <- max(0, S + ℓ - drift); the suspects are the frames since S was last 0
S > threshold, an alarm:   m <- mean of the suspects,  n <- their number,  S <- 0
else:                      n <- min(n + w, length),  m <- m + w (z - m) / n,   w = 1 where S = 0, else `suspect`
ℓ is a log Bayes factor: both frames show their own classes, against both show one class; ε is the share of frames that
tell nothing. From m = z_0, n = 1. Page, "Continuous inspection schemes", Biometrika 41, 1954.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from knob_core._arrays.compiled import compiled
from knob_core.rivals.base import Filter, Floats, Range
from knob_core.rivals.probabilities import softmax, total


class CusumState(NamedTuple):
    m: Floats  # (R, K) running mean of the logits
    n: Floats  # (R,) frames in it; 0: nothing seen yet
    score: Floats  # (R,) S
    suspects: Floats  # (R, K) sum of their logits
    number: Floats  # (R,) their number


def follow(
    z: Floats, p: Floats, state: Any, threshold: float, drift: float, clip: float, temperature: float, outlier: float,
    length: float, suspect: float,
) -> Floats:  # fmt: skip
    """m (R, T, K) from logits z and p = softmax(z / temperature), both (R, T, K); the state is brought to its end."""
    m, n, score, suspects, number = state
    seen = (1 - outlier) ** 2
    out = np.empty_like(z)
    for t in range(z.shape[1]):
        agreement = total(softmax(m / temperature) * p[:, t])[:, 0]
        evidence = np.clip(-np.log(z.shape[2] * seen * agreement + 1 - seen), -clip, clip)
        score[:] = np.where(n > 0, np.maximum(0, score + evidence - drift), 0)
        under_suspicion = score > 0
        suspects[:] = np.where(under_suspicion[:, None], suspects + z[:, t], 0)
        number[:] = np.where(under_suspicion, number + 1, 0)
        alarm = score > threshold
        w = np.where(under_suspicion, suspect, 1.0)
        grown = np.minimum(n + w, length)
        m[:] = np.where(
            alarm[:, None], suspects / np.maximum(number, 1)[:, None], m + (w / grown)[:, None] * (z[:, t] - m)
        )
        n[:] = np.where(alarm, np.minimum(number, length), grown)
        score[alarm], suspects[alarm], number[alarm] = 0, 0, 0
        out[:, t] = m
    return out


@compiled(follow)
def follow_compiled(
    z: Floats, p: Floats, state: Any, threshold: float, drift: float, clip: float, temperature: float, outlier: float,
    length: float, suspect: float,
) -> Floats:  # fmt: skip
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
            evidence = min(max(evidence, -clip), clip)
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
    clip: float = 3.0  # nats: no frame's evidence counts for more
    temperature: float = 0.6  # τ
    outlier: float = 0.01  # ε
    length: float = 30.0  # frames: older ones are forgotten exponentially
    suspect: float = 0.3  # weight of a frame under suspicion in the running mean

    NAME: ClassVar = "CUSUM with reset"
    PARAMETERS: ClassVar = {
        "threshold": Range(0.05, 60.0, "log"),
        "drift": Range(0.01, 3.0, "log"),
        "clip": Range(0.2, 8.0, "log"),
        "temperature": Range(0.3, 5.0, "log"),
        "outlier": Range(1e-4, 0.3, "logit"),
        "length": Range(3.0, 300.0, "log"),
        "suspect": Range(0.01, 1.0, "log"),
    }
    SWEEP: ClassVar = "threshold"

    def __post_init__(self) -> None:
        self._require("threshold", 0)
        self._require("drift", 0)
        self._require("clip", 0, above=True)
        self._require("temperature", 0, above=True)
        self._require("outlier", 0, 0.999, above=True)
        self._require("length", 1)
        self._require("suspect", 0, 1)

    def _run(self, z: Floats, state: CusumState | None, u: Floats | None) -> tuple[Floats, CusumState]:
        streams, _, classes = z.shape
        shapes = (streams, classes), (streams,), (streams,), (streams, classes), (streams,)
        end = tuple(np.zeros(shape) for shape in shapes) if state is None else tuple(x.copy() for x in state)
        p = softmax(z / self.temperature)
        out = follow_compiled(
            z, p, end, self.threshold, self.drift, self.clip, self.temperature, self.outlier, self.length, self.suspect
        )
        return out, CusumState(*end)
