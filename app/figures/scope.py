"""The scope: severity, classes, gate, alertness and confidence over the stream, and how many paths are wrong.

gate: g = sigmoid(u); alertness: the natural frequency that acted, as a multiple of the knob's. Split in two: `base` is
what no knob changes (axes, severity, truth, what is without Knob), `turned_traces` the rest. Rows without content (no
severity recorded, no gate, no labels) are left out, and the others get their room.
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
    log: bool = False


LONGEST_NAME = 9  # characters beside a row
GAP = 7.0  # pixels between rows at the usual size
ROWS = {  # top to bottom
    "severity": Row("y", 24, "severity", (-0.2, 5.4), (0, 5), title="severity"),
    "classes": Row("y2", 45, "text", (-0.5, 2.5), (0, 1, 2), ("now", "without", "truth")),
    "confidence": Row("y4", 46, "confidence", (-0.02, 1.02), (0, 0.5, 1), title="confidence"),
    "gate": Row("y3", 46, "gate", (-0.02, 1.02), (0, 0.5, 1), title="gate"),
    "alertness": Row("y6", 34, "under", (0.25, 40), (1, 10), ("× 1", "× 10"), "alertness", log=True),
    "wrong": Row("y5", 22, "wrong", (-0.5, 1.5), (0, 1), ("without", "now")),
    "disagrees": Row("y7", 11, "under", (-0.5, 0.5), (0,), ("disagrees",)),
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

    `names` are the classes', for the ribbon; severity and truth are None where they are not known; a model without a
    gate has no "gate".
    """
    frames = len(without["confidence"])
    empty = {"severity": severity is None, "gate": "gate" not in without, "wrong": truth is None}
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
        line(without["confidence"], "confidence/0.5", axis=ROWS["confidence"].axis, name="without Knob", width=1,
             dash="dot"),
    ]  # fmt: skip
    if "gate" in without:
        data.append(line(without["gate"], "command/0.45", axis=ROWS["gate"].axis, name="command σ(u*)", width=1,
                         dash="dot"))  # fmt: skip
    if severity is not None:
        data.insert(0, line(severity, "severity", name="severity", shape="hv", width=2, hover=True))
    if truth is not None:
        data += [ribbon(truth, TRUTH, "truth"), strip(without["wrong"], "wrong", 0)]
    return {"data": data, "layout": layout}


def axis(row: Row, domain: list[float]) -> dict[str, Any]:
    """A row's axis."""
    out: dict[str, Any] = {"range": list(row.range), "domain": domain, "tickvals": list(row.ticks), "anchor": "x"}
    if row.log:
        out |= {"type": "log", "range": np.log10(row.range).tolist()}
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


def strip(share: np.ndarray, row: str, height: int) -> dict[str, Any]:
    """One strip of cells: a share of paths at each frame."""
    color = ROWS[row].color
    return {
        "type": "heatmap", "z": [pack(share)], "x0": 0, "dx": 1, "y0": height, "dy": 1, "yaxis": ROWS[row].axis,
        "zmin": 0, "zmax": 1, "colorscale": [[0, f"{color}/0"], [1, color]], "showscale": False,
    }  # fmt: skip


class Turned(NamedTuple):
    """What a turn changes: quartiles (3, T) over paths, the first path's classes (T,), shares of the paths (T,)."""

    g: np.ndarray | None  # None: the model has no gate
    alertness: np.ndarray
    p_max: np.ndarray
    classes: np.ndarray
    disagrees: np.ndarray  # the class shown is another than the frame's own
    wrong: np.ndarray | None  # None: no label is known


def turned_traces(turned: Turned) -> list[dict[str, Any]]:
    """The traces over those of `base`."""
    curves = {"gate": turned.g, "alertness": turned.alertness, "confidence": turned.p_max}
    drawn = {name: (ROWS[name], values) for name, values in curves.items() if values is not None}
    bands = [band(low, high, f"{row.color}/0.2", axis=row.axis) for row, (low, _, high) in drawn.values()]
    return [
        *(trace for pair in bands for trace in pair),
        *(
            line(values[1], row.color, axis=row.axis, name=name, width=2, hover=True)
            for name, (row, values) in drawn.items()
        ),
        ribbon(turned.classes, NOW, "now"),
        strip(turned.disagrees, "disagrees", 0),
        *([strip(turned.wrong, "wrong", 1)] if turned.wrong is not None else []),
    ]


def short(name: str, longest: int = LONGEST_NAME) -> str:
    """A name that fits beside the row."""
    return name if len(name) <= longest else f"{name[: longest - 1].rstrip()}…"


def pinned(curves: dict[str, np.ndarray], classes: np.ndarray, name: str) -> list[dict[str, Any]]:
    """A pinned setting's curves (T,) by the name of their row, dashed, and its classes."""
    return [
        *(
            line(y, ROWS[row].color, axis=ROWS[row].axis, name=f"{name} {row}", width=1.4, dash="dash")
            for row, y in curves.items()
        ),
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
