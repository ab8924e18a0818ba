"""Fewest flips at a given mean delay: the trade-off curve of one filter.

A setting is on the front where no other has both less delay and fewer flips. Between two neighbours of the front the
curve is a straight line: half of the streams at one setting, half at the other, would give its middle.
Outside of the measured delays the nearest end stands for the curve.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knob_core._arrays.checks import require_finite


class Between(NamedTuple):
    """Two settings and the weight of the second, for each target."""

    first: NDArray[np.intp]  # (D,)
    second: NDArray[np.intp]  # (D,)
    weight: NDArray[np.float64]  # (D,) in [0, 1]

    def mix(self, y: NDArray) -> NDArray:
        """y (..., S) of the settings, at the targets (..., D)."""
        return (1 - self.weight) * y[..., self.first] + self.weight * y[..., self.second]


def front(delay: NDArray, flips: NDArray) -> NDArray[np.intp]:
    """Places of the settings that no other beats in both, by growing delay."""
    order = np.lexsort((flips, delay))
    before = np.minimum.accumulate(np.concatenate([[np.inf], flips[order][:-1]]))
    return order[flips[order] < before]


def at_delay(delay: ArrayLike, flips: ArrayLike, targets: ArrayLike) -> Between:
    """Where on the front of settings (S,) each mean delay of `targets` (D,) lies."""
    delay, flips, targets = (np.asarray(x, np.float64) for x in (delay, flips, targets))
    if delay.ndim != 1 or not len(delay) or flips.shape != delay.shape:
        raise ValueError(f"delay and flips have shapes {delay.shape} and {flips.shape}, expected one (S,), S >= 1")
    require_finite("delay", delay)
    require_finite("flips", flips)
    on = front(delay, flips)
    place = np.interp(targets, delay[on], np.arange(len(on)))  # between 0 and len(on) - 1
    first = np.minimum(place.astype(np.intp), max(0, len(on) - 2))
    return Between(on[first], on[np.minimum(first + 1, len(on) - 1)], place - first)


def off_range(delay: ArrayLike, targets: ArrayLike) -> NDArray[np.float64]:
    """|log(target / nearest measured delay)| for targets that no setting reaches, 0 for the others, (D,)."""
    delay = np.maximum(np.asarray(delay, np.float64), 1e-3)
    targets = np.asarray(targets, np.float64)
    return np.maximum(np.log(delay.min() / targets), 0) + np.maximum(np.log(targets / delay.max()), 0)
