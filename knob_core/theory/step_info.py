"""What a step response looks like in numbers, in python-control's vocabulary.

Rise: from 10 % to 90 % of the way from start to final; settled: |y - final| < 2 % of the way, from there on.
Times are those of samples (no interpolation), as in python-control's `step_info`, which this equals for start = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from knob_core._arrays import checks as check


@dataclass(frozen=True)
class StepInfo:
    """Times in the unit of dt, overshoot and undershoot in percent of the step; NaN where it never happens."""

    RiseTime: float
    SettlingTime: float
    SettlingMin: float  # over what follows the rise
    SettlingMax: float
    Overshoot: float
    Undershoot: float
    Peak: float
    PeakTime: float
    SteadyStateValue: float

    def __getitem__(self, name: str) -> float:
        return getattr(self, name)


def step_info(
    y: Any,
    dt: float = 1.0,
    *,
    start: float = 0.0,
    final: float | None = None,
    settling: float = 0.02,
    rise: tuple[float, float] = (0.1, 0.9),
) -> StepInfo:
    """Of y (T,), sampled every dt from time 0. `final` is the value it goes to, by default the last sample."""
    y = check.real_array("y", y, min_ndim=1)
    if y.ndim != 1:
        raise ValueError(f"y must have shape (T,), got {y.shape}")
    dt = check.knob("dt", dt, 0.0, above=True)
    settling = check.knob("settling", settling, 0.0, above=True)
    if not 0 <= rise[0] < rise[1] <= 1:
        raise ValueError(f"rise must be two rising shares in [0, 1], got {rise}")
    final = float(y[-1] if final is None else final)
    size = final - start
    if size == 0 or not np.isfinite(size):
        raise ValueError(f"final must be finite and differ from start = {start:g}, got {final:g}")
    way = (np.asarray(y, np.float64) - start) / size  # 0 at the start, 1 at the end

    above_low, above_high = np.flatnonzero(way >= rise[0]), np.flatnonzero(way >= rise[1])
    risen = above_high[0] if len(above_high) else len(y)
    outside = np.flatnonzero(np.abs(way - 1) >= settling)
    settled = outside[-1] + 1 if len(outside) else 0
    peak = int(np.abs(y).argmax()) if start == 0 else int(way.argmax())
    return StepInfo(
        RiseTime=float((risen - above_low[0]) * dt) if risen < len(y) else np.nan,
        SettlingTime=float(settled * dt) if settled < len(y) else np.nan,
        SettlingMin=float(min(y[risen:].min(), final)) if risen < len(y) else np.nan,
        SettlingMax=float(max(y[risen:].max(), final)) if risen < len(y) else np.nan,
        Overshoot=float(max(0.0, 100 * (way.max() - 1))),
        Undershoot=float(max(0.0, -100 * way.min())),
        Peak=float(abs(y[peak]) if start == 0 else y[peak]),
        PeakTime=float(peak * dt),
        SteadyStateValue=final,
    )
