"""The sweep: a filter's one parameter between calm and alert, turned through its range.

The delay changes unevenly with the parameter, so settings are placed one by one: always halfway, on the parameter's
scale, between those two neighbours that leave the largest gap of log delay within the span that matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knob_core.rivals.base import Filter
from knob_core.tuning import space
from knob_core.tuning.measured import Measured, measure, together
from knob_core.tuning.streams import Streams

SETTINGS = 12
FIRST_PLACES = (0.0, 0.25, 0.5, 0.75, 1.0)
SPAN = (0.8, 5.0)  # frames of mean delay
SMALLEST_DELAY = 0.05  # frames: below this all delays count as alike


@dataclass(frozen=True)
class Sweep:
    """S settings of one filter, by growing value of its sweep parameter."""

    value: NDArray[np.float64]  # (S,); NaN for a filter without one
    measured: Measured


def with_sweep(kind: type[Filter], parameters: dict[str, Any], value: float | int) -> Filter:
    """The filter of these parameters, its sweep parameter at `value`."""
    return kind(**parameters, **({} if kind.SWEEP is None else {kind.SWEEP: value}))


def sweep(
    kind: type[Filter],
    parameters: dict[str, Any],
    streams: Streams,
    settings: int = SETTINGS,
    span: tuple[float, float] = SPAN,
    every: int = 1,
) -> Sweep:
    """Measure up to `settings` settings; fewer where a whole number has no more values between its neighbours."""
    if kind.SWEEP is None:
        return Sweep(np.array([np.nan]), measure(kind(**parameters), streams, every=every))
    scale = kind.PARAMETERS[kind.SWEEP]
    found: dict[float | int, tuple[float, Measured]] = {}  # value -> its place on the scale, what it costs

    def add(place: float) -> None:
        value = space.value(place, scale)
        if value not in found:
            found[value] = place, measure(with_sweep(kind, parameters, value), streams, every=every)

    for place in FIRST_PLACES:
        add(place)
    while len(found) < settings:
        values = sorted(found)
        between = [
            (_gap(found[a][1], found[b][1], span), found[b][0] - found[a][0], (found[a][0] + found[b][0]) / 2)
            for a, b in zip(values, values[1:], strict=False)
        ]
        open_ = [gap for gap in between if space.value(gap[2], scale) not in found]
        if not open_:
            break
        add(max(open_)[2])  # the largest gap of delay; where there is none, the widest of the parameter
    values = sorted(found)
    return Sweep(np.array(values, np.float64), together([found[value][1] for value in values]))


def _gap(a: Measured, b: Measured, span: tuple[float, float]) -> float:
    """How much of the span, in log delay, lies between two settings."""
    low, high = sorted(float(np.clip(x.means().delay[0], *span)) for x in (a, b))
    return float(np.log(max(high, SMALLEST_DELAY) / max(low, SMALLEST_DELAY)))


def repeat(kind: type[Filter], parameters: dict[str, Any], known: Sweep, streams: Streams) -> Measured:
    """The same settings with the same output temperatures on other streams."""
    whole = kind.SWEEP is not None and kind.PARAMETERS[kind.SWEEP].scale == "int"
    filters = [with_sweep(kind, parameters, int(value) if whole else float(value)) for value in known.value]
    pairs = zip(filters, known.measured.temperature, strict=True)
    return together([measure(filter_, streams, float(temperature)) for filter_, temperature in pairs])
