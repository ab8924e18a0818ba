"""Bayesian online change-point detection: one running mean for every possible time of the last cut.

Run i has seen the last i frames since a cut; its class frequencies have a Dirichlet prior of `prior` frames in all:
    θ_i(k) = (s_i(k) + prior/K) / (i + prior),   s_i the sum of its frames' p = softmax(z / temperature)
    L_i = (K <θ_i, p>)^weight                                likelihood of the frame; 1 for a run that begins with it
    w_{i+1} ∝ (1 - hazard) w_i L_i,    w_1 ∝ hazard Σ w_i,    then s_i <- s_i + p
answer = log Σ_i w_i θ_i. Runs of `runs` frames and more share one mean, which forgets older frames exponentially.
Adams & MacKay, "Bayesian online changepoint detection", arXiv 0710.3742.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from knob_core._arrays.compiled import compiled
from knob_core.rivals.base import Filter, Floats, Range
from knob_core.rivals.probabilities import log, softmax

NOTHING = 1e-200  # a run of less weight is dropped: it could not come back, and numbers near 1e-308 are slow


class ChangePointState(NamedTuple):
    w: Floats  # (R, M) weight of the run of 1, 2 ... M frames; all 0: nothing seen yet
    s: Floats  # (R, M, K) sum of its frames' p


@compiled()
def follow(p: Floats, w: Floats, s: Floats, hazard: float, prior: float, weight: float) -> Floats:
    """Σ w θ (R, T, K) from p (R, T, K); w (R, M) and s (R, M, K) are brought to their end."""
    streams, frames, classes = p.shape
    runs = w.shape[1]
    out = np.empty_like(p)
    for r in range(streams):
        for t in range(frames):
            before = 0.0
            for i in range(runs):
                if w[r, i] == 0:
                    continue
                before += w[r, i]
                dot = 0.0
                for k in range(classes):
                    dot += (s[r, i, k] + prior / classes) * p[r, t, k]
                w[r, i] *= (1 - hazard) * (classes * dot / (i + 1 + prior)) ** weight
            kept, joins = w[r, runs - 1], w[r, runs - 2]
            both = max(kept + joins, NOTHING)
            for k in range(classes):
                long = kept * (1 - 1 / runs) * s[r, runs - 1, k] + joins * s[r, runs - 2, k]
                s[r, runs - 1, k] = long / both + p[r, t, k]
            w[r, runs - 1] = kept + joins
            for i in range(runs - 2, 0, -1):
                w[r, i] = w[r, i - 1]
                if w[r, i] > 0:
                    for k in range(classes):
                        s[r, i, k] = s[r, i - 1, k] + p[r, t, k]
            w[r, 0] = hazard * before if before > 0 else 1.0
            s[r, 0] = p[r, t]
            total = w[r].sum()
            out[r, t] = 0
            for i in range(runs):
                w[r, i] /= total
                if w[r, i] < NOTHING:
                    w[r, i] = 0
                else:
                    for k in range(classes):
                        out[r, t, k] += w[r, i] * (s[r, i, k] + prior / classes) / (i + 1 + prior)
    return out


@dataclass(frozen=True)
class ChangePoint(Filter):
    """answer = log Σ w θ."""

    hazard: float  # probability of a cut from one frame to the next
    temperature: float = 1.0
    prior: float = 0.1  # frames
    weight: float = 2.0  # of a frame's evidence; 1: frames err independently of each other
    runs: int = 64

    NAME: ClassVar = "Bayesian change-point"
    KNOWN_AS: ClassVar = "online change-point detection (BOCPD)"
    PARAMETERS: ClassVar = {
        "hazard": Range(1e-15, 0.5, "logit"),
        "temperature": Range(0.3, 5.0, "log"),
        "prior": Range(0.001, 3.0, "log"),
        "weight": Range(0.3, 10.0, "log"),
    }
    SWEEP: ClassVar = "hazard"

    def __post_init__(self) -> None:
        self._require("hazard", 0, 1, above=True)
        self._require("temperature", 0, above=True)
        self._require("prior", 0, above=True)
        self._require("weight", 0, above=True)
        self._require_int("runs", 2, 10_000)

    def _run(self, z: Floats, state: ChangePointState | None, u: Floats | None) -> tuple[Floats, ChangePointState]:
        p = softmax(z / self.temperature)
        shape = (len(z), self.runs)
        w, s = (np.zeros(shape), np.zeros((*shape, z.shape[2]))) if state is None else (x.copy() for x in state)
        out = follow(p, w, s, self.hazard, self.prior, self.weight)
        return log(out), ChangePointState(w, s)
