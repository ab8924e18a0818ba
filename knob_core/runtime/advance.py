"""One frame of many streams: from branch outputs and a state to an answer and the next state.

memory -> command -> gate -> fusion, each as `knob_core.response` does over a whole stream. Nothing is changed in place.
"""

from __future__ import annotations

import numpy as np

from knob_core import gate
from knob_core.ema import NEUTRAL
from knob_core.response import DYNAMICS, logit
from knob_core.runtime import gaps
from knob_core.runtime.answer import Answer, answer
from knob_core.runtime.sources import Branch, Source
from knob_core.runtime.state import State
from knob_core.settings import Settings


def advance(
    old: State,
    branch: Branch,
    elapsed: np.ndarray,  # (N,) frames
    clock: np.ndarray,  # (N,) s
    knobs: tuple[float, float],  # zeta, omega_n that act on this frame
    settings: Settings,  # for its switches
    source: Source,
) -> tuple[Answer, State]:
    """Rows that are not finite hold their last good frame; memory and gate go on behind their switches."""
    good = np.isfinite(branch.z_static).all(axis=1) & np.isfinite(branch.z_dyn).all(axis=1)  # (N,)
    if branch.u_star is not None:
        good &= np.isfinite(branch.u_star)
    first, seen, whole = good & ~old.seen, good | old.seen, bool(good.all())
    z_static = branch.z_static if whole else np.where(good[:, None], branch.z_static, old.z_static)  # (N, K)
    z_dyn = branch.z_dyn if whole else np.where(good[:, None], branch.z_dyn, old.z_dyn)  # (N, K)
    begins = bool(first.any())

    def remember(past: np.ndarray, zeta: float, omega_n: float) -> tuple[np.ndarray, np.ndarray]:
        """z_static with inertia, from a stream's first frame on."""
        if begins:
            start = np.stack([z_static, np.zeros_like(z_static)], axis=-1)  # (N, K, 2): there already, and still
            past = np.where(first[:, None, None], start, past)
        return gaps.advance(z_static, old.z_static, zeta, omega_n, elapsed, past)

    u_star, observer = branch.u_star, old.observer
    if source.command is not None:
        z_seen, observer = remember(observer, source.command.zeta, source.command.omega_n)
        u_star = source.command(z_seen, z_dyn)
    assert u_star is not None, "a source without a command gives u_star"
    u_star = u_star if whole else np.where(good, u_star, old.u_star)  # (N,)
    z_memory, memory = remember(old.memory, *knobs)
    u, g, x = _gate(u_star, old, elapsed, knobs, settings, source.method)
    age = np.zeros(len(good)) if whole else np.where(good, 0.0, np.where(old.seen, old.age + elapsed, 0.0))
    held = (z_static.copy(), z_dyn.copy(), u_star.copy())  # what a caller does to its arrays must not reach the state
    new = State(x, memory, observer, *held, seen, age.copy(), clock)
    remembers = settings.on and settings.memory and settings.mode == "continuous"
    zeta, omega_n = knobs
    said = {"u": u, "u_star": u_star, "missing": ~good, "age": age, "zeta": zeta, "omega_n": omega_n}
    return answer(z_memory if remembers else z_static, z_dyn, g, seen, **said), new


def _gate(
    u_star: np.ndarray,
    old: State,
    elapsed: np.ndarray,
    knobs: tuple[float, float],
    settings: Settings,
    method: str,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(u, g, x): x is the running gate's state, whatever its switch says."""
    zeta, omega_n = knobs
    kind, reset = DYNAMICS[method], settings.mode == "reset"
    if kind == "none":
        return u_star, np.zeros_like(u_star) if method == "static" else gate.sigmoid(u_star), old.gate
    if kind == "first order":
        g_star = gate.sigmoid(u_star)
        g = gaps.advance_ema(g_star, gate.sigmoid(old.u_star), omega_n, elapsed, old.gate[:, 0])
        x = np.stack([g, np.zeros_like(g)], axis=-1)
        if not settings.on:
            return u_star, g_star, x
        if reset:
            g = NEUTRAL + gate.ema_alpha(omega_n) * (g_star - NEUTRAL)
        return logit(g), g, x
    u, x = gaps.advance(u_star, old.u_star, zeta, omega_n, elapsed, old.gate)
    if not settings.on:
        u = u_star
    elif reset:
        u = gate.reset_gain(zeta, omega_n) * u_star
    return u, gate.sigmoid(u), x
