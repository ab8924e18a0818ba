"""How long it is since a stream's last frame, in frames.

Given as `elapsed` in frames, or as `time` in seconds, or not at all, which is one frame; NaN is what was not given.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from knob_core import gaps
from knob_core.runtime.state import State

ALLOWED = f"more than 0 and at most {gaps.MAX_ELAPSED:g}"  # frames


def since_last(old: State, elapsed: Any, time: Any, frame_rate: Any) -> tuple[np.ndarray, np.ndarray]:
    """(gap, clock) of N streams: frames since the last one, and seconds after this one.

    `elapsed`, `time` and `frame_rate` are one for all or (N,). A stream that has seen nothing has no gap.
    """
    elapsed, time = (np.broadcast_to(np.asarray(x, np.float64), old.seen.shape) for x in (elapsed, time))
    frames = np.where(np.isnan(elapsed), 1.0, elapsed)
    timed, known = ~np.isnan(time), np.isfinite(old.time)
    by_time = np.where(known, (time - np.where(known, old.time, 0.0)) * frame_rate, 1.0)
    return np.where(timed, by_time, frames), np.where(timed, time, old.time + frames / frame_rate)


def in_range(gap: np.ndarray) -> np.ndarray:
    """(N,) bool: a gap that the gate can cross."""
    return (gap > 0) & (gap <= gaps.MAX_ELAPSED)
