"""A moving average of the probabilities with one offset per class and two speeds: into a class, and out of it.

p = softmax((z + o) / tau),    m_k <- m_k + alpha_k (p_k - m_k),    alpha = 1 - exp(-omega) where p_k > m_k,
and 1 - exp(-omega slower) where it falls; answer = log(m / sum m), from m = p_0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from knob_core._arrays.compiled import compiled
from knob_core.rivals.base import Filter, Floats, Range
from knob_core.rivals.moving_average import AverageState
from knob_core.rivals.probabilities import log, softmax, total


@compiled()
def follow(p: Floats, m: Floats, rise: float, fall: float) -> Any:
    """m (R, T, K) of p (R, T, K); m (R, K) is brought to its end."""
    out = np.empty_like(p)
    for r in range(p.shape[0]):
        for t in range(p.shape[1]):
            for k in range(p.shape[2]):
                off = p[r, t, k] - m[r, k]
                m[r, k] += (rise if off > 0 else fall) * off
                out[r, t, k] = m[r, k]
    return out


@dataclass(frozen=True)
class TwoSpeeds(Filter):
    """answer = log m / sum m."""

    omega: float  # rad/frame into a class
    slower: float = 0.5  # omega out of a class, as a share of that into one
    temperature: float = 1.0  # tau
    offsets: tuple[float, ...] = ()  # (K,) logits; () for none

    NAME: ClassVar = "EMA with offsets and two speeds"
    KNOWN_AS: ClassVar = "attack and release with a threshold per class; delay_on and delay_off in Home Assistant"
    PARAMETERS: ClassVar = {
        "omega": Range(0.02, 4.0, "log"),
        "slower": Range(0.05, 2.0, "log"),
        "temperature": Range(0.3, 5.0, "log"),
    }
    SWEEP: ClassVar = "omega"

    def __post_init__(self) -> None:
        self._require("omega", 0, above=True)
        self._require("slower", 0, above=True)
        self._require("temperature", 0, above=True)
        self._require_offsets()

    def _run(self, z: Floats, state: AverageState | None, u: Floats | None) -> tuple[Floats, AverageState]:
        p = softmax(self._offset(z) / self.temperature)
        m = (p[:, 0] if state is None else state.m).copy()
        out = follow(p, m, -np.expm1(-self.omega), -np.expm1(-self.omega * self.slower))
        return log(out / total(out)), AverageState(m)
