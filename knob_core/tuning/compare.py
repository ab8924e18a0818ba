"""Tuned filters on other streams: excess flips and NLL at the same mean delays, with intervals over streams.

Every filter's settings, as tuned, are measured there; between them its curve is interpolated at the target delays.
Bootstrap: R streams are drawn with replacement B times, the same drawings for every filter, and each drawing has its
own means, curve and interpolation. Differences of two filters are therefore paired. Intervals are percentiles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from knob_core.rivals.base import Floats
from knob_core.tuning import front
from knob_core.tuning.measured import Measured
from knob_core.tuning.streams import Streams
from knob_core.tuning.sweep import repeat
from knob_core.tuning.tune import DELAYS, Tuned

DRAWS = 1000


class Interval(NamedTuple):
    value: Floats  # (D,) on the streams as they are
    low: Floats  # (D,)
    high: Floats  # (D,)


@dataclass(frozen=True)
class Row:
    """One filter at D target delays; row 0 of an array (1 + B, D) is of the streams as they are, the rest are drawn."""

    flips: Floats  # (1 + B, D) excess flips per 100 frames
    nll: Floats  # (1 + B, D) nats, of the settings that have these flips
    best_nll: Floats  # (1 + B, 1) nats, of the setting that is best on the streams as they are
    reached: np.ndarray  # (D,) bool: the target lies within the filter's delays; else its nearest end is shown


@dataclass(frozen=True)
class Comparison:
    """Filters by name on the same streams."""

    delays: tuple[float, ...]  # D targets, frames
    rows: dict[str, Row]

    def interval(self, name: str, what: str = "flips", level: float = 0.95) -> Interval:
        """Of "flips", "nll" or "best_nll"."""
        return _interval(getattr(self.rows[name], what), level)

    def difference(self, name: str, other: str, what: str = "flips", level: float = 0.95) -> Interval:
        """name less other, drawing by drawing: below 0 where `name` is better."""
        return _interval(getattr(self.rows[name], what) - getattr(self.rows[other], what), level)


def _interval(drawn: Floats, level: float) -> Interval:
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
    low, high = np.quantile(drawn[1:], [(1 - level) / 2, (1 + level) / 2], axis=0)
    return Interval(drawn[0], low, high)


def evaluate(
    tuned: Mapping[str, Tuned],
    streams: Streams,
    delays: Sequence[float] = DELAYS,
    draws: int = DRAWS,
    seed: int = 0,
) -> Comparison:
    """Measure tuned filters on other streams, and compare."""
    measured = {name: repeat(t.kind, t.parameters, t.curve, streams) for name, t in tuned.items()}
    return compare(measured, delays, draws, seed)


def compare(
    measured: Mapping[str, Measured], delays: Sequence[float] = DELAYS, draws: int = DRAWS, seed: int = 0
) -> Comparison:
    """Filters that were measured on the same R streams, row by row; their logits may come from different models."""
    numbers = {len(m.cuts) for m in measured.values()}
    if len(numbers) != 1:
        raise ValueError(f"all filters must be measured on the same streams, got {sorted(numbers)} of them")
    if draws < 1:
        raise ValueError(f"draws must be at least 1, got {draws}")
    streams = numbers.pop()
    times = np.random.default_rng(seed).multinomial(streams, np.full(streams, 1 / streams), size=draws)
    drawn = np.concatenate([np.ones((1, streams)), times])  # (1 + B, R)
    counted = np.min([drawn @ m.cuts for m in measured.values()], axis=0) > 0  # a draw without a cut has no delay
    if not counted[0]:
        raise ValueError("no stream has a cut that the model recognises, expected some: there is no delay")
    drawn = drawn[counted]
    return Comparison(tuple(delays), {name: _row(m, drawn, delays) for name, m in measured.items()})


def _row(measured: Measured, drawn: Floats, delays: Sequence[float]) -> Row:
    means = measured.means(drawn)
    mixes = [front.at_delay(delay, flips, delays) for delay, flips in zip(means.delay, means.flips, strict=True)]
    flips = np.stack([mix.mix(y) for mix, y in zip(mixes, means.flips, strict=True)])
    nll = np.stack([mix.mix(y) for mix, y in zip(mixes, means.nll, strict=True)])
    best = means.nll[:, [int(means.nll[0].argmin())]]
    return Row(flips, nll, best, front.off_range(means.delay[0], delays) == 0)
