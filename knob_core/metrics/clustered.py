"""Uncertainty over pictures: everything that was made of one picture (severities, corruptions, seeds) belongs together.

    mean       R = sum_i s_i / sum_i n_i,    error^2 = N/(N-1) sum_i (s_i - R n_i)^2 / (sum_i n_i)^2
    no mean    pictures in G groups, t_g without group g,    error^2 = (G-1)/G sum_g (t_g - mean t)^2
s_i is picture i's sum over its n_i samples. The first is the cluster-robust (sandwich) form (Liang & Zeger 1986), the
second the delete-a-group jackknife, for calibration errors, AUCs and rank correlations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

GROUPS = 20
NORMAL_95 = 1.959964  # half of a 95 % interval, in standard errors


class Estimate(NamedTuple):
    """A value with its standard error over pictures."""

    value: float
    error: float

    @property
    def interval(self) -> tuple[float, float]:
        """95 %."""
        half = NORMAL_95 * self.error
        return self.value - half, self.value + half

    @property
    def sign(self) -> int:
        """-1 or 1 where the interval lies on one side of 0, else 0."""
        low, high = self.interval
        return 1 if low > 0 else -1 if high < 0 else 0


def mean(sums: Any, counts: Any = 1.0) -> Estimate:
    """Of pictures' sums (N,) over their counts of samples (N,); NaN without a sample."""
    s = np.asarray(sums, np.float64)
    n = np.broadcast_to(np.asarray(counts, np.float64), s.shape)
    if s.ndim != 1 or n.min(initial=0) < 0:
        raise ValueError(f"sums must be (N,) and counts not negative, got shape {s.shape}, least count {n.min()}")
    total = n.sum()
    if not total:
        return Estimate(np.nan, np.nan)
    value = s.sum() / total
    pictures = len(s)
    if pictures < 2:
        return Estimate(float(value), np.nan)
    error = np.sqrt(pictures / (pictures - 1) * np.square(s - value * n).sum()) / total
    return Estimate(float(value), float(error))


def group_of(pictures: int, groups: int = GROUPS) -> NDArray[np.intp]:
    """(N,) the group of each picture: neighbours go to different ones."""
    if pictures < 2:
        raise ValueError(f"a jackknife needs at least 2 pictures, got {pictures}")
    return np.arange(pictures) % min(groups, pictures)


def left_out(statistic: Callable[[NDArray[np.intp]], Any], pictures: int, groups: int = GROUPS) -> NDArray[np.float64]:
    """(G, ...) the statistic of the pictures at the given places, each group left out in turn."""
    group = group_of(pictures, groups)
    return np.array([statistic(np.flatnonzero(group != g)) for g in range(group.max() + 1)], np.float64)


def jackknife(value: float, without: Any) -> Estimate:
    """From the statistic of all pictures and those of `left_out`, (G,)."""
    t = np.asarray(without, np.float64)
    if t.ndim != 1 or len(t) < 2:
        raise ValueError(f"without must be (G,), G >= 2, got shape {t.shape}")
    return Estimate(float(value), float(np.sqrt((len(t) - 1) / len(t) * np.square(t - t.mean()).sum())))
