"""Charts that stand still, as plotly draws them: Pareto plots and curves over epochs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from knob_core.methods import METHODS


def axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis with its title, a quiet grid and no zero line."""
    grid = {"gridcolor": "grid", "zeroline": False, "automargin": True}
    return {"title": {"text": title}, **grid, "linecolor": "grid", "tickcolor": "grid", **more}


def layout(x: str, y: str, **more: Any) -> dict[str, Any]:
    """The frame of a chart."""
    legend = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}
    return {
        "margin": {"l": 60, "r": 16, "t": 40, "b": 48},
        "height": 380,
        "xaxis": axis(x),
        "yaxis": axis(y),
        "legend": legend,
        "hovermode": "closest",
        **more,
    }


def pareto(points: pd.DataFrame, on_front: np.ndarray, x: str) -> dict[str, Any]:
    """ECE over x, ours filled and the paper's open; what no other beats is joined by a line."""
    data: list[dict[str, Any]] = []
    ours = points[on_front & (points["whose"] == "ours")].sort_values("x")
    data.append(
        {
            "type": "scatter",
            "mode": "lines",
            "x": ours["x"].tolist(),
            "y": ours["ece"].tolist(),
            "line": {"color": "muted", "dash": "dot", "width": 1.5},
            "name": "our front",
            "showlegend": False,
            "hoverinfo": "skip",
        }
    )
    for method, color, symbol in ((m.key, m.colour, m.marker) for m in METHODS.values()):
        for whose, part in points[points["method"] == method].groupby("whose", sort=False):
            open_mark = "-open" if whose == "paper" else ""
            name = f"{METHODS[method].name}{' (paper)' if whose == 'paper' else ''}"
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "x": part["x"].tolist(),
                    "y": part["ece"].tolist(),
                    "error_y": errors(part["ece_error"], color),
                    "error_x": errors(part["x_error"], color),
                    "marker": {
                        "color": color,
                        "symbol": symbol + open_mark,
                        "size": 12,
                        "line": {"width": 2, "color": color},
                    },
                    "name": name,
                    "showlegend": whose == "ours",
                    "hovertemplate": f"<b>{name}</b><br>{x} %{{x:.4g}}<br>ECE %{{y:.4f}}<extra></extra>",
                }
            )
    frame = layout(x, "ECE (debiased): lower is better")
    frame["yaxis"]["rangemode"] = "tozero"
    return {"data": data, "layout": frame}


def errors(values: pd.Series, color: str) -> dict[str, Any]:
    """Error bars; none where there is no error."""
    return {
        "type": "data",
        "array": values.fillna(0).tolist(),
        "color": color,
        "thickness": 1.2,
        "visible": bool(values.notna().any()),
    }


def curves(
    frame: pd.DataFrame, columns: dict[str, tuple[str, str]], y: str, *, span: tuple[float, float] | None = None,
    lines: dict[str, tuple[float, str]] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Columns over epochs, (label, colour) each: a thin line a seed, a thick one for their mean, and level lines."""
    data: list[dict[str, Any]] = []
    for (column, (label, color)), dash in zip(columns.items(), ("solid", "dash", "dashdot"), strict=False):
        if column not in frame.columns:
            continue
        known = frame.dropna(subset=[column])
        several = known["seed"].nunique() > 1
        if several:
            for seed, part in known.groupby("seed"):
                words = f"{label}, seed {seed}"
                data.append(curve(part["epoch"], part[column], words, color, width=1.0, opacity=0.45, legend=False))
        mean = known.groupby("epoch")[column].mean()
        words = f"{label}{', mean of seeds' if several else ''}"
        data.append(curve(mean.index, mean, words, color, width=2.6, opacity=1.0, legend=True, dash=dash))
    for label, (level, color) in (lines or {}).items():
        ends = frame["epoch"].agg(["min", "max"]).tolist()
        level_line = pd.Series([level, level])
        data.append(curve(ends, level_line, label, color, width=1.4, opacity=1.0, legend=True, dash="dot"))
    frame_of = layout("epoch", y)
    if span:
        frame_of["yaxis"]["range"] = list(span)
    return {"data": data, "layout": frame_of}


def curve(
    x: Any, y: pd.Series, name: str, color: str, *, width: float, opacity: float, legend: bool, dash: str = "solid"
) -> dict[str, Any]:
    """One line of a chart."""
    hover = f"<b>{name}</b><br>epoch %{{x:g}}: %{{y:.4g}}<extra></extra>"
    return {
        "type": "scatter",
        "mode": "lines",
        "x": list(x),
        "y": y.tolist(),
        "line": {"color": color, "width": width, "dash": dash},
        "opacity": opacity,
        "name": name,
        "showlegend": legend,
        "hovertemplate": hover,
    }
