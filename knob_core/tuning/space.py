"""Parameters as points of a unit cube: every side is one parameter on its own scale.

log:  x = low (high/low)^c        logit:  logit x = logit low + c (logit high - logit low)        linear:  likewise in x
int:  like log, rounded to the nearest whole number;  c in [0, 1]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from knob_core.rivals.base import Range


def _logit(x: float) -> float:
    return math.log(x) - math.log1p(-x)


def _logistic(y: float) -> float:
    return 1 / (1 + math.exp(-y))


SCALES: dict[str, tuple[Callable[[float], float], Callable[[float], float]]] = {
    "log": (math.log, math.exp),
    "int": (math.log, math.exp),
    "logit": (_logit, _logistic),
    "linear": (float, float),
}


def value(c: float, span: Range) -> float | int:
    """The parameter at place c in [0, 1] of its range."""
    if not 0 <= c <= 1:
        raise ValueError(f"c must lie in [0, 1], got {c}")
    forth, back = SCALES[span.scale]
    low, high = forth(span.low), forth(span.high)
    x = min(max(back(low + c * (high - low)), span.low), span.high)  # rounding must not leave the range
    return round(x) if span.scale == "int" else x


def place(x: float, span: Range) -> float:
    """The place in [0, 1] of a parameter; the nearest end for one outside of its range."""
    forth, _ = SCALES[span.scale]
    low, high = forth(span.low), forth(span.high)
    return (forth(min(max(x, span.low), span.high)) - low) / (high - low)


def values(point: Iterable[float], spans: dict[str, Range]) -> dict[str, float | int]:
    """All parameters of a point of the cube, by name."""
    return {name: value(float(c), span) for c, (name, span) in zip(point, spans.items(), strict=True)}
