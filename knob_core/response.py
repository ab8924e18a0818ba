"""What a stream becomes under a setting: gate, fusion and confidence of every frame.

u = gate(u*), g = sigmoid(u), z_fuse = g z_dyn + (1-g) z_static, p_max = max softmax(z_fuse).
With static memory z_static is passed through the same recursion first, starting from what the first frame shows.
The state goes in and comes out, so frames may come all at once or one by one, with other knobs every time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from knob_core import fusion, gate, metrics
from knob_core.branches import Branches
from knob_core.settings import Settings

DYNAMICS = {
    "knob-ode": "second order",
    "ode-lite": "first order",
    "knob-ia": "none",
    "attention": "none",
    "static": "none",
}


@dataclass(frozen=True)
class State:
    """Where the gate (and the memory) of every path stands after a frame."""

    gate: np.ndarray | None = None  # (R, 2) as [u, v], or (R,) as g for the first-order gate
    memory: np.ndarray | None = None  # (R, K, 2)


@dataclass(frozen=True)
class Response:
    """Every frame of every path under one setting."""

    u: np.ndarray  # (R, T)
    g: np.ndarray  # (R, T) in (0, 1)
    probabilities: np.ndarray  # (R, T, K)
    p_max: np.ndarray  # (R, T)
    predicted: np.ndarray  # (R, T) class


def respond(
    branches: Branches, settings: Settings, method: str = "knob-ode", state: State | None = None
) -> tuple[Response, State]:
    """Run the stream from `state` (None: at rest) with the knobs held still."""
    if method not in DYNAMICS:
        raise ValueError(f"method is {method!r}, expected one of {', '.join(DYNAMICS)}")
    state = state or State()
    u, g, gate_state = _gate(branches.u_star, settings, method, state)
    z_static, memory = branches.z_static, None
    if settings.on and settings.memory and settings.mode == "continuous":
        z_static, memory = _remember(z_static, settings, state.memory)
    z_fuse = fusion.fuse(z_static, branches.z_dyn, g)  # (R, T, K)
    probabilities = metrics.softmax(z_fuse)
    response = Response(u, g, probabilities, probabilities.max(axis=-1), probabilities.argmax(axis=-1))
    return response, State(gate_state, memory)


def _gate(
    u_star: np.ndarray, settings: Settings, method: str, state: State
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """(u, g, state): without dynamics the state still follows, so that they may be switched on where it stands."""
    kind, knobs = DYNAMICS[method], (settings.zeta, settings.omega_n)
    if kind == "first order":
        g_star = gate.sigmoid(u_star)
        if not settings.on:
            return u_star, g_star, g_star[:, -1]
        if settings.mode == "reset":
            g = gate.run_ema(g_star[..., None], settings.omega_n)[0][..., 0]  # every frame its own stream of one
            return _logit(g), g, g[:, -1]
        g, after = gate.run_ema(g_star, settings.omega_n, state=state.gate)
        return _logit(g), g, after
    if kind == "none":
        return u_star, np.zeros_like(u_star) if method == "static" else gate.sigmoid(u_star), None
    if settings.on and settings.mode == "continuous":
        u, after = gate.run(u_star, *knobs, state=state.gate)
        return u, gate.sigmoid(u), after
    u = u_star * gate.reset_gain(*knobs) if settings.on else u_star
    return u, gate.sigmoid(u), np.stack([u[:, -1], np.zeros(len(u))], axis=-1)


def _remember(z: np.ndarray, settings: Settings, memory: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    if memory is None:
        first = z[:, 0, :]  # (R, K)
        memory = np.stack([first, np.zeros_like(first)], axis=-1)  # (R, K, 2): there already, and still
    z, memory = gate.run(np.swapaxes(z, 1, 2), settings.zeta, settings.omega_n, state=memory)  # time last
    return np.swapaxes(z, 1, 2), memory


def _logit(g: np.ndarray) -> np.ndarray:
    g = np.clip(g, 1e-7, 1 - 1e-7)
    return np.log(g / (1 - g))
