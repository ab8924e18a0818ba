"""The Step panel: how the gate goes to a new level, measured at the steps of a fixed picture's stream and by theory."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.console.panels.panel_input import PanelInput, frames_text, seconds_text
from app.console.setting_words import theoretical_step
from app.figures.step_plot import step_plot
from knob_core import methods, theory
from knob_core.measures.stability import steps
from knob_core.stream_dynamics import StepAnswer, step_answer
from knob_core.theory import StepInfo

SHOWN_FRAMES = 60
ROWS = (("rise 10-90 %", "RiseTime"), ("settling 2 %", "SettlingTime"), ("overshoot", "Overshoot"))


def content(shown: PanelInput, unit: str) -> dict[str, Any]:
    """Figure, table and note."""
    gated = methods.get(shown.method).gate.gated
    fixed, where = shown.on_fixed_picture() if shown.newest is None and gated else (None, "")
    measured = None
    if fixed is not None:
        resting = fixed.u if fixed.settings.mode == "reset" else None  # one step from rest does not reach the command
        measured = step_answer(fixed.u, fixed.u_star, fixed.severity, resting)
    n = min(SHOWN_FRAMES, len(measured.median)) if measured else SHOWN_FRAMES
    ideal, info = theoretical_step(shown.settings, shown.method, n)
    pinned = theoretical_step(shown.pin.settings, shown.method, n)[0] if shown.pin else None
    return {
        "figure": step_plot(ideal, measured, pinned, shown.drawn),
        "numbers": table(info, measured, shown.settings.frame_rate) if gated else [],
        "note": note(fixed or shown, measured, gated, where),
    }


def table(info: StepInfo, measured: StepAnswer | None, frame_rate: float) -> list[list[str]]:
    """Rise, settling and overshoot: by theory in frames and seconds, and measured where the stream has a step."""
    rows = [["", "theory", "", *(["measured"] if measured else [])]]
    seen = theory.step_info(measured.median, final=1.0) if measured else None
    for label, name in ROWS:
        value, percent = getattr(info, name), name == "Overshoot"
        row = [label, f"{value:.1f} %" if percent else frames_text(value)]
        row.append("" if percent else seconds_text(value, frame_rate))
        if measured and seen:
            value = getattr(seen, name)
            noisy = np.abs(measured.median[-len(measured.median) // 3 :] - 1).max() > 0.02
            hidden = name == "SettlingTime" and noisy
            row.append(f"{value:.1f} %" if percent else "not measurable (noise)" if hidden else frames_text(value))
        rows.append(row)
    return rows


def note(shown: PanelInput, measured: StepAnswer | None, gated: bool, where: str) -> str:
    """What is drawn, or why nothing was measured."""
    if measured:
        several = f"{measured.count} steps" if measured.count > 1 else "the step"
        text = f"blue: {several} of {where}, median and middle half of the paths; dashed: theory"
        text += f", in grey of {shown.drawn}" if shown.pin else ""
    elif not gated:
        text = "this model has no gate: it always answers with its static branch"
    elif shown.newest is not None:
        text = "theory; steps are measured when the stream is not playing"
    elif shown.changing:
        text = "theory; the pictures change here, and a step is measured on a fixed picture only"
    elif steps(shown.severity):
        text = "the gate hardly moves at this stream's steps, so theory stands alone"
    else:
        text = "there is no sudden step that holds in this stream, so theory stands alone"
    if shown.settings.on and shown.settings.mode == "reset":
        text += "; in Reset Mode the gate goes its one step at once, and no further"
    return text
