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
from knob_core.ema import NEUTRAL
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
    """Run the stream from `state` (None: at rest) with the knobs held still.

    Given a state (a fresh one is State()), gate and memory go on behind their switches, as in `knob_core.runtime`;
    for a whole stream at once that would be work for nothing.
    """
    if method not in DYNAMICS:
        raise ValueError(f"method is {method!r}, expected one of {', '.join(DYNAMICS)}")
    u, g, gate_state = _gate(branches.u_star, settings, method, state)
    z_static, memory = branches.z_static, None
    remembers = settings.on and settings.memory and settings.mode == "continuous"
    if remembers or state is not None:
        remembered, memory = _remember(z_static, settings, state.memory if state else None)
        z_static = remembered if remembers else z_static
    z_fuse = fusion.fuse(z_static, branches.z_dyn, g)  # (R, T, K)
    probabilities = metrics.softmax(z_fuse)
    response = Response(u, g, probabilities, probabilities.max(axis=-1), probabilities.argmax(axis=-1))
    return response, State(gate_state, memory)


def _gate(
    u_star: np.ndarray, settings: Settings, method: str, state: State | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """(u, g, the running gate's state)."""
    kind, knobs = DYNAMICS[method], (settings.zeta, settings.omega_n)
    if kind == "none":
        return u_star, np.zeros_like(u_star) if method == "static" else gate.sigmoid(u_star), None
    acts = settings.on and settings.mode == "continuous"
    before, after = state.gate if state else None, None
    if kind == "first order":
        g_star = gate.sigmoid(u_star)
        if acts or state is not None:
            g, after = gate.run_ema(g_star, settings.omega_n, state=before)
        if not settings.on:
            return u_star, g_star, after
        if not acts:
            g = NEUTRAL + gate.ema_alpha(settings.omega_n) * (g_star - NEUTRAL)  # one step from rest
        return logit(g), g, after
    if acts or state is not None:
        u, after = gate.run(u_star, *knobs, state=before)
    if not acts:
        u = u_star * gate.reset_gain(*knobs) if settings.on else u_star
    return u, gate.sigmoid(u), after


def _remember(z: np.ndarray, settings: Settings, memory: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    if memory is None:
        first = z[:, 0, :]  # (R, K)
        memory = np.stack([first, np.zeros_like(first)], axis=-1)  # (R, K, 2): there already, and still
    z, memory = gate.run(np.swapaxes(z, 1, 2), settings.zeta, settings.omega_n, state=memory)  # time last
    return np.swapaxes(z, 1, 2), memory


def logit(g: np.ndarray) -> np.ndarray:
    """The latent of a gate g, which is kept off its ends."""
    g = np.clip(g, 1e-7, 1 - 1e-7)
    return np.log(g / (1 - g))
