"""The pole map: where the gate lives in the z-plane (frames) and in the s-plane (rad/frame)."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.figures.packed import line
from knob_core.theory import Poles


def pole_map(now: Poles, path: Poles) -> dict[str, Any]:
    """The poles (P,) in each plane, on the way (n, P) they go when only zeta turns; unit circle and stability line."""
    cross = {"symbol": "x", "size": 11, "color": "gate", "line": {"width": 2.6}}
    middle = np.abs(np.prod(now.s)) ** (1 / len(now.s))  # of two poles: omega_n
    reach = 2.0 ** np.ceil(np.log2(1.3 * middle))

    def way(points: np.ndarray, axis: str) -> list[dict[str, Any]]:
        return [line(p.imag, "gate/0.35", x=p.real, axis=axis, width=1.2) for p in points.T]

    def mark(points: np.ndarray, axis: str) -> dict[str, Any]:
        return line(points.imag, "gate", x=points.real, axis=axis, name="poles") | {"mode": "markers", "marker": cross}

    edge = {"color": "text", "width": 1.3}
    plane = {"xref": "x2", "yref": "y2 domain", "y0": 0, "y1": 1}
    shapes = [
        {"type": "circle", "x0": -1, "x1": 1, "y0": -1, "y1": 1, "line": edge, "layer": "below"},
        {
            "type": "rect",
            **plane,
            "x0": 0,
            "x1": 100,
            "fillcolor": "wrong/0.07",
            "line": {"width": 0},
            "layer": "below",
        },
        {"type": "line", **plane, "x0": 0, "x1": 0, "line": edge},
    ]
    layout = {
        "margin": {"l": 48, "r": 8, "t": 6, "b": 32},
        "xaxis": {
            "range": [-1.1, 1.1],
            "domain": [0, 0.36],
            "anchor": "y",
            "tickvals": [-1, 0, 1],
            "title": {"text": "z-plane: stable inside the circle"},
        },
        "yaxis": {"range": [-1.1, 1.1], "tickvals": [-1, 0, 1], "anchor": "x", "scaleanchor": "x"},
        "xaxis2": {
            "range": [-2.2 * reach, 0.35 * reach],
            "domain": [0.44, 1],
            "anchor": "y2",
            "title": {"text": "s-plane, rad/frame: stable on the left"},
        },
        "yaxis2": {"range": [-1.05 * reach, 1.05 * reach], "anchor": "x2"},
        "shapes": shapes,
    }
    return {"data": [*way(path.z, ""), *way(path.s, "2"), mark(now.z, ""), mark(now.s, "2")], "layout": layout}
