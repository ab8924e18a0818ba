"""One-euro filter of the logits, or of the probabilities: a moving average that hurries when the signal moves fast.

d <- d + alpha(d_cutoff) (x_t - x_{t-1} - d),    f = min_cutoff + beta |d|,    m <- m + alpha(f) (x_t - m)
alpha(f) = 1 / (1 + 1 / (2 pi f)), class by class; from m = x_0, d = 0.
Casiez, Roussel & Vogel, "1 € Filter: A Simple Speed-based Low-pass Filter for Noisy Input", CHI 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    frames = list(np.moveaxis(x, -2, 0))
    if state is None:
        state = OneEuroState(frames[0], np.zeros_like(frames[0]), frames[0])
        out, frames = [state.m], frames[1:]
    else:
        out = []
    m, d, last = state
    for x_t in frames:
        d = d + _alpha(d_cutoff) * (x_t - last - d)
        m = m + _alpha(min_cutoff + beta * np.abs(d)) * (x_t - m)
        last = x_t
        out.append(m)
    return np.stack(out, -2), OneEuroState(m.copy(), d, last.copy())  # never views of the caller's frames


def _alpha(cutoff: float | NDArray) -> float | NDArray:
    return 1 / (1 + 1 / (2 * np.pi * cutoff))


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
