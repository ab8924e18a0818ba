"""Goals: what an operator wants of a stream, in the operator's words, and how far a setting is from it.

A goal is a limit on one measure of `knob_core.measures.change.ChangeMeasures`: at most so much, or at least so much.
shortfall = (value - limit) / step where the limit is missed, 0 where it is met; a step is a difference that matters.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from knob_core._arrays import checks as check


class Kind(NamedTuple):
    """One kind of goal."""

    measure: str  # field of ChangeMeasures
    words: str  # what is limited
    at_least: bool  # True: more is better
    bounds: tuple[float, float]  # allowed limits
    step: float  # a difference that an operator would notice
    scale: float = 1.0  # shown value = scale x measure
    unit: str = ""

    @property
    def sense(self) -> str:
        return "at least" if self.at_least else "at most"

    def shown(self, value: float) -> str:
        """A value of the measure as it is written: 0.836 of accuracy is "83.6 %"; a dash where there is none."""
        return f"{self.scale * value:.4g}{self.unit}" if math.isfinite(value) else "–"


KINDS = {  # name of the goal -> kind; menus, cards, links and files read this table
    "excess_flips": Kind("excess_flips", "excess flips per 100 frames", False, (0.0, 100.0), 0.1),
    "delay": Kind("delay_mean", "frames to a new class, on average", False, (0.0, 1000.0), 0.25),
    "confident_errors": Kind("sure_wrong", "confident errors per 100 frames", False, (0.0, 100.0), 0.25),
    "accuracy": Kind("accuracy", "right answers", True, (0.0, 1.0), 0.005, 100.0, " %"),
}


class Verdict(NamedTuple):
    """One goal against one value."""

    name: str  # of the goal
    limit: float
    value: float  # of the measure; NaN where the stream cannot tell
    met: bool
    shortfall: float  # >= 0, in steps of the kind; infinite where the stream cannot tell

    @property
    def words(self) -> str:
        """One sentence part: "met: 0.8, at most 1" or "missed by 0.5: 1.5, at most 1"."""
        kind = KINDS[self.name]
        if not math.isfinite(self.value):
            return f"not measurable here; wanted {kind.sense} {kind.shown(self.limit)}"
        how = "met" if self.met else f"missed by {kind.shown(abs(self.value - self.limit))}"
        return f"{how}: {kind.shown(self.value)}, wanted {kind.sense} {kind.shown(self.limit)}"


@dataclass(frozen=True)
class Goals:
    """Limits by name; None where nothing is asked. Accuracy is a share in [0, 1]."""

    excess_flips: float | None = None
    delay: float | None = None
    confident_errors: float | None = None
    accuracy: float | None = None

    def __post_init__(self) -> None:
        for name, kind in KINDS.items():
            limit, (low, high) = getattr(self, name), kind.bounds
            number = isinstance(limit, (int, float)) and not isinstance(limit, bool)
            if limit is not None and not (number and low <= limit <= high):
                raise ValueError(f"goal {name} is {check.shown(limit)}, expected a number in [{low:g}, {high:g}]")

    def set(self) -> dict[str, float]:
        """The goals that ask for something, by name."""
        return {name: float(limit) for name in KINDS if (limit := getattr(self, name)) is not None}

    def verdicts(self, measures: Any) -> Iterator[Verdict]:
        """Each goal against `measures`, an object with ChangeMeasures' fields; in the order of KINDS."""
        for name, limit in self.set().items():
            yield verdict(name, limit, float(getattr(measures, KINDS[name].measure)))

    def __bool__(self) -> bool:
        return bool(self.set())


def verdict(name: str, limit: float, value: float) -> Verdict:
    """One goal against one value of its measure."""
    kind = KINDS[name]
    if not math.isfinite(value):
        return Verdict(name, limit, value, False, math.inf)
    missing = (limit - value if kind.at_least else value - limit) / kind.step
    return Verdict(name, limit, value, missing <= 0, max(0.0, missing))


def from_dict(table: Mapping[str, Any]) -> Goals:
    """Goals of a file or a link; unknown names and values out of range are refused by name."""
    if not isinstance(table, Mapping):
        raise ValueError(f"goals is {check.shown(table)}, expected a table of {', '.join(KINDS)}")
    unknown = sorted(set(table) - {field.name for field in fields(Goals)})
    if unknown:
        raise ValueError(f"goals has unknown names {', '.join(map(str, unknown))}, expected {', '.join(KINDS)}")
    return Goals(**table)
