"""Sliding median of the logits: m_t = median(z_{t-w+1} ... z_t), class by class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from knob_core.rivals.base import Filter, Floats, Range
from knob_core.rivals.window import WindowState, medians


@dataclass(frozen=True)
class SlidingMedian(Filter):
    """answer = the median of the last `window` frames, of fewer in the beginning."""

    window: int  # frames

    NAME: ClassVar = "sliding median"
    KNOWN_AS: ClassVar = "the median of the last scores in Frigate; median in ESPHome"
    PARAMETERS: ClassVar = {"window": Range(1, 41, "int")}
    SWEEP: ClassVar = "window"

    def __post_init__(self) -> None:
        self._require_int("window", 1, 10_000)

    def _run(self, z: Floats, state: WindowState | None, u: Floats | None) -> tuple[Floats, WindowState]:
        return medians(z, self.window, state)
