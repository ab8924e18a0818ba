"""The first-order gate (ODE-Lite): an exponential moving average of the gate itself.

g_t = g_{t-1} + alpha (g_star_t - g_{t-1}),  alpha = 1 - exp(-omega_n dt),  neutral state g = 0.5
(paper, section 3.1). Shapes, knobs and arithmetic as in `knob_core.gate`; the state is the last g, shape (...).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from knob_core._arrays import checks as check
from knob_core._arrays.broadcasting import by_frame, initial_state, lead_shape, require_finite_end
from knob_core._arrays.checks import A, Knob, is_tensor, namespace

NEUTRAL = 0.5  # trusts both branches alike
FILTER_FLOOR = 1e-4  # below this alpha the filter's 1 - alpha would lose digits past 1e-12


def _alpha(omega_n: Any, dt: Any) -> Any:
    return -namespace(omega_n, dt).expm1(-omega_n * dt)


def ema_alpha(omega_n: Knob, dt: Knob = 1.0) -> Any:
    """The share of the new frame, 1 - exp(-omega_n dt)."""
    return _alpha(
        *check.together(check.knob("omega_n", omega_n, 0.0, above=True), check.knob("dt", dt, 0.0, above=True))
    )


def run_ema(g_star: A, omega_n: Knob, dt: Knob = 1.0, state: Any = None, axis: int = -1) -> tuple[A, A]:
    """g over all frames, shaped like g_star broadcast against the knobs, and the last g."""
    x = check.real_array("g_star", g_star, min_ndim=1, finite=False)
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"axis must lie in [{-x.ndim}, {x.ndim - 1}] for shape {tuple(x.shape)}, got {axis}")
    omega_n, dt = check.knob("omega_n", omega_n, 0.0, above=True), check.knob("dt", dt, 0.0, above=True)
    axis = axis if axis < 0 else axis - x.ndim
    x, omega_n, dt = check.together(namespace(x).moveaxis(x, axis, -1), omega_n, dt)
    alpha = _alpha(omega_n, dt)
    filtered = isinstance(alpha, np.float64) and alpha >= FILTER_FLOOR and not is_tensor(x)
    g, end = (_filter if filtered else _recur)(x, alpha, state)
    return namespace(g).moveaxis(g, -1, axis), end


def _recur(x: A, alpha: Any, state: Any) -> tuple[A, A]:
    lead, frames = lead_shape("g_star", x, omega_n=alpha), x.shape[-1]
    g = initial_state(state, lead, x, NEUTRAL)
    if is_tensor(x):
        check.require_finite("g_star", x)
    gs = []
    with np.errstate(all="ignore"):
        for x_t, alpha_t in zip(by_frame(x, frames), by_frame(alpha, frames), strict=True):
            g = g + alpha_t * (x_t - g)
            gs.append(g)
    out = namespace(x).stack(gs, -1)
    if is_tensor(x):
        return out, g
    require_finite_end("g_star", g, x)
    return out.astype(x.dtype, copy=False), g


def _filter(x: np.ndarray, alpha: np.float64, state: Any) -> tuple[np.ndarray, Any]:
    from scipy.signal import lfilter

    keep = 1 - alpha
    g = initial_state(state, x.shape[:-1], x, NEUTRAL)
    g, _ = lfilter(
        [1 - keep], [1.0, -keep], x, zi=(keep * g)[..., None]
    )  # the delay is keep * g: nothing else to carry
    require_finite_end("g_star", g[..., -1], x)
    return g.astype(x.dtype, copy=False), g[..., -1].copy()
