"""The sweep: a filter's one parameter between calm and alert, turned through its range.

Delay and flips change unevenly with the parameter, so settings are placed one by one: always halfway, on the
parameter's scale, between those two neighbours that leave the largest gap, |Δ log delay| + |Δ log flips|, as far as
their delays lie in the span that matters. Flips have a say because delay alone may be the same on both sides of its
lowest value: an answer that flickers does not stay either.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from knob_core.rivals.base import Filter, Floats
from knob_core.tuning import space
from knob_core.tuning.measured import Measured, measure, together
from knob_core.tuning.streams import Streams

SETTINGS = 12
FIRST_PLACES = (0.0, 0.25, 0.5, 0.75, 1.0)
SPAN = (0.8, 5.0)  # frames of mean delay
FEWEST = 0.05  # flips per 100 frames: fewer than this are not worth much


@dataclass(frozen=True)
class Curve:
    """S settings of one filter, by growing value of its sweep parameter, and what each costs."""

    value: Floats  # (S,); NaN for a filter without a sweep parameter
    temperature: Floats  # (S,) of the answer, the best for NLL
    delay: Floats  # (S,) mean, frames
    flips: Floats  # (S,) excess flips per 100 frames
    nll: Floats  # (S,) nats


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
) -> Curve:
    """Measure up to `settings` settings; fewer where a whole number has no more values between its neighbours."""
    if kind.SWEEP is None:
        return _curve([np.nan], [measure(kind(**parameters), streams, every=every)])
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
            for a, b in itertools.pairwise(values)
        ]
        open_ = [gap for gap in between if space.value(gap[2], scale) not in found]
        if not open_:
            break
        add(max(open_)[2])  # the largest gap; where there is none, the widest of the parameter
    values = sorted(found)
    return _curve(values, [found[value][1] for value in values])


def _curve(values: Sequence[float], parts: list[Measured]) -> Curve:
    measured = together(parts)
    return Curve(np.array(values, np.float64), measured.temperature, *measured.means())


def _gap(a: Measured, b: Measured, span: tuple[float, float]) -> float:
    """Log delay within the span and log flips between two settings; 0 where both are too fast or both too slow."""
    (delay_a, flips_a), (delay_b, flips_b) = ((float(x.delay[0]), float(x.flips[0])) for x in (a.means(), b.means()))
    low, high = sorted((delay_a, delay_b))
    if high <= span[0] or low >= span[1]:
        return 0.0
    low, high = max(low, span[0]), min(high, span[1])
    return math.log(high / low) + abs(math.log((FEWEST + flips_a) / (FEWEST + flips_b)))


def repeat(kind: type[Filter], parameters: dict[str, Any], curve: Curve, streams: Streams) -> Measured:
    """The settings of a curve, with its output temperatures, on other streams."""
    whole = kind.SWEEP is not None and kind.PARAMETERS[kind.SWEEP].scale == "int"
    filters = [with_sweep(kind, parameters, int(value) if whole else float(value)) for value in curve.value]
    pairs = zip(filters, curve.temperature, strict=True)
    return together([measure(filter_, streams, float(temperature)) for filter_, temperature in pairs])
