"""The scope: severity, classes, gate and confidence over the stream, and how many paths are wrong at each frame.

Split in two: `base` is what no knob changes (axes, severity, truth, what is without Knob), `turned_traces` the rest.
Rows without content (no severity recorded, no labels) are left out, and the others get their room.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from app.figures.packed import band, line, pack


class Row(NamedTuple):
    """One row of the scope."""

    axis: str  # of its height, as traces name it
    height: float  # pixels at the usual size
    color: str
    range: tuple[float, float]
    ticks: tuple[float, ...]
    words: tuple[str, ...] = ()  # at the ticks; none: the numbers
    title: str = ""


LONGEST_NAME = 9  # characters beside a row
GAP = 7.0  # pixels between rows at the usual size
ROWS = {  # top to bottom
    "severity": Row("y", 28, "severity", (-0.2, 5.4), (0, 5), title="severity"),
    "classes": Row("y2", 45, "text", (-0.5, 2.5), (0, 1, 2), ("now", "without", "truth")),
    "gate": Row("y3", 60, "gate", (-0.02, 1.02), (0, 0.5, 1), title="gate"),
    "confidence": Row("y4", 60, "confidence", (-0.02, 1.02), (0, 0.5, 1), title="confidence"),
    "wrong": Row("y5", 22, "wrong", (-0.5, 1.5), (0, 1), ("without", "now")),
}
TRUTH, WITHOUT, NOW, PINNED = 2, 1, 0, -1  # heights in the row of classes


def axis_key(row: str) -> str:
    """The row's axis in a layout: "y2" is under "yaxis2"."""
    return ROWS[row].axis.replace("y", "yaxis")


def base(
    severity: np.ndarray | None,
    truth: np.ndarray | None,
    cuts: list[int],
    without: dict[str, np.ndarray],
    names: list[str],
) -> dict[str, Any]:
    """Everything that stays while a knob is turned; all (T,), `without` as gate, confidence, wrong and classes.

    `names` are the classes', for the ribbon; severity and truth are None where they are not known.
    """
    frames = len(without["gate"])
    empty = {"severity": severity is None, "wrong": truth is None}
    shown = [name for name in ROWS if not empty.get(name)]
    layout: dict[str, Any] = {
        "margin": {"l": 62, "r": 10, "t": 4, "b": 20},
        "xaxis": {"range": [-0.5, frames - 0.5], "anchor": ROWS[shown[-1]].axis},
        "classes": names,
        "shapes": [cut_mark(frame) for frame in cuts],
    }
    whole, top = sum(ROWS[name].height + GAP for name in shown) - GAP, 0.0
    for name in shown:
        row = ROWS[name]
        domain = [1 - (top + row.height) / whole, 1 - top / whole]
        layout[axis_key(name)] = axis(row, domain)
        top += row.height + GAP
    layout[axis_key("classes")] |= class_axis(truth is not None)
    word = {"text": "frame", "xref": "paper", "x": 0, "xanchor": "right", "xshift": -6, "yref": "paper", "y": 0}
    layout["annotations"] = [{**word, "yshift": -10, "showarrow": False, "font": {"color": "muted"}}]
    data = [
        ribbon(without["classes"], WITHOUT, "without Knob"),
        line(without["gate"], "command/0.45", axis=ROWS["gate"].axis, name="command σ(u*)", width=1, dash="dot"),
        line(without["confidence"], "confidence/0.5", axis=ROWS["confidence"].axis, name="without Knob", width=1,
             dash="dot"),
    ]  # fmt: skip
    if severity is not None:
        data.insert(0, line(severity, "severity", name="severity", shape="hv", width=2, hover=True))
    if truth is not None:
        data += [ribbon(truth, TRUTH, "truth"), wrong(without["wrong"], 0)]
    return {"data": data, "layout": layout}


def axis(row: Row, domain: list[float]) -> dict[str, Any]:
    """A row's axis."""
    out: dict[str, Any] = {"range": list(row.range), "domain": domain, "tickvals": list(row.ticks), "anchor": "x"}
    if row.words:
        out["ticktext"] = list(row.words)
    return out | {"title": {"text": row.title, "font": {"color": row.color}} if row.title else None, "titlegap": 40}


def class_axis(labelled: bool, pinned: str = "") -> dict[str, Any]:
    """Heights, ticks and words of the row of classes: truth where it is known, and the name of a drawn pin."""
    heights = [*([PINNED] if pinned else []), NOW, WITHOUT, *([TRUTH] if labelled else [])]
    words = {PINNED: short(pinned), NOW: "now", WITHOUT: "without", TRUTH: "truth"}
    return {
        "range": [heights[0] - 0.5, heights[-1] + 0.5],
        "tickvals": heights,
        "ticktext": [words[height] for height in heights],
        "showgrid": False,
    }


def ribbon(classes: np.ndarray, height: int, name: str) -> dict[str, Any]:
    """One thin row in the colours of the classes (T,); -1: nothing there."""
    return {"type": "ribbon", "z": pack(classes, "i2"), "y0": height, "yaxis": ROWS["classes"].axis, "name": name}


def cut_mark(frame: int) -> dict[str, Any]:
    """Where another picture begins, as an upright line."""
    style = {"color": "muted/0.55", "width": 1, "dash": "dot"}
    ends = {"x0": frame - 0.5, "x1": frame - 0.5, "xref": "x", "yref": "paper", "y0": 0, "y1": 1}
    return {"type": "line", **ends, "line": style, "layer": "below"}


def wrong(share: np.ndarray, row: int) -> dict[str, Any]:
    """One strip of cells: the share of paths that are wrong at each frame."""
    return {
        "type": "heatmap", "z": [pack(share)], "x0": 0, "dx": 1, "y0": row, "dy": 1, "yaxis": ROWS["wrong"].axis,
        "zmin": 0, "zmax": 1, "colorscale": [[0, "wrong/0"], [1, "wrong"]], "showscale": False,
    }  # fmt: skip


def turned_traces(
    g: np.ndarray, p_max: np.ndarray, classes: np.ndarray, share_wrong: np.ndarray | None
) -> list[dict[str, Any]]:
    """What a turn changes: quartiles (3, T) of gate and confidence over paths, the first path's classes (T,), and the
    share of wrong paths (T,), None without labels."""
    gate, confidence = ROWS["gate"].axis, ROWS["confidence"].axis
    return [
        *band(g[0], g[2], "gate/0.2", axis=gate),
        *band(p_max[0], p_max[2], "confidence/0.2", axis=confidence),
        line(g[1], "gate", axis=gate, name="gate", width=2, hover=True),
        line(p_max[1], "confidence", axis=confidence, name="confidence", width=2, hover=True),
        ribbon(classes, NOW, "now"),
        *([wrong(share_wrong, 1)] if share_wrong is not None else []),
    ]


def short(name: str, longest: int = LONGEST_NAME) -> str:
    """A name that fits beside the row."""
    return name if len(name) <= longest else f"{name[: longest - 1].rstrip()}…"


def pinned(g: np.ndarray, p_max: np.ndarray, classes: np.ndarray, name: str) -> list[dict[str, Any]]:
    """A pinned setting's gate and confidence (T,), dashed, and its classes."""
    return [
        line(g, "gate", axis=ROWS["gate"].axis, name=f"{name} gate", width=1.4, dash="dash"),
        line(p_max, "confidence", axis=ROWS["confidence"].axis, name=f"{name} confidence", width=1.4, dash="dash"),
        ribbon(classes, PINNED, name),
    ]


def turn_spans(spans: list[tuple[int, int]]) -> list[dict[str, Any]]:
    """While the operator turned, from the first frame to the last: one shaded span a turn."""
    style = {"color": "under", "width": 1}
    ends = {"xref": "x", "yref": "paper", "y0": 0, "y1": 1}
    return [
        {"type": "rect", "x0": first - 0.5, "x1": last + 0.5, **ends, "line": style, "fillcolor": "under/0.18"}
        for first, last in spans
    ]


def newest_frame(frame: int) -> dict[str, Any]:
    """Live: where the newest frame is, as an upright line."""
    style = {"color": "text", "width": 1}
    return {"type": "line", "x0": frame, "x1": frame, "yref": "paper", "y0": 0, "y1": 1, "line": style}
