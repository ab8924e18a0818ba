"""How streams and knobs line up: time is one axis of the data, and a knob broadcasts against it.

A knob is a scalar, one per stream (trailing axis of 1), or one per frame (trailing axis of T): NumPy's broadcasting
rule against data with time last, with the one exception that a knob never adds frames.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from knob_core._arrays.checks import A, Array, is_tensor, namespace, real_array, require_finite


def lead_shape(name: str, x: Array, **knobs: Array) -> tuple[int, ...]:
    """Shape of the streams (all axes but time) after broadcasting x (..., T) against the knobs."""
    frames = x.shape[-1]
    for knob_name, knob in knobs.items():
        if knob.ndim and knob.shape[-1] not in (1, frames):
            raise ValueError(
                f"{knob_name} must end in an axis of 1 (one per stream) or {frames} (one per frame), "
                f"got shape {tuple(knob.shape)}"
            )
    shapes = [tuple(x.shape), *(tuple(knob.shape) for knob in knobs.values())]
    try:
        return np.broadcast_shapes(*shapes)[:-1]
    except ValueError:
        named = ", ".join(f"{k} {tuple(v.shape)}" for k, v in knobs.items())
        raise ValueError(f"{name} {tuple(x.shape)} and {named} must broadcast together") from None


def initial_state(state: Any, shape: tuple[int, ...], like: A, neutral: float) -> A:
    """The given state broadcast to shape, or the neutral one where it is None; float64, or a tensor like the data."""
    if state is None:
        return like.new_full(shape, neutral) if is_tensor(like) else np.full(shape, neutral)
    state = real_array("state", state)
    try:
        if is_tensor(like):
            return namespace(like).as_tensor(state, dtype=like.dtype, device=like.device).broadcast_to(shape)
        state = state.detach().cpu() if is_tensor(state) else state
        return np.broadcast_to(np.asarray(state, np.float64), shape)
    except (ValueError, RuntimeError):
        raise ValueError(f"state must broadcast to shape {shape}, got {tuple(state.shape)}") from None


def by_frame(x: A, frames: int) -> list[A]:
    """One array per frame; where x does not change with time, the same one each frame."""
    if x.ndim == 0:
        return [x] * frames
    if x.shape[-1] == 1:
        return [x[..., 0]] * frames
    if is_tensor(x):
        return list(x.unbind(-1))
    return list(np.ascontiguousarray(np.moveaxis(x, -1, 0)))  # rows that lie together in memory


def require_finite_end(name: str, end: np.ndarray, x: np.ndarray) -> None:
    """A NaN or infinity anywhere in a stream stays in its state, so the last state alone tells."""
    if not np.isfinite(end).all():
        require_finite(name, x)
        raise ValueError(f"{name} must stay below 1e300 in size, got {np.abs(x).max()}")
