"""The step panel: how the gate goes to a new level, measured and by theory."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.figures.packed import band, line
from knob_core.stream_dynamics import StepAnswer


def step_plot(
    theory: np.ndarray, measured: StepAnswer | None, pinned: np.ndarray | None = None, pin: str = "A"
) -> dict[str, Any]:
    """Theory (n,), and the stream's own steps with their quartiles where it has any; `pin` is the pinned one's name."""
    n = len(theory)
    data: list[dict[str, Any]] = []
    if measured:
        data += band(measured.low[:n], measured.high[:n], "gate/0.2")
        data.append(line(measured.median[:n], "gate", name="measured", width=2.2))
    if pinned is not None:
        data.append(line(pinned[:n], "muted", name=pin, width=1.4, dash="dash"))
    data.append(line(theory, "text", name="theory", width=1.4, dash="dash" if measured else "solid"))
    level = {
        "type": "line",
        "xref": "x domain",
        "x0": 0,
        "x1": 1,
        "y0": 1,
        "y1": 1,
        "line": {"color": "muted", "dash": "dot"},
    }
    layout = {
        "margin": {"l": 48, "r": 8, "t": 6, "b": 32},
        "xaxis": {"range": [0, n - 1], "title": {"text": "frames after the step"}, "anchor": "y"},
        "yaxis": {
            "range": [-0.2, 2.0],
            "title": {"text": "fraction of the step"},
            "tickvals": [0, 0.5, 1, 1.5, 2],
            "anchor": "x",
        },
        "shapes": [level],
    }
    return {"data": data, "layout": layout}
