"""One-euro filter of the logits, or of the probabilities: a moving average that hurries when the signal moves fast.

d <- d + alpha(d_cutoff) (x_t - x_{t-1} - d),    f = min_cutoff + beta |d|,    m <- m + alpha(f) (x_t - m)
alpha(f) = 1 / (1 + 1 / (2 pi f)), class by class; from m = x_0, d = 0.
Casiez, Roussel & Vogel, "1 € Filter: A Simple Speed-based Low-pass Filter for Noisy Input", CHI 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from knob_core._arrays.compiled import compiled
from knob_core.rivals.base import Filter, Floats, Range
from knob_core.rivals.probabilities import log, softmax, total


class OneEuroState(NamedTuple):
    m: NDArray  # (..., K) the smoothed signal
    d: NDArray  # (..., K) its smoothed speed, a frame
    x: NDArray  # (..., K) the last frame


def follow(
    x: NDArray, min_cutoff: float, beta: float, d_cutoff: float, state: OneEuroState | None = None
) -> tuple[NDArray, OneEuroState]:
    """m (..., T, K) and the state after the last frame; cutoffs in cycles/frame."""
    first = x[..., 0, :]  # as if it had stood there before
    m, d, last = (first, np.zeros_like(first), first) if state is None else state
    end = OneEuroState(*(np.array(part, np.float64) for part in (m, d, last)))
    rows = (part.reshape(-1, x.shape[-1]) for part in end)
    out = _follow(np.ascontiguousarray(x, np.float64).reshape(-1, *x.shape[-2:]), *rows, min_cutoff, beta, d_cutoff)
    return out.reshape(x.shape), end


@compiled()
def _follow(x: NDArray, m: NDArray, d: NDArray, last: NDArray, min_cutoff: float, beta: float, d_cutoff: float) -> Any:
    """m (R, T, K) of x (R, T, K); m, d and last (R, K) are brought to their end."""
    out = np.empty_like(x)
    smooth = 1 / (1 + 1 / (2 * np.pi * d_cutoff))
    for r in range(x.shape[0]):
        for t in range(x.shape[1]):
            for k in range(x.shape[2]):
                d[r, k] += smooth * (x[r, t, k] - last[r, k] - d[r, k])
                m[r, k] += (x[r, t, k] - m[r, k]) / (1 + 1 / (2 * np.pi * (min_cutoff + beta * abs(d[r, k]))))
                last[r, k] = x[r, t, k]
                out[r, t, k] = m[r, k]
    return out


@dataclass(frozen=True)
class OneEuroOfLogits(Filter):
    """answer = m, the filtered logits."""

    min_cutoff: float  # cycles/frame
    beta: float = 0.1  # cycles/frame by which one logit a frame raises the cutoff
    d_cutoff: float = 0.05  # cycles/frame

    NAME: ClassVar = "one-euro of logits"
    KNOWN_AS: ClassVar = "the smoothing of landmarks in MediaPipe"
    PARAMETERS: ClassVar = {
        "min_cutoff": Range(0.0005, 1.0, "log"),
        "beta": Range(0.001, 3.0, "log"),
        "d_cutoff": Range(0.01, 30.0, "log"),
    }
    SWEEP: ClassVar = "min_cutoff"

    def __post_init__(self) -> None:
        self._require("min_cutoff", 0, above=True)
        self._require("beta", 0)
        self._require("d_cutoff", 0, above=True)

    def _run(self, z: Floats, state: OneEuroState | None, u: Floats | None) -> tuple[Floats, OneEuroState]:
        return follow(z, self.min_cutoff, self.beta, self.d_cutoff, state)


@dataclass(frozen=True)
class OneEuroOfProbabilities(OneEuroOfLogits):
    """answer = log m / sum m, m the filtered softmax(z): every class has its own alpha, so the sum drifts."""

    beta: float = 1.0  # cycles/frame for a probability that moves by 1 a frame

    NAME: ClassVar = "one-euro of p"
    PARAMETERS: ClassVar = {**OneEuroOfLogits.PARAMETERS, "beta": Range(0.01, 30.0, "log")}

    def _run(self, z: Floats, state: OneEuroState | None, u: Floats | None) -> tuple[Floats, OneEuroState]:
        m, state = super()._run(softmax(z), state, u)
        return log(m / total(m)), state
