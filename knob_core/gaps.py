"""The gate across a gap: frames that did not come count as the last good one, held.

With a held command c the gate's deviation from rest, x - [c, 0], is multiplied by A each frame, so n frames are A^n.
A gap of n frames is n - 1 held ones and then the new one, in m = round(n) equal steps of dt = n / m frames: the
bilinear map with one long step would throw u past its command instead of letting it settle.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from knob_core import gate
from knob_core._arrays.checks import A, Knob, PerStream, namespace

MOST_HELD = 100_000  # frames that a memory goes on holding the last one: it has settled by then
MAX_ELAPSED = 1e9  # frames; a year at 30 frames/s


def split(elapsed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(m, dt): whole number of steps and the length of each, in frames."""
    m = np.maximum(np.rint(elapsed), 1.0)
    return m.astype(np.int64), elapsed / m


def step(command: A, zeta: Knob, omega_n: Knob, dt: Knob, state: A) -> tuple[A, A]:
    """`gate.step` without its checks, for arrays checked already and for graphs that must not fix a shape."""
    return _step(command, state, *gate.coefficients(zeta, omega_n, dt))  # (2, 2) and (2,), or one per stream


def _step(command: A, state: A, a: A, b: A) -> tuple[A, A]:
    u, v = state[..., 0], state[..., 1]
    e = command - u
    u, v = u + b[..., 0] * e + a[..., 0, 1] * v, b[..., 1] * e + a[..., 1, 1] * v
    return u, namespace(u).stack([u, v], -1)


@lru_cache(maxsize=8)
def _per_frame(zeta: float, omega_n: float) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients of one whole frame: knobs rest far more often than they move."""
    return gate.coefficients(zeta, omega_n, 1.0)


def by_stream(x: PerStream, ndim: int) -> Any:
    """A number as it is; one per stream (N,) with axes behind it, to go with data of `ndim` axes."""
    return x.reshape(x.shape + (1,) * (ndim - 1)) if isinstance(x, np.ndarray) and x.ndim else x


def advance(
    command: np.ndarray,  # (N,) or (N, K): what this frame asks for
    held: np.ndarray,  # alike: what the frame before asked for
    zeta: PerStream,  # one for all, or (N,)
    omega_n: PerStream,  # alike
    elapsed: np.ndarray,  # (N,) frames since that one
    state: np.ndarray,  # (N, 2) or (N, K, 2)
) -> tuple[np.ndarray, np.ndarray]:
    """(u, state) of the second-order gate after this frame."""
    if (elapsed == 1.0).all() and not np.ndim(zeta) and not np.ndim(omega_n):
        return _step(command, state, *_per_frame(float(zeta), float(omega_n)))
    zeta, omega_n = (by_stream(x, command.ndim) for x in (zeta, omega_n))
    if (elapsed == 1.0).all():
        return _step(command, state, *gate.coefficients(zeta, omega_n))
    m, dt = (by_stream(x, command.ndim) for x in split(elapsed))
    if (m > 1).any():
        state = np.where(m[..., None] > 1, coast(held, zeta, omega_n, dt, m - 1, state), state)
    return step(command, zeta, omega_n, dt, state)


def coast(
    held: np.ndarray,  # (N,) or (N, K): what all these frames ask for
    zeta: PerStream,
    omega_n: PerStream,
    dt: np.ndarray,  # broadcasts against held: frames
    count: np.ndarray,  # alike: whole number of steps
    state: np.ndarray,  # (N, 2) or (N, K, 2)
) -> np.ndarray:
    """The state after `count` steps towards the same command."""
    a, _ = gate.coefficients(zeta, omega_n, dt)  # (N, 2, 2) or (N, 1, 2, 2)
    rest = np.stack([held, np.zeros_like(held)], axis=-1)
    return rest + np.einsum("...ij,...j->...i", power(a, count), state - rest)


def advance_ema(
    command: np.ndarray, held: np.ndarray, omega_n: PerStream, elapsed: np.ndarray, state: np.ndarray
) -> np.ndarray:
    """g of the first-order gate after this frame; all (N,), omega_n may be one for all."""
    m, dt = split(elapsed)
    coasted = held + np.exp(-omega_n * dt * (m - 1)) * (state - held)
    g, _ = gate.run_ema(command[:, None], by_stream(omega_n, 2), dt[:, None], np.where(m > 1, coasted, state))
    return g[:, 0]


def power(a: np.ndarray, n: np.ndarray) -> np.ndarray:
    """a (..., P, P) to the whole powers n (...), by squaring."""
    result = np.broadcast_to(np.eye(a.shape[-1]), a.shape)
    n = n[..., None, None]
    while n.any():
        result = np.where(n & 1, result @ a, result)
        a, n = a @ a, n >> 1
    return result
