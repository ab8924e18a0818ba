"""The Reliability panel's figure: how often answers are right, by how sure they are, and how far that is off."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.figures.figure_parts import axis
from app.figures.packed import band, line
from knob_core.metrics.reliability import Reliability

TICKS = [0, 0.25, 0.5, 0.75, 1]


def reliability_plot(now: Reliability | None, without: Reliability | None) -> dict[str, Any]:
    """Accuracy over confidence, bin by bin, with 95 % intervals; the dashed diagonal keeps what it promises.

    Beside it the same less the diagonal, on a scale on which small faults can be seen.
    """
    ends = np.array([0.0, 1.0])
    data = [line(ends, "muted", x=ends, width=1.2, dash="dash", name="perfect")]
    if without is not None:
        data.append(line(without.accuracy, "confidence/0.6", x=without.confidence, width=1.4, dash="dot",
                         name="without Knob"))  # fmt: skip
    if now is not None:
        data += band(now.low, now.high, "confidence/0.18", x=now.confidence)
        marks = {"mode": "lines+markers", "marker": {"color": "confidence", "size": 5.5}}
        data.append(line(now.accuracy, "confidence", x=now.confidence, width=2, name="now") | marks)
    data.append(line(0 * ends, "muted", x=ends, axis="2", width=1.2, dash="dash"))
    for found, color, style in ((without, "confidence/0.6", "dot"), (now, "confidence", "solid")):
        if found is not None:
            gap = found.accuracy - found.confidence
            data.append(line(gap, color, x=found.confidence, axis="2", width=1.6, dash=style))
    layout = {
        "margin": {"l": 48, "r": 10, "t": 6, "b": 32},
        "xaxis": axis((0, 1.01), "confidence: what it says", [0, 0.5, 1], domain=[0, 0.4], anchor="y"),
        "yaxis": axis((0, 1.02), "is right", [0, 0.5, 1], anchor="x"),
        "xaxis2": axis((0, 1.01), "confidence", TICKS, domain=[0.54, 1], anchor="y2"),
        "yaxis2": axis((-0.3, 0.3), "right − says", [-0.2, 0, 0.2], anchor="x2"),
    }
    return {"data": data, "layout": layout}
