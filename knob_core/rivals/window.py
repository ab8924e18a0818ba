"""The last frames of a stream: what the sliding filters keep.

A window of w frames ends at each frame; the first w - 1 windows are shorter, as nothing came before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class WindowState(NamedTuple):
    last: NDArray  # (R, n, K), n < w: the frames before the next one


def slide(
    x: NDArray, window: int, reduce: Callable[[NDArray], NDArray], state: WindowState | None
) -> tuple[NDArray, WindowState]:
    """reduce (..., n) -> (...) over every window of x (R, T, K), and the frames to keep."""
    kept = 0 if state is None else state.last.shape[1]
    known = x if state is None else np.concatenate([state.last, x], 1)
    short = [reduce(np.moveaxis(known[:, : end + 1], 1, -1)) for end in range(kept, min(known.shape[1], window - 1))]
    parts = [np.stack(short, 1)] if short else []
    if known.shape[1] >= window:
        full = np.lib.stride_tricks.sliding_window_view(known, window, axis=1)  # (R, T', K, w)
        parts.append(reduce(full))
    return np.concatenate(parts, 1), WindowState(known[:, max(0, known.shape[1] - window + 1) :].copy())
