"""The Temperature panel's figure: T_eff and CSR along the stream, and T_eff by severity."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.figures.figure_parts import axis
from app.figures.packed import band, line

HOTTEST = 4.0  # the axis ends there; a fused tie is infinitely hot


def temperature_plot(
    t_eff: np.ndarray | None,
    csr: np.ndarray | None,
    p_max: np.ndarray | None,
    levels: tuple[np.ndarray, np.ndarray, np.ndarray] | None,
) -> dict[str, Any]:
    """Quartiles (3, T) of T_eff and CSR, confidence (T,), and (severities, T_eff where branches agree, disagree)."""
    data: list[dict[str, Any]] = []
    split, last = (0.6 if levels is not None else 1.0), 1
    if t_eff is not None and csr is not None and p_max is not None:
        last = len(p_max)
        for values, color, name, where in (
            (np.minimum(t_eff, HOTTEST), "text", "T_eff", "y"), (csr, "text", "CSR", "y2"),
        ):  # fmt: skip
            data += band(values[0], values[2], f"{color}/0.18", axis=where)
            data.append(line(values[1], color, axis=where, name=name, width=1.8))
        data.append(line(p_max, "confidence", axis="y2", name="confidence", width=1.2, dash="dot"))
    layout: dict[str, Any] = {
        "margin": {"l": 48, "r": 10, "t": 6, "b": 32},
        "xaxis": axis((-0.5, last - 0.5), "frame", domain=[0, split], anchor="y2"),
        "yaxis": axis((0, float(np.log10(HOTTEST))), "T_eff", [1, 2, 3, 4], type="log", domain=[0.55, 1], anchor="x"),
        "yaxis2": axis((0, 1.02), "CSR", [0, 0.5, 1], domain=[0, 0.45], anchor="x"),
    }
    if levels is not None:
        severity, agree, apart = levels
        for values, color, name in ((agree, "static", "branches agree"), (apart, "dyn", "branches disagree")):
            dots = line(np.minimum(values, HOTTEST), color, x=severity, axis="2", name=name, width=1.6)
            dots["yaxis"] = "y3"
            data.append(dots | {"mode": "lines+markers", "marker": {"color": color, "size": 6}})
        layout["xaxis2"] = axis((-0.3, 5.3), "severity", [0, 1, 2, 3, 4, 5], domain=[0.7, 1], anchor="y3")
        layout["yaxis3"] = axis((0, float(np.log10(HOTTEST))), "T_eff, median", [1, 2, 3, 4], type="log", anchor="x2")
    return {"data": data, "layout": layout}
