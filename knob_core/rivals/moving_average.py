"""Exponential moving average of the logits, or of the probabilities.

m_t = m_{t-1} + alpha (x_t - m_{t-1}),  alpha = 1 - exp(-omega),  m_0 = x_0,  x = z or softmax(z)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from knob_core.ema import run_ema
from knob_core.rivals.base import Filter, Floats, Range
from knob_core.rivals.probabilities import log, softmax


class AverageState(NamedTuple):
    m: Floats  # (R, K)


@dataclass(frozen=True)
class EmaOfLogits(Filter):
    """answer = m, the moving average of the logits."""

    omega: float  # rad/frame

    NAME: ClassVar = "EMA of logits"
    KNOWN_AS: ClassVar = "the lowpass of Home Assistant, exponential_moving_average of ESPHome"
    PARAMETERS: ClassVar = {"omega": Range(0.05, 4.0, "log")}
    SWEEP: ClassVar = "omega"

    def __post_init__(self) -> None:
        self._require("omega", 0, above=True)

    def _run(self, z: Floats, state: AverageState | None, u: Floats | None) -> tuple[Floats, AverageState]:
        m, end = run_ema(z, self.omega, state=z[:, 0] if state is None else state.m, axis=1)
        return m, AverageState(end)


@dataclass(frozen=True)
class EmaOfProbabilities(EmaOfLogits):
    """answer = log m, m the moving average of softmax(z)."""

    NAME: ClassVar = "EMA of p"

    def _run(self, z: Floats, state: AverageState | None, u: Floats | None) -> tuple[Floats, AverageState]:
        m, state = super()._run(softmax(z), state, u)
        return log(m), state
