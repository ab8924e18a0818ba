"""The Live page's figure: class, gate and confidence of one stream of a running service over its last frames."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.figures.figure_parts import card
from app.figures.packed import line, pack

HEIGHT = 300  # pixels
CLASSES, GATE, CONFIDENCE = "y", "y2", "y3"


def stream_figure(
    frame: np.ndarray, g: np.ndarray, p_max: np.ndarray, label: np.ndarray, bare: np.ndarray, names: list[str],
    **words: Any,
) -> dict[str, Any]:  # fmt: skip
    """All (T,): frame numbers, gate, confidence, and the classes shown with and without Knob (-1: none)."""
    count = len(frame)
    ticks = np.unique(np.linspace(0, count - 1, 5).astype(int))
    layout: dict[str, Any] = {
        "margin": {"l": 78, "r": 10, "t": 4, "b": 34},
        "xaxis": {
            "range": [-0.5, count - 0.5], "anchor": CONFIDENCE, "tickvals": ticks.tolist(),
            "ticktext": [f"{frame[i]:.0f}" for i in ticks], "title": {"text": "frame"},
        },
        "yaxis": _axis((0.8, 1.0), (-0.5, 1.5), [0, 1], ticktext=["without", "with Knob"], showgrid=False),
        "yaxis2": _axis((0.42, 0.74), (-0.02, 1.02), [0, 0.5, 1], title={"text": "gate", "font": {"color": "gate"}}),
        "yaxis3": _axis((0.0, 0.36), (-0.02, 1.02), [0, 0.5, 1],
                        title={"text": "confidence", "font": {"color": "confidence"}}),
        "classes": names,
    }  # fmt: skip
    data = [
        _ribbon(label, 1, "with Knob"),
        _ribbon(bare, 0, "without Knob"),
        line(g, "gate", axis=GATE, name="gate", width=2),
        line(p_max, "confidence", axis=CONFIDENCE, name="confidence", width=2),
    ]
    return card("stream", {"data": data, "layout": layout}, **words) | {"height": HEIGHT}


def _ribbon(classes: np.ndarray, height: int, name: str) -> dict[str, Any]:
    return {"type": "ribbon", "z": pack(classes, "i2"), "y0": height, "yaxis": CLASSES, "name": name}


def _axis(domain: tuple[float, float], span: tuple[float, float], ticks: list[float], **more: Any) -> dict[str, Any]:
    return {"domain": list(domain), "range": list(span), "tickvals": ticks, "anchor": "x", "titlegap": 44, **more}
