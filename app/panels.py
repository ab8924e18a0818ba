"""The panel beside the scope: Step, Bode, Poles or Spring, as one message for the board.

Numbers come from knob_core, pictures from app.figures; each panel is a figure, a small table and one sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.figures import bode, poles, step
from app.figures.wire import pack
from knob_core import gate, theory
from knob_core.measures.stability import steps
from knob_core.response import DYNAMICS
from knob_core.settings import Settings
from knob_core.stream_dynamics import command_noise, step_answer, tone_answer

PANELS = {
    "step": ("Step", "How the gate goes to a new level: measured on this stream, and by theory"),
    "bode": ("Bode", "How much of a swing passes, and how late, at every frequency"),
    "poles": ("Poles", "Where the gate's two poles lie: z-plane and s-plane"),
    "spring": ("Spring", "The gate as a mass on a spring with a damper, moving with u(t)"),
}
STEP_FRAMES = 60
THEORY_FRAMES = 2000  # the slowest knobs are there by then
TONE_PATHS = 8  # as many give an error bar, more would only cost time
DAMPINGS = np.geomspace(0.03, 4, 160)
FREQ = np.geomspace(0.002, 0.499, 160)  # cycles/frame


@dataclass(frozen=True)
class Shown:
    """What a panel may draw from: one image's paths under the present setting."""

    settings: Settings
    method: str
    u: np.ndarray  # (r, T)
    u_star: np.ndarray  # (r, T)
    severity: np.ndarray  # (T,)
    head: int | None = None  # live: the frame drawn last
    pin: Settings | None = None


def panel(name: str, shown: Shown, unit: str) -> dict[str, Any]:
    """The open panel's message."""
    content = {"step": _step, "bode": _bode, "poles": _poles, "spring": _spring}[name](shown, unit)
    return {"id": name, "numbers": [], "note": "", "alt": PANELS[name][1], **content}


def order(shown: Shown) -> str:
    """Which dynamics act: "second order", "first order" or "none"."""
    return DYNAMICS[shown.method] if shown.settings.on and shown.settings.mode == "continuous" else "none"


def _theory_step(settings: Settings, method: str, n: int) -> np.ndarray:
    """(n,) part of the way; NaN where theory has no word: without a gate, or where Reset Mode is not linear in u."""
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


def _step(shown: Shown, unit: str) -> dict[str, Any]:
    s = shown.settings
    gated = shown.method != "static"
    resting = shown.u if s.mode == "reset" else None  # one step from rest does not reach the command
    measured = step_answer(shown.u, shown.u_star, shown.severity, resting) if shown.head is None and gated else None
    n = min(STEP_FRAMES, len(measured.median)) if measured else STEP_FRAMES
    ideal = _theory_step(s, shown.method, n)
    pinned = _theory_step(shown.pin, shown.method, n) if shown.pin else None
    by_theory = theory.step_info(np.nan_to_num(_theory_step(s, shown.method, THEORY_FRAMES)), final=1.0)
    rows: list[list[str]] = [["", "theory", "", *(["measured"] if measured else [])]]
    seen = theory.step_info(measured.median, final=1.0) if measured else None
    for label, name in (("rise 10-90 %", "RiseTime"), ("settling 2 %", "SettlingTime"), ("overshoot", "Overshoot")):
        value = getattr(by_theory, name)
        percent = name == "Overshoot"
        row = [label, f"{value:.1f} %" if percent else _frames(value), "" if percent else _seconds(value, s.frame_rate)]
        if measured and seen:
            value = getattr(seen, name)
            noisy = np.abs(measured.median[-len(measured.median) // 3 :] - 1).max() > 0.02
            row.append(
                f"{value:.1f} %" if percent else "in noise" if name == "SettlingTime" and noisy else _frames(value)
            )
        rows.append(row)
    if measured:
        several = f"{measured.count} steps" if measured.count > 1 else "the step"
        note = f"blue: {several} of this stream, median and middle half of the paths; dashed: theory"
        note += ", in grey of A" * (pinned is not None)
    elif not gated:
        note = "this model has no gate: it always answers with its static branch"
    elif shown.head is not None:
        note = "theory; steps are measured when the stream is not playing"
    elif steps(shown.severity):
        note = "the gate hardly moves at this stream's steps, so theory stands alone"
    else:
        note = "there is no sudden step that holds in this stream, so theory stands alone"
    if s.on and s.mode == "reset":
        note += "; in Reset Mode the gate goes its one step at once, and no further"
    return {"figure": step.step(ideal, measured, pinned), "numbers": rows if gated else [], "note": note}


def _bode(shown: Shown, unit: str) -> dict[str, Any]:
    kind, s = order(shown), shown.settings
    run: Callable[[np.ndarray], np.ndarray]
    if kind == "second order":
        h, corner = theory.frequency_response(s.zeta, s.omega_n, FREQ), float(theory.bandwidth(s.zeta, s.omega_n))
        run = lambda x: gate.run(x, s.zeta, s.omega_n)[0]  # noqa: E731
    elif kind == "first order":
        h, corner = theory.ema_frequency_response(s.omega_n, FREQ), float(theory.ema_bandwidth(s.omega_n))
        run = lambda x: gate.run_ema(x, s.omega_n)[0]  # noqa: E731
    else:
        h, run, corner = np.ones(len(FREQ), complex), lambda x: x, np.inf
    spread = np.ptp(np.median(shown.u_star, axis=0))
    measured = tone_answer(run, command_noise(shown.u_star[:TONE_PATHS]), max(0.5, float(spread) / 2))
    scale = bode.factor(unit, s.frame_rate)
    peak = float(20 * np.log10(np.abs(h).max()))
    rows = [
        ["", "theory"],
        ["passes up to (−3 dB)", f"{corner * scale:.3g} {unit}" if corner < 0.5 else "everything"],
        ["resonance peak", f"{peak:.1f} dB" if peak > 0.05 else "none"],
        ["swings of 5 frames", _decibels(np.interp(0.2, FREQ, np.abs(h)))],
    ]
    note = (
        "dots: a test tone in this stream's own noise, mean and standard error over paths; line: theory; dotted: −3 dB"
    )
    return {"figure": bode.bode(FREQ, h, measured, unit, s.frame_rate, corner), "numbers": rows, "note": note}


def _poles(shown: Shown, unit: str) -> dict[str, Any]:
    s, kind = shown.settings, order(shown)
    found = theory.poles(s.zeta, s.omega_n)
    size = float(np.abs(found.z).max())
    rows = [
        ["", "z", "s"],
        *[[f"pole {i + 1}", _complex(found.z[i]), _complex(found.s[i])] for i in range(2)],
        ["largest |z|", f"{size:.3f}", ""],
        ["forgets half in", _frames(np.log(0.5) / np.log(size)) if 0 < size < 1 else "at once", ""],
    ]
    note = (
        "crosses: the two poles; faint: where they go when ζ turns; the nearer to the circle, the longer it remembers"
    )
    if kind != "second order":
        note = "the second-order gate is not acting now; these are its poles at this setting"
    return {"figure": poles.poles(found, theory.poles(DAMPINGS, s.omega_n)), "numbers": rows, "note": note}


def _spring(shown: Shown, unit: str) -> dict[str, Any]:
    u, u_star = np.median(shown.u, axis=0), np.median(shown.u_star, axis=0)
    first = 0
    if shown.head is not None:
        arrived = np.isfinite(u)
        u, u_star = (np.array([series[max(shown.head, 0)]]) if arrived.any() else np.zeros(1) for series in (u, u_star))
        first = max(shown.head, 0)
    reach = float(np.ceil(max(2.0, np.abs(np.median(shown.u_star, axis=0)).max() + 0.7)))
    spring = {
        "u": pack(u), "u_star": pack(u_star), "range": [-reach, reach], "first": first, "live": shown.head is not None,
        "zeta": shown.settings.zeta, "omega_n": shown.settings.omega_n,
    }  # fmt: skip
    note = (
        "the network pulls the mass to u*; spring (ωₙ) and damper (ζ) decide how it gets there; its place is the gate"
    )
    return {"spring": spring, "figure": None, "note": note}


def _frames(value: float) -> str:
    return f"{value:.1f} fr" if np.isfinite(value) else "–"


def _decibels(gain: float) -> str:
    return f"{20 * np.log10(gain):.1f} dB".replace("-", "−")


def _seconds(frames: float, fps: float) -> str:
    return f"{frames / fps:.2f} s" if np.isfinite(frames) else ""


def _complex(z: complex) -> str:
    sign = "+" if z.imag >= 0 else "−"
    return (
        f"{z.real:.3f} {sign} {abs(z.imag):.3f}j".replace("-", "−")
        if abs(z.imag) > 5e-4
        else f"{z.real:.3f}".replace("-", "−")
    )
