"""The gate's step, frame by frame, over many streams at a time and in place.

e = u_star - u,    u <- u + k (v + h e),    v <- v + k (e - c v),    c = 2 zeta + h
(`knob_core.gate`, where the same arithmetic stands for tensors). Streams come in pieces that stay in a core's cache.
"""

from __future__ import annotations

import math

import numpy as np

CACHED = 8192  # streams at a time


def _frames_first(x: np.ndarray) -> np.ndarray:
    """(T, ...), or (1, ...) where x does not change with time; rows lie together in memory."""
    return np.ascontiguousarray(np.moveaxis(x, -1, 0)) if x.ndim else np.asarray(x)[None]


def recur(
    x: np.ndarray, k: np.ndarray, h: np.ndarray, c: np.ndarray, state: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """u (..., T), time first in memory, and the last [u, v] (..., 2), from u_star x (..., T) and a first [u, v]."""
    frames, lead = x.shape[-1], state.shape[:-1] or (1,)
    us = np.empty((frames, *lead))
    end = np.array(state.reshape(*lead, 2), np.float64)
    moving = [_frames_first(a) for a in (x, k, h, c)]
    size = max(1, CACHED // math.prod(lead[1:]))
    for start in range(0, lead[0], size):
        piece = slice(start, start + size)
        shared = [a[:, piece] if a.ndim == len(lead) + 1 and a.shape[1] > 1 else a for a in moving]
        _recur_piece(us[:, piece], end[piece], shared)
    shape = state.shape[:-1]
    return np.moveaxis(us.reshape(frames, *shape), 0, -1), end.reshape(state.shape)


def _recur_piece(us: np.ndarray, end: np.ndarray, moving: list[np.ndarray]) -> None:
    """Fill us (T, ...) and bring end (..., 2) from the first state to the last."""
    shape = us.shape[1:]
    u, v = end[..., 0].copy(), end[..., 1].copy()
    e, d = np.empty(shape), np.empty(shape)
    x, *knobs = moving
    knobs = [a if a.size == 1 or len(a) > 1 else np.broadcast_to(a, (1, *shape)).copy() for a in knobs]
    for t, u_next in enumerate(us):
        k, h, c = (a[t % len(a)] for a in knobs)  # one row stands for all frames
        np.subtract(x[t], u, out=e)
        np.multiply(h, e, out=d)
        d += v
        d *= k
        np.add(u, d, out=u_next)
        np.multiply(c, v, out=d)
        e -= d
        e *= k
        v += e
        u = u_next
    end[..., 0], end[..., 1] = u, v
