"""The scope: severity, gate and confidence over the stream, and how many paths are wrong at each frame.

Split in two: `base` is what no knob changes (axes, severity, gate and confidence without Knob), `moving` the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from app.figures.packed import band, line, pack

ROWS = {"severity": (0.86, 1.0), "gate": (0.5, 0.82), "confidence": (0.14, 0.46), "wrong": (0.0, 0.1)}  # top to bottom


def base(severity: np.ndarray, command: np.ndarray, p_without: np.ndarray, wrong_without: np.ndarray) -> dict[str, Any]:
    """Everything that stays while a knob is turned; all (T,)."""
    frames = len(severity)
    rows = {  # axis, title, colour, range, ticks
        "yaxis": ("severity", "severity", [-0.2, 5.4], [0, 5]),
        "yaxis2": ("gate", "gate", [-0.02, 1.02], [0, 0.5, 1]),
        "yaxis3": ("confidence", "confidence", [-0.02, 1.02], [0, 0.5, 1]),
        "yaxis4": ("wrong", "wrong", [-0.5, 1.5], [0, 1]),
    }
    layout: dict[str, Any] = {
        "margin": {"l": 62, "r": 10, "t": 4, "b": 20},
        "xaxis": {"range": [-0.5, frames - 0.5], "anchor": "y4"},
    }
    for axis, (row, color, span, ticks) in rows.items():
        title = {"text": row, "font": {"color": color}}
        layout[axis] = {
            "range": span,
            "domain": list(ROWS[row]),
            "tickvals": ticks,
            "anchor": "x",
            "title": title,
            "titlegap": 40,
        }
    layout["yaxis4"] |= {"ticktext": ["without", "now"], "title": None}
    word = {"text": "frame", "xref": "paper", "x": 0, "xanchor": "right", "xshift": -6, "yref": "paper", "y": 0}
    layout["annotations"] = [{**word, "yshift": -10, "showarrow": False, "font": {"color": "muted"}}]
    data = [
        line(severity, "severity", name="severity", shape="hv", width=2, hover=True),
        line(command, "command/0.45", axis="y2", name="command σ(u*)", width=1, dash="dot"),
        line(p_without, "confidence/0.5", axis="y3", name="without Knob", width=1, dash="dot"),
        wrong(wrong_without, 0),
    ]
    return {"data": data, "layout": layout}


def wrong(share: np.ndarray, row: int) -> dict[str, Any]:
    """One strip of cells: the share of paths that are wrong at each frame."""
    return {
        "type": "heatmap", "z": [pack(share)], "x0": 0, "dx": 1, "y0": row, "dy": 1, "yaxis": "y4",
        "zmin": 0, "zmax": 1, "colorscale": [[0, "wrong/0"], [1, "wrong"]], "showscale": False,
    }  # fmt: skip


def moving(g: np.ndarray, p_max: np.ndarray, share_wrong: np.ndarray) -> list[dict[str, Any]]:
    """What a turn changes: quartiles (3, T) of gate and confidence over paths, and the strip of wrong frames (T,)."""
    return [
        *band(g[0], g[2], "gate/0.2", axis="y2"),
        *band(p_max[0], p_max[2], "confidence/0.2", axis="y3"),
        line(g[1], "gate", axis="y2", name="gate", width=2, hover=True),
        line(p_max[1], "confidence", axis="y3", name="confidence", width=2, hover=True),
        wrong(share_wrong, 1),
    ]


def pinned(g: np.ndarray, p_max: np.ndarray) -> list[dict[str, Any]]:
    """A pinned setting's gate and confidence (T,), dashed."""
    return [
        line(g, "gate", axis="y2", name="A gate", width=1.4, dash="dash"),
        line(p_max, "confidence", axis="y3", name="A confidence", width=1.4, dash="dash"),
    ]


def turn_marks(frames: list[int]) -> list[dict[str, Any]]:
    """Where the operator turned, as upright lines."""
    line_style = {"color": "under", "width": 1.5}
    return [
        {"type": "line", "x0": t, "x1": t, "xref": "x", "yref": "paper", "y0": 0.1, "y1": 0.8, "line": line_style}
        for t in frames
    ]


def newest_frame(frame: int) -> dict[str, Any]:
    """Live: where the newest frame is, as an upright line."""
    style = {"color": "text", "width": 1}
    return {"type": "line", "x0": frame, "x1": frame, "yref": "paper", "y0": 0, "y1": 1, "line": style}
