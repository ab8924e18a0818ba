"""The last frames of a stream: what the sliding filters keep.

A window of w frames ends at each frame; the first w - 1 windows are shorter, as nothing came before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from knob_core.rivals.base import Floats


class WindowState(NamedTuple):
    last: Floats  # (R, n, K), n < w: the frames before the next one


def _with_last(x: Floats, window: int, state: WindowState | None) -> tuple[Floats, int, WindowState]:
    """(known (R, n + T, K), n, the frames to keep): x after the n frames before it."""
    known = x if state is None else np.concatenate([state.last, x], 1)
    kept = known[:, max(0, known.shape[1] - window + 1) :].copy()
    return known, known.shape[1] - x.shape[1], WindowState(kept)


def medians(x: Floats, window: int, state: WindowState | None) -> tuple[Floats, WindowState]:
    """Median of every window of x (R, T, K), class by class, and the frames to keep."""
    known, before, state = _with_last(x, window, state)
    short = range(before + 1, min(known.shape[1] + 1, window))  # lengths of windows that are not full yet
    parts = [np.median(known[:, :length], axis=1, keepdims=True) for length in short]
    if known.shape[1] >= window:
        full = np.lib.stride_tricks.sliding_window_view(known, window, axis=1)  # (R, T', K, w)
        parts.append(np.median(full, axis=-1))
    return np.concatenate(parts, 1), state


def counts(votes: Floats, window: int, state: WindowState | None) -> tuple[Floats, WindowState]:
    """Sum of every window of votes (R, T, K), which are 0 or 1: differences of whole numbers are exact."""
    known, before, state = _with_last(votes, window, state)
    so_far = np.concatenate([np.zeros_like(known[:, :1]), np.cumsum(known, 1)], 1)
    end = np.arange(before, known.shape[1]) + 1
    return so_far[:, end] - so_far[:, np.maximum(end - window, 0)], state
