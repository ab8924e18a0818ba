"""The measures that a map shows: in words, and in which direction each is better."""

from __future__ import annotations

import math
from typing import NamedTuple


class Measure(NamedTuple):
    """One field of `knob_core.measures.change.ChangeMeasures`."""

    words: str
    more_is_better: bool = False
    scale: float = 1.0  # shown value = scale x measure
    digits: int = 2
    unit: str = ""

    def shown(self, value: float) -> str:
        """As it is written; a dash where there is no value."""
        return f"{self.scale * value:.{self.digits}f}{self.unit}" if math.isfinite(value) else "–"


MEASURES = {  # menus, tables and figures read this table
    "excess_flips": Measure("excess flips per 100 frames"),
    "delay_mean": Measure("frames to a new class, on average"),
    "delay_median": Measure("frames to a new class, median"),
    "delay_90": Measure("frames to a new class, slowest tenth"),
    "missed": Measure("changes that are never shown", scale=100.0, digits=1, unit=" %"),
    "false_alarms": Measure("false alarms per 100 frames"),
    "flips": Measure("flips per 100 frames"),
    "sure_wrong": Measure("confident errors per 100 frames"),
    "accuracy": Measure("right answers", more_is_better=True, scale=100.0, digits=1, unit=" %"),
    "nll": Measure("negative log-likelihood (NLL)", digits=3),
    "ece": Measure("miscalibration (ECE)", digits=3),
}
