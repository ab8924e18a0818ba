"""A map of measures over zeta x omega_n, coarse at first and then halved until it is whole.

Places on both axes are equally far apart in log. Each level has every second place of the next one, and the last:
what was measured is kept. Several sets of streams may be measured together; the map keeps each, for the worst and the
median of them.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from knob_core._arrays.checks import whole_number
from knob_core.maps.many_settings import PIECE, ManySettings
from knob_core.maps.measure_words import MEASURES

FIRST_STRIDE = 8  # places between two of the coarsest level


@dataclass(frozen=True)
class Grid:
    """Which settings a map has; the ranges are those of the console's knobs."""

    zeta: tuple[float, float] = (0.05, 3.0)
    omega_n: tuple[float, float] = (0.02, 3.0)  # rad/frame
    size: int = 33  # places on each axis

    def __post_init__(self) -> None:
        for name, (low, high) in (("zeta", self.zeta), ("omega_n", self.omega_n)):
            if not 0 < low < high < np.inf:
                raise ValueError(f"{name} is from {low!r} to {high!r}, expected 0 < low < high")
        whole_number("size", self.size, 2, 512)

    @property
    def zetas(self) -> np.ndarray:
        return np.geomspace(*self.zeta, self.size)

    @property
    def omegas(self) -> np.ndarray:
        return np.geomspace(*self.omega_n, self.size)

    def levels(self) -> list[np.ndarray]:
        """The places of each level, coarsest first; the last level has all."""
        strides = [s for s in (FIRST_STRIDE, FIRST_STRIDE // 2, FIRST_STRIDE // 4) if s < self.size] + [1]
        return [np.unique(np.append(np.arange(0, self.size, stride), self.size - 1)) for stride in strides]


@dataclass(frozen=True)
class SettingsMap:
    """Measures by name at A damping ratios x B natural frequencies, for each of N sets of streams."""

    zeta: np.ndarray  # (A,)
    omega_n: np.ndarray  # (B,) rad/frame
    values: dict[str, np.ndarray]  # (A, B, N)

    @property
    def sets(self) -> int:
        return next(iter(self.values.values())).shape[-1]

    def worst(self, name: str) -> np.ndarray:
        """(A, B) of the set in which the measure is worst; NaN where no set can tell."""
        x = self.values[name]
        return _over_sets(np.nanmin if MEASURES[name].more_is_better else np.nanmax, x)

    def median(self, name: str) -> np.ndarray:
        """(A, B) over the sets."""
        return _over_sets(np.nanmedian, self.values[name])

    def nearest(self, zeta: float, omega_n: float) -> tuple[int, int]:
        """The place of the setting that is nearest, in log."""
        return int(np.abs(np.log(self.zeta / zeta)).argmin()), int(np.abs(np.log(self.omega_n / omega_n)).argmin())


def _over_sets(over: Callable[..., np.ndarray], x: np.ndarray) -> np.ndarray:
    if x.shape[-1] == 1:
        return x[..., 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # all sets NaN: NaN is the answer
        return over(x, axis=-1)


class Step(NamedTuple):
    """How far a map is."""

    share: float  # of all settings, in (0, 1]
    map: SettingsMap | None  # where a level has just become whole


def refine(sets: Sequence[ManySettings], grid: Grid | None = None, threads: int | None = None) -> Iterator[Step]:
    """Measure level by level; whoever stops asking cancels what is left. By default one thread a core."""
    grid = grid or Grid()
    if not sets:
        raise ValueError("sets is empty, expected at least one set of streams")
    zetas, omegas = grid.zetas, grid.omegas
    values = {name: np.full((grid.size, grid.size, len(sets)), np.nan) for name in MEASURES}
    done = np.zeros((grid.size, grid.size), bool)
    with ThreadPoolExecutor(threads or cores(), thread_name_prefix="knob-map") as pool:
        waiting: dict[Future, tuple[np.ndarray, np.ndarray, int]] = {}
        try:
            for places in grid.levels():
                rows, columns = (x.ravel() for x in np.meshgrid(places, places, indexing="ij"))
                fresh = ~done[rows, columns]
                rows, columns = rows[fresh], columns[fresh]
                for start in range(0, len(rows), PIECE):
                    i, j = rows[start : start + PIECE], columns[start : start + PIECE]
                    waiting |= {pool.submit(one.measure, zetas[i], omegas[j]): (i, j, s) for s, one in enumerate(sets)}
                done[rows, columns] = True
                before = done.sum() * len(sets) - sum(len(i) for i, _, _ in waiting.values())
                while waiting:
                    for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                        i, j, s = waiting.pop(future)
                        found = future.result()
                        for name in MEASURES:
                            values[name][i, j, s] = found[name]
                        before += len(i)
                    if waiting:
                        yield Step(before / (done.size * len(sets)), None)
                here = np.ix_(places, places)
                part = {name: x[here].copy() for name, x in values.items()}
                yield Step(before / (done.size * len(sets)), SettingsMap(zetas[places], omegas[places], part))
        finally:
            for future in waiting:
                future.cancel()


def cores() -> int:
    """Cores that this process may use, at most 8."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(8, available)
