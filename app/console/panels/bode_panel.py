"""The Bode panel: gain and phase at every frequency, by theory and with a test tone in a fixed picture's noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.console.panels.panel_input import PanelInput, decibels_text
from app.figures.bode_plot import bode_plot, factor
from knob_core.stream_dynamics import command_noise, tone_answer

TONE_PATHS = 8  # as many give an error bar, more would only cost time
FREQ = np.geomspace(0.002, 0.499, 160)  # cycles/frame


def content(shown: PanelInput, unit: str) -> dict[str, Any]:
    """Figure, table and note."""
    gate, s = shown.acting, shown.settings
    h, corner = gate.frequency_response(s.zeta, s.omega_n, FREQ), gate.bandwidth(s.zeta, s.omega_n)
    fixed, where = shown.stream.fixed
    measured = None
    if fixed is not None:
        spread = np.ptp(np.median(fixed.branches.u_star, axis=0))
        noise, amplitude = command_noise(fixed.branches.u_star[:TONE_PATHS]), max(0.5, float(spread) / 2)
        measured = tone_answer(lambda x: gate.smooth(x, s.zeta, s.omega_n), noise, amplitude)
    scale = factor(unit, s.frame_rate)
    peak = float(20 * np.log10(np.abs(h).max()))
    rows = [
        ["", "theory"],
        ["passes up to (−3 dB)", f"{corner * scale:.3g} {unit}" if corner < 0.5 else "everything"],
        ["resonance peak", f"{peak:.1f} dB" if peak > 0.05 else "none"],
        ["swings of 5 frames", decibels_text(np.interp(0.2, FREQ, np.abs(h)))],
    ]
    note = "line: theory; dotted: −3 dB"
    if measured is None:
        note += "; the pictures change here, and a tone is measured on a fixed picture only"
    else:
        note = f"dots: a test tone in the noise of {where}, mean and standard error over paths; {note}"
    if not shown.gated:
        note = "this model has no gate, so there is nothing that a swing could pass through"
    elif s.memory == "attentive" and shown.remembers:
        note = f"the gate alone, at the knob's own ωₙ; {note}"
    return {"figure": bode_plot(FREQ, h, measured, unit, s.frame_rate, corner), "numbers": rows, "note": note}
