"""The Reliability panel's figure: how often answers are right, by how sure they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.figures.figure_parts import axis
from app.figures.packed import band, line
from knob_core.metrics.reliability import Reliability

TICKS = [0, 0.25, 0.5, 0.75, 1]


def reliability_plot(now: Reliability | None, without: Reliability | None) -> dict[str, Any]:
    """Accuracy over confidence, bin by bin, with 95 % intervals; the dashed diagonal keeps what it promises."""
    ends = np.array([0.0, 1.0])
    data = [line(ends, "muted", x=ends, width=1.2, dash="dash", name="perfect")]
    if without is not None:
        data.append(line(without.accuracy, "confidence/0.6", x=without.confidence, width=1.4, dash="dot",
                         name="without Knob"))  # fmt: skip
    if now is not None:
        data += band(now.low, now.high, "confidence/0.18", x=now.confidence)
        marks = {"mode": "lines+markers", "marker": {"color": "confidence", "size": 5.5}}
        data.append(line(now.accuracy, "confidence", x=now.confidence, width=2, name="now") | marks)
    layout = {
        "margin": {"l": 48, "r": 10, "t": 6, "b": 32},
        "xaxis": axis((0, 1.01), "confidence: what it says", TICKS, anchor="y"),
        "yaxis": axis((0, 1.02), "is right", TICKS, anchor="x"),
    }
    return {"data": data, "layout": layout}
