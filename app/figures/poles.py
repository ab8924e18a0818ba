"""The pole map: where the gate lives in the z-plane (frames) and in the s-plane (rad/frame)."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.figures.wire import line


def poles(z: np.ndarray, s: np.ndarray, zeta: float, omega_n: float, reach: float) -> dict[str, Any]:
    """Both poles (2,) complex in each plane, with the unit circle, the stability line and the circle of equal omega_n."""
    cross = {"symbol": "x", "size": 11, "color": "gate", "line": {"width": 2.6}}
    damping = np.linspace(0.03, 3.5, 120)
    # The way the poles go when only zeta turns: a hand sees where it is heading.
    root = np.sqrt(np.asarray(damping**2 - 1, complex))
    path_s = omega_n * np.concatenate([-damping + root, (-damping - root)[::-1]])
    h = path_s / 2
    path_z = (1 + h) / (1 - h)
    half = len(damping)

    def locus(path: np.ndarray, axis: str) -> list[dict[str, Any]]:
        return [
            line(part.imag, "gate/0.35", x=part.real, axis=axis, width=1.2) for part in (path[:half], path[half:])
        ]

    def mark(points: np.ndarray, axis: str) -> dict[str, Any]:
        return line(points.imag, "gate", x=points.real, axis=axis, name="poles") | {"mode": "markers", "marker": cross}

    axis_style = {"color": "muted", "width": 1}
    shapes = [
        {"type": "circle", "x0": -1, "x1": 1, "y0": -1, "y1": 1, "line": {"color": "text", "width": 1.3}, "layer": "below"},
        {"type": "line", "xref": "x2", "yref": "y2 domain", "x0": 0, "x1": 0, "y0": 0, "y1": 1, "line": {"color": "text", "width": 1.3}},
        {"type": "rect", "xref": "x2", "yref": "y2 domain", "x0": 0, "x1": 100, "y0": 0, "y1": 1, "fillcolor": "wrong/0.07",
         "line": {"width": 0}, "layer": "below"},
        {"type": "line", "xref": "x2 domain", "yref": "y2", "x0": 0, "x1": 1, "y0": 0, "y1": 0, "line": axis_style, "layer": "below"},
    ]  # fmt: skip
    note = {"showarrow": False, "xanchor": "left", "yanchor": "top", "yref": "y domain", "y": 0.97, "x": 0.02, "font": {"color": "muted"}}
    layout = {
        "margin": {"l": 48, "r": 8, "t": 6, "b": 22},
        "xaxis": {"range": [-1.1, 1.1], "domain": [0, 0.36], "anchor": "y", "tickvals": [-1, 0, 1]},
        "yaxis": {"range": [-1.1, 1.1], "tickvals": [-1, 0, 1], "anchor": "x", "scaleanchor": "x"},
        "xaxis2": {"range": [-2.2 * reach, 0.35 * reach], "domain": [0.44, 1], "anchor": "y2"},
        "yaxis2": {"range": [-1.05 * reach, 1.05 * reach], "anchor": "x2"},
        "shapes": shapes,
        "annotations": [
            {**note, "text": "z-plane: stable inside the circle", "xref": "x domain"},
            {**note, "text": "s-plane, rad/frame: stable on the left", "xref": "x2 domain", "yref": "y2 domain"},
        ],
    }
    return {"data": [*locus(path_z, ""), *locus(path_s, "2"), mark(z, ""), mark(s, "2")], "layout": layout}
