"""The step panel: how an answer or a gate goes to a new level, measured and by theory."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from app.figures.figure_parts import across, axis
from app.figures.packed import band, line

GAP = 0.16  # between two plots, of the width


class Curve(NamedTuple):
    """A curve of theory."""

    y: np.ndarray
    name: str
    color: str = "text"
    dash: str = "dash"


class StepPlot(NamedTuple):
    """One plot: quartiles over what was measured (3, n) from frame `first` on, and curves from frame 0."""

    title: str
    words: str  # on the horizontal axis
    color: str
    range: tuple[float, float]
    ticks: tuple[float, ...]
    curves: list[Curve]
    measured: np.ndarray | None = None
    first: int = 0
    level: float | None = None  # a dotted line


def step_plot(plots: list[StepPlot]) -> dict[str, Any]:
    """The plots beside one another."""
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"margin": {"l": 48, "r": 8, "t": 6, "b": 32}, "shapes": []}
    width = (1 - GAP * (len(plots) - 1)) / len(plots)
    for i, plot in enumerate(plots):
        id = str(i + 1) if i else ""
        last = max(len(curve.y) for curve in plot.curves) if plot.curves else 1
        if plot.measured is not None:
            last = plot.measured.shape[1] + plot.first
            low, median, high = plot.measured
            data += band(low, high, f"{plot.color}/0.2", axis=id, x0=plot.first)
            data.append(line(median, plot.color, axis=id, x0=plot.first, name="measured", width=2.2))
        data += [
            line(curve.y[:last], curve.color, axis=id, name=curve.name, width=1.4, dash=curve.dash)
            for curve in plot.curves
        ]
        start = i * (width + GAP)
        layout[f"xaxis{id}"] = axis((plot.first, last - 1), plot.words, domain=[start, start + width], anchor=f"y{id}")
        layout[f"yaxis{id}"] = axis(plot.range, plot.title, list(plot.ticks), anchor=f"x{id}")
        if plot.level is not None:
            rule = across(plot.level, "muted", "dot", 1.0)
            layout["shapes"].append(rule | {"xref": f"x{id} domain", "yref": f"y{id}"})
    return {"data": data, "layout": layout}
