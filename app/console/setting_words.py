"""A setting in words and as a theoretical step: what it does to the gate, and the setting in a few characters."""

from __future__ import annotations

import math

import numpy as np

from knob_core import gates, methods, theory
from knob_core.gates import Gate
from knob_core.settings import Settings
from knob_core.theory import StepInfo

DAMPING = {"under": "under-damped", "critical": "critically damped", "over": "over-damped"}


def acting_gate(settings: Settings, method: str) -> Gate:
    """The gate that acts from frame to frame: the method's own, or one without inertia where it is off or reset."""
    gate = methods.get(method).gate
    return gate if settings.on and settings.mode == "continuous" else gate.without_inertia


def theoretical_step(settings: Settings, method: str, n: int) -> tuple[np.ndarray, StepInfo]:
    """(step response (n,) as part of the way, its rise, settling and overshoot); NaN where theory says nothing."""
    gate, knobs = methods.get(method).gate, (settings.zeta, settings.omega_n)
    if settings.on and settings.mode == "reset":
        whole = gate.reset_response(*knobs, gates.THEORY_FRAMES)
        return whole[:n], theory.step_info(np.nan_to_num(whole), final=1.0)
    gate = gate if settings.on else gate.without_inertia
    return gate.step_response(*knobs, n), gate.step_info(*knobs)  # step_info is kept for the present knobs


def damping(zeta: float, omega_n: float) -> str:
    """under, critical or over: the same zone on every page."""
    return gates.SECOND_ORDER.regime(zeta, omega_n).zone


def regime(settings: Settings, method: str) -> tuple[str, str]:
    """(under | critical | over, or "" where damping means nothing; what the setting does, one sentence)."""
    gate = methods.get(method).gate
    if not settings.on:
        return "", "Off: every frame is judged alone."
    if settings.mode == "reset":
        return "", "Reset Mode: every frame starts from rest; nothing is carried over."
    zone, words = gate.regime(settings.zeta, settings.omega_n)
    remembers = settings.memory != "off"
    if not gate.inertia:
        words += ": the knobs act on the memory only." if remembers else ", and memory is off: the knobs do nothing."
    if settings.memory == "attentive":
        words += " So at the knob's own ωₙ; frames that contradict, or are certain, turn it up."
    return zone, words


def rise_in_words(info: StepInfo) -> str:
    """`1 frame`, `12 frames`."""
    if not math.isfinite(info.RiseTime):
        return "a very long time"
    return f"{info.RiseTime:.0f} frame{'s' * (round(info.RiseTime) != 1)}"


def describe(s: Settings) -> str:
    """A setting in a few characters."""
    return f"ζ {s.zeta:g}, ωₙ {s.omega_n:g}, {describe_rest(s)}" if s.on else describe_rest(s)


def describe_rest(s: Settings) -> str:
    """All of a setting but the knobs."""
    modest = "" if s.temperature == 1 else f", temperature {s.temperature:g}"
    if not s.on:
        return f"off (without Knob){modest}"
    kind = "reset" if s.mode == "reset" else "no memory" if s.memory == "off" else f"{s.memory} memory"
    weights = ", fitted weights" if s.weights is not None and kind == "attentive memory" else ""
    return f"{kind}{weights}{modest}"
