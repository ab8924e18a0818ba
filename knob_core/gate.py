"""The second-order gate: a damped spring that follows u_star, safe to turn while it runs.

x = [u, v], v = (du/dt) / omega_n;  h = omega_n dt / 2,  k = 2h / (1 + 2 zeta h + h^2),  e = u_star - u:
    u <- u + k (v + h e),    v <- v + k (e - (2 zeta + h) v),    g = sigmoid(u)
This is Tustin's discretisation of u'' + 2 zeta omega_n u' + omega_n^2 u = omega_n^2 u_star (paper, section 3.2), in
coordinates in which u^2 + v^2 cannot grow whatever the knobs do. As increments it loses no digits to slow knobs.

Shapes: u_star is (..., T) with time on `axis` (the last by default); other axes are streams, or classes (static
memory). A knob (zeta, omega_n, dt) is a scalar, one per stream (..., 1), or one per frame (T,) or (..., T): it
broadcasts against u_star with time last. The state is (..., 2) = [u, v]; None means at rest in zero.

Arithmetic: scalar knobs run through scipy's compiled filter, knobs in an array through one vectorised step per frame.
Which of the two never depends on the number of frames, so a stream cut anywhere and continued from its state equals the
uncut one bit for bit. NumPy computes in float64 and gives float32 back for float32. Tensors take the step per frame in
their own dtype, and gradients reach u_star, zeta and omega_n.
"""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from knob_core._arrays import checks as check
from knob_core._arrays.broadcasting import by_frame, initial_state, lead_shape, require_finite_end
from knob_core._arrays.checks import A, Knob, is_tensor, namespace
from knob_core._arrays.recursion import recur
from knob_core.ema import ema_alpha, run_ema

__all__ = ["SpringState", "coefficients", "ema_alpha", "reset_gain", "run", "run_ema", "sigmoid", "step"]

FILTER_FLOOR = (
    1e-4  # where the filter's poles come nearer to +-1 than this, its direct form would lose digits past 1e-12
)


class SpringState(np.ndarray):
    """[u, v] on the last axis, and the compiled filter's own delays beside it.

    The delays are a linear map of [u, v], but rounding makes that map irreversible: only with them does a cut stream go
    on bit for bit. They are used where they fit [u, v] and the knobs, so a state may be edited, saved or turned freely.
    """

    zi: np.ndarray | None  # (..., 2)

    def __array_finalize__(self, obj: Any) -> None:
        self.zi = getattr(obj, "zi", None) if getattr(obj, "shape", None) == self.shape else None


def _gain(zeta: Any, omega_n: Any, dt: Any) -> tuple[Any, Any]:
    """(k, h): k = 2h / (1 + 2 zeta h + h^2), divided through by h so that no knob overflows it."""
    h = omega_n * dt / 2
    return 2 / (1 / h + 2 * zeta + h), h


def sigmoid(u: A) -> A:
    """1 / (1 + exp(-u)), without overflow and with full relative precision at both ends."""
    if is_tensor(u):
        return namespace(u).sigmoid(u)
    e = np.exp(-np.abs(u))
    return np.where(np.greater_equal(u, 0), 1, e) / (1 + e)


@overload
def coefficients(
    zeta: float | np.ndarray, omega_n: float | np.ndarray, dt: float | np.ndarray = 1.0
) -> tuple[np.ndarray, np.ndarray]: ...
@overload
def coefficients(zeta: Knob, omega_n: Knob, dt: Knob = 1.0) -> tuple[Any, Any]: ...
def coefficients(zeta: Knob, omega_n: Knob, dt: Knob = 1.0) -> tuple[Any, Any]:
    """(A, B) of x_t = A x_{t-1} + B u_star_t, shapes (..., 2, 2) and (..., 2) over the knobs' broadcast shape."""
    zeta, omega_n, dt = check.together(*check.knobs(zeta, omega_n, dt))
    xp = namespace(zeta, omega_n, dt)
    k, h = _gain(zeta, omega_n, dt)
    one = xp.ones_like(k)
    a = xp.stack([1 - k * h, k * one, -k * one, 1 - k * (2 * zeta + h)], -1)
    return a.reshape((*a.shape[:-1], 2, 2)), xp.stack([k * h, k * one], -1)


def reset_gain(zeta: Knob, omega_n: Knob, dt: Knob = 1.0) -> Any:
    """u / u_star after one frame from rest, 2 h^2 / D: all that Reset Mode does."""
    return one_step_gain(*check.together(*check.knobs(zeta, omega_n, dt)))


def one_step_gain(zeta: Any, omega_n: Any, dt: Any = 1.0) -> Any:
    """`reset_gain` for knobs that are known to be good: nothing is checked."""
    k, h = _gain(zeta, omega_n, dt)
    return k * h


def step(u_star: A, zeta: Knob, omega_n: Knob, dt: Knob = 1.0, state: Any = None) -> tuple[A, A]:
    """One frame of many streams: u_star (...), knobs that broadcast against it, state (..., 2) -> (u, state)."""
    x = check.real_array("u_star", u_star)
    zeta, omega_n, dt = (k if k.ndim == 0 else k[..., None] for k in check.knobs(zeta, omega_n, dt))
    u, state = _recur(x[..., None], zeta, omega_n, dt, state)
    return u[..., 0], state


def run(u_star: A, zeta: Knob, omega_n: Knob, dt: Knob = 1.0, state: Any = None, axis: int = -1) -> tuple[A, A]:
    """u over all frames, shaped like u_star broadcast against the knobs, and the state after the last frame."""
    x = check.real_array("u_star", u_star, min_ndim=1, finite=False)
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"axis must lie in [{-x.ndim}, {x.ndim - 1}] for shape {tuple(x.shape)}, got {axis}")
    knobs = check.knobs(zeta, omega_n, dt)
    axis = axis if axis < 0 else axis - x.ndim  # counted from the end, knobs may add leading axes
    x = namespace(x).moveaxis(x, axis, -1)
    if is_tensor(x) or not all(isinstance(knob, np.float64) for knob in knobs):
        u, state = _recur(x, *knobs, state)
    else:
        k, h = _gain(*knobs)
        well_conditioned = min(k * h, k / h) >= FILTER_FLOOR  # half the filter's denominator at z = 1 and at z = -1
        u, state = (_filter if well_conditioned else _recur)(x, *knobs, state)
    return namespace(u).moveaxis(u, -1, axis), state


def _recur(x: A, zeta: Any, omega_n: Any, dt: Any, state: Any) -> tuple[A, A]:
    """The step, once per frame, over all streams at a time."""
    x, zeta, omega_n, dt = check.together(x, zeta, omega_n, dt)
    lead: tuple[int, ...] = lead_shape("u_star", x, zeta=zeta, omega_n=omega_n, dt=dt)
    state = initial_state(state, (*lead, 2), x, 0.0)
    k, h = _gain(zeta, omega_n, dt)
    c = 2 * zeta + h
    if not is_tensor(x):
        with np.errstate(all="ignore"):  # what is not finite is named below
            u, end = recur(x, k, h, c, state)
        require_finite_end("u_star", end, x)
        return u.astype(x.dtype, copy=False), end
    check.require_finite("u_star", x)
    u, v = state.unbind(-1)
    us = []
    for x_t, k_t, h_t, c_t in zip(*(by_frame(a, x.shape[-1]) for a in (x, k, h, c)), strict=True):
        e = x_t - u
        u, v = u + k_t * (v + h_t * e), v + k_t * (e - c_t * v)
        us.append(u)
    xp = namespace(x)
    return xp.stack(us, -1), xp.stack([u, v], -1)


def _filter(x: np.ndarray, zeta: float, omega_n: float, dt: float, state: Any) -> tuple[np.ndarray, SpringState]:
    """u = k h (1 + z^-1) / (1 + (2k (zeta + h) - 2) z^-1 + (1 - 2 k zeta) z^-2) u_star, in transposed direct form."""
    from scipy.signal import lfilter  # a second of import, so only where a stream is run

    k, h = _gain(zeta, omega_n, dt)
    a = np.array([1.0, 2 * k * (zeta + h) - 2, 1 - 2 * k * zeta])
    b = np.full(2, a.sum() / 2)  # = k h, taken from the rounded poles: the DC gain is exactly 1
    start = initial_state(state, (*x.shape[:-1], 2), x, 0.0)
    u, v = start[..., 0], start[..., 1]
    zi = np.stack([u + k * (v - h * u), -a[2] * u], -1)  # where u goes without input; what it remembers of u
    kept = getattr(state, "zi", None)
    if kept is not None and kept.shape == zi.shape:
        slack = 32 * np.finfo(np.float64).eps * np.abs(start).sum(-1, keepdims=True)
        zi = np.where(np.abs(kept - zi) <= slack, kept, zi)
    u, zi = lfilter(b, a, x, zi=zi)
    with np.errstate(all="ignore"):  # what is not finite is named below
        end = np.stack([u[..., -1], (zi[..., 0] - u[..., -1]) / k + h * u[..., -1]], -1).view(SpringState)
    require_finite_end("u_star", end, x)
    end.zi = zi
    return u.astype(x.dtype, copy=False), end
