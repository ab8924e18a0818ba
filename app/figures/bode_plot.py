"""The Bode panel: how much of a swing passes the gate, and how late, at every frequency."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from app.figures.packed import line, pack
from knob_core.stream_dynamics import ToneAnswer

UNITS = ("cycles/frame", "rad/frame", "Hz")


def factor(unit: str, fps: float) -> float:
    """What one cycle per frame is in the unit."""
    return {"cycles/frame": 1.0, "rad/frame": 2 * np.pi, "Hz": fps}[unit]


def bode_plot(
    freq: np.ndarray, h: np.ndarray, measured: ToneAnswer | None, unit: str, fps: float, corner: float
) -> dict[str, Any]:
    """Theory h (complex) at freq (cycles/frame), the measured tones with error bars, and the corner frequency."""
    scale = factor(unit, fps)
    gain, phase = 20 * np.log10(np.maximum(np.abs(h), 1e-6)), np.degrees(np.unwrap(np.angle(h)))
    data = [
        line(gain, "text", x=freq * scale, name="theory", width=1.4),
        line(phase, "text", x=freq * scale, axis="2", width=1.4),
    ]
    if measured:
        for y, error, axis in ((measured.gain_db, measured.gain_sem, ""), (measured.phase, measured.phase_sem, "2")):
            points = line(y, "gate", x=measured.freq * scale, axis=axis, name="measured")
            points |= {
                "mode": "markers",
                "marker": {"color": "gate", "size": 6.5},
                "error_y": {"type": "data", "array": pack(error), "color": "gate"},
            }
            data.append(points)
    span = [float(np.log10(freq[0] * scale)), float(np.log10(freq[-1] * scale))]
    mark = {"type": "line", "y0": 0, "y1": 1, "x0": corner * scale, "x1": corner * scale,
            "line": {"color": "under", "dash": "dot", "width": 1.5}}  # fmt: skip
    shapes = [{**mark, "xref": f"x{i}", "yref": f"y{i} domain"} for i in ("", "2")] if corner < freq[-1] else []
    title = {"text": f"frequency, {unit}"}
    low = min(-180, 90 * math.floor(phase.min() / 90))  # a third order turns further than two poles do
    ticks = list(range(low, 1, 90))
    layout = {
        "margin": {"l": 48, "r": 10, "t": 6, "b": 32},
        "xaxis": {"type": "log", "range": span, "domain": [0, 0.455], "title": title, "anchor": "y"},
        "yaxis": {"range": [-46, 22], "title": {"text": "gain, dB"}, "tickvals": [-40, -20, 0, 20], "anchor": "x"},
        "xaxis2": {"type": "log", "range": span, "domain": [0.545, 1], "title": title, "anchor": "y2"},
        "yaxis2": {"range": [low - 20, 20], "title": {"text": "phase, °"}, "tickvals": ticks, "anchor": "x2"},
        "shapes": shapes,
    }
    return {"data": data, "layout": layout}
