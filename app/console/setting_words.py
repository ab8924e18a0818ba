"""A setting in words: what it does to the gate, and the setting itself in a few characters."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from knob_core import gate, theory
from knob_core.response import DYNAMICS
from knob_core.settings import Settings
from knob_core.theory import StepInfo

THEORY_FRAMES = 2000  # the slowest knobs have settled by then


@lru_cache(maxsize=16)
def theoretical_step(settings: Settings, method: str) -> tuple[np.ndarray, StepInfo]:
    """(step response (THEORY_FRAMES,) as part of the way, its rise, settling and overshoot).

    NaN where theory says nothing: without a gate, and in Reset Mode of a gate that is not linear in u.
    """
    step = _step(settings, method, THEORY_FRAMES)
    step.flags.writeable = False  # shared by all sessions
    return step, theory.step_info(np.nan_to_num(step), final=1.0)


def _step(settings: Settings, method: str, n: int) -> np.ndarray:
    if method == "static":
        return np.full(n, np.nan)
    kind = DYNAMICS[method] if settings.on else "none"
    if kind == "none":
        return np.ones(n)
    if settings.mode == "reset":
        return np.full(n, gate.reset_gain(settings.zeta, settings.omega_n) if kind == "second order" else np.nan)
    if kind == "second order":
        return theory.step_response(settings.zeta, settings.omega_n, n)
    return theory.ema_step_response(settings.omega_n, n)


def damping(zeta: float) -> str:
    """under, critical or over: the same word on every page."""
    return {"underdamped": "under", "undamped": "under", "overdamped": "over"}.get(theory.regime(zeta), "critical")


def regime(settings: Settings, method: str) -> tuple[str, str]:
    """(under | critical | over, or "" where damping means nothing; what the setting does, one sentence)."""
    if not settings.on:
        return "", "Off: every frame is judged alone."
    if settings.mode == "reset":
        return "", "Reset Mode: every frame starts from rest; nothing is carried over."
    if DYNAMICS[method] == "first order":
        return "", "First-order gate: only ωₙ acts on it, and it never overshoots."
    if DYNAMICS[method] == "none":
        what = "This model has no gate" if method == "static" else "This model's gate has no inertia"
        acts = (
            ": the knobs act on the memory only." if settings.memory else ", and memory is off: the knobs do nothing."
        )
        return "", what + acts
    _, info = theoretical_step(settings, method)
    kind = damping(settings.zeta)
    rise = rise_in_words(info)
    words = {
        "under": f"Under-damped: overshoots a change by {info.Overshoot:.0f} %, rises in {rise}.",
        "critical": f"Critically damped: rises in {rise}, with no overshoot.",
        "over": f"Over-damped: creeps to a change in {rise}, never overshoots.",
    }
    return kind, words[kind]


def rise_in_words(info: StepInfo) -> str:
    """`1 frame`, `12 frames`."""
    if not math.isfinite(info.RiseTime):
        return "a very long time"
    return f"{info.RiseTime:.0f} frame{'s' * (round(info.RiseTime) != 1)}"


def describe(s: Settings) -> str:
    """A setting in a few characters."""
    if not s.on:
        return "off (without Knob)"
    extra = "reset" if s.mode == "reset" else "memory" if s.memory else "no memory"
    return f"ζ {s.zeta:g}, ωₙ {s.omega_n:g}, {extra}"
