"""The calibration page's figures: reliability, confidence, gap per bin, temperature by severity, heat maps."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.figures.figure_parts import MARGIN, across, axis, card
from app.figures.packed import band, line, pack
from knob_core.metrics.reliability import Reliability

SUBSETS = {  # name: (colour, dash, words), as drawn: nearly all agree, so that line is dashed and on top of all
    "all": ("confidence", "", "all"),
    "disagree": ("wrong", "", "disagree"),
    "agree": ("text", "dash", "agree"),
}
NAMED = {"jpeg_compression": "jpeg", "elastic_transform": "elastic"}
TINT = 0.45  # of a heat map's colour, at most: what is written on it must be read, light and dark


def target(id: str, label: str, x: tuple[float, float], y: tuple[float, float]) -> dict[str, Any]:
    """What may be picked: a rectangle in data coordinates."""
    return {"id": id, "label": label, "x": [float(v) for v in x], "y": list(y), "row": 0}


def ladder(value: float, steps: tuple[float, ...]) -> float:
    """The first of rising steps that is not below, or the last: an axis that does not tremble with what it shows."""
    return next((step for step in steps if step >= value), steps[-1])


def bin_label(table: Reliability, b: int) -> str:
    """A bin in words."""
    return (
        f"says {table.edges[b]:.2f} to {table.edges[b + 1]:.2f}, right {table.accuracy[b]:.3f} "
        f"({table.low[b]:.3f} to {table.high[b]:.3f}), {table.counts[b]:,} predictions"
    )


def reliability(tables: dict[str, Reliability], before: Reliability | None) -> dict[str, Any]:
    """What each bin promised and kept, with 95 % intervals; the diagonal is perfect calibration."""
    data = [line(np.array([0.0, 1.0]), "muted", x=np.array([0.0, 1.0]), width=1.2, dash="dash", name="perfect")]
    if before is not None:
        data.append(line(before.accuracy, "confidence/0.6", x=before.confidence, width=1.4, dash="dot", name="before"))
    for name in subsets_of(tables):
        table, width = tables[name], 2.4 if name == "all" else 1.4
        data += subset_curve(name, table.confidence, table.low, table.accuracy, table.high, 0.15, width)
    whole = tables["all"]
    layout = {
        "margin": MARGIN,
        "xaxis": confidence_axis(),
        "yaxis": axis((0, 1), "accuracy: how often it is right", anchor="x"),
    }
    bins = range(len(whole.counts))
    return card(
        "reliability",
        {"data": data, "layout": layout},
        title="Does it keep its promises?",
        span=6,
        height=330,
        legend=[subset(name, f" ({tables[name].counts.sum():,})") for name in subsets_of(tables)]
        + [["dot", "confidence", "previous setting"]],
        note=(
            f"Below the dashed line it promises too much. {len(whole.counts)} bins of about {whole.counts.mean():,.0f} "
            f"predictions each; tinted: 95 % intervals. ECE, also where the branches agree or disagree: "
            f"{errors(tables)}. Click a bin to see its pictures."
        ),
        alt=f"reliability diagram: {len(bins)} bins, calibration error {whole.ece_debiased():.3f}",
        targets=[target(f"b{b}", bin_label(whole, b), (whole.edges[b], whole.edges[b + 1]), (0, 1)) for b in bins],
    )


def confidence_axis() -> dict[str, Any]:
    """From 0 to 1, below the figure."""
    return axis((0, 1), "confidence: what it says", [0, 0.2, 0.4, 0.6, 0.8, 1], anchor="y")


def subsets_of(found: dict[str, Any]) -> list[str]:
    """The names of those subsets that there are, in the order in which they are drawn."""
    return [name for name in SUBSETS if name in found]


def subset_curve(
    name: str, x: np.ndarray, low: np.ndarray, middle: np.ndarray, high: np.ndarray, tint: float, width: float
) -> list[dict[str, Any]]:
    """A band from low to high, and on it a line with a mark at every x."""
    color, dash, words = SUBSETS[name]
    marks = {"mode": "lines+markers", "marker": {"color": color, "size": 4 if name == "agree" else 6}}
    curve = line(middle, color, x=x, width=width, dash=dash, name=words) | marks
    return [*band(low, high, f"{color}/{tint}", x=x), curve]


def subset(name: str, more: str = "") -> list[str]:
    """A subset's entry in a legend."""
    color, dash, words = SUBSETS[name]
    return [dash, color, words + more]


def errors(tables: dict[str, Reliability]) -> str:
    """The calibration error of every subset."""
    return ", ".join(f"{SUBSETS[name][2]} {tables[name].ece_debiased():.3f}" for name in subsets_of(tables))


def histogram(
    edges: np.ndarray, right: np.ndarray, wrong: np.ndarray, before: np.ndarray | None, says: float
) -> dict[str, Any]:
    """How many predictions have which confidence: right ones below, wrong ones on top of them; counts (B,).

    `says` is the mean confidence.
    """
    centre, width = (edges[1:] + edges[:-1]) / 2, float(edges[1] - edges[0]) * 0.9
    total = right + wrong
    sizes = np.full(len(centre), width)

    def bars(counts: np.ndarray, color: str) -> dict[str, Any]:
        return {"type": "bar", "x": pack(centre), "y": pack(counts), "width": pack(sizes), "marker": {"color": color}}

    data = [bars(total, "wrong"), bars(right, "confidence")]
    if before is not None:
        step = line(np.append(before, before[-1]), "text/0.7", x=edges, width=1.2, dash="dot", shape="hv")
        data.append(step | {"name": "before"})
    top = ceiling(max(total.max(), 1 if before is None else before.max()))
    marks = [top * part for part in (0, 0.25, 0.5, 0.75, 1)]
    layout = {
        "margin": {**MARGIN, "l": 62},
        "xaxis": confidence_axis(),
        "yaxis": axis((0, top), "predictions", marks, ticktext=[f"{v:,.0f}" for v in marks], anchor="x", titlegap=46),
    }
    confident = wrong[edges[:-1] >= 0.9 - 1e-9].sum()
    return card(
        "histogram",
        {"data": data, "layout": layout},
        title="How confident is it?",
        span=6,
        height=330,
        legend=[["area", "confidence", "right"], ["area", "wrong", "wrong"], ["dot", "text", "previous setting"]],
        note=(
            f"Red at the right end hurts most: {confident:,} confident errors (wrong, and above 90 %). On average it "
            f"says {100 * says:.1f} %, and is right in {100 * right.sum() / total.sum():.1f} %."
        ),
        alt=f"histogram of confidence over {total.sum():,} predictions; {confident:,} are confident errors",
    )


def ceiling(value: float) -> float:
    """The next of 40, 60, 80, 120, 160, 200, 300, 400, 600, ... above: a quarter of it is a number people know."""
    power = 10 ** np.floor(np.log10(max(value, 40) / 4))
    return float(power * ladder(value / power, (4, 6, 8, 12, 16, 20, 30, 40)))


def gaps(table: Reliability, before: Reliability | None) -> dict[str, Any]:
    """By how much each bin over- or under-promises, in the order of confidence."""
    x = np.arange(1, len(table.counts) + 1)
    colors = ["wrong" if gap > 0 else "static" for gap in table.gap]
    data: list[dict[str, Any]] = [
        {"type": "bar", "x": pack(x), "y": pack(table.gap), "width": 0.8, "marker": {"color": colors}}
    ]
    if before is not None:
        dots = line(before.gap, "text", x=np.arange(1, len(before.gap) + 1), name="before")
        data.append(dots | {"mode": "markers", "marker": {"color": "text", "size": 5, "symbol": "circle-open"}})
    largest = max(np.abs(t.gap).max() for t in (table, before) if t is not None)
    high = ladder(1.1 * largest, (0.1, 0.2, 0.4, 1.0))
    low = -high
    marks = [low, low / 2, 0, high / 2, high]
    layout = {
        "margin": MARGIN,
        "xaxis": axis((0.4, len(x) + 0.6), "bin, from low to high confidence", [1, 5, 10, 15], anchor="y"),
        "yaxis": axis((low, high), "confidence − accuracy", marks, anchor="x"),
        "shapes": [across(0, "text", width=1)],
    }
    share = table.counts / table.counts.sum()
    worst = int(np.argmax(share * np.abs(table.gap)))
    targets = []
    for b in range(len(x)):
        label = f"bin {b + 1} adds {share[b] * abs(table.gap[b]):.4f} to the ECE; {bin_label(table, b)}"
        targets.append(target(f"b{b}", label, (b + 0.55, b + 1.45), (low, high)))
    return card(
        "gaps",
        {"data": data, "layout": layout},
        title="Where the error comes from",
        span=4,
        height=260,
        legend=[
            ["area", "wrong", "promises too much"],
            ["area", "static", "too little"],
            ["mark", "text", "previous setting"],
        ],
        note=(
            f"Each bin has as many predictions, so the ECE ({table.ece():.3f} before chance is taken off) is the mean "
            f"height of the bars. Bin {worst + 1} adds most: {share[worst] * abs(table.gap[worst]):.4f}."
        ),
        alt=f"gap between confidence and accuracy in {len(x)} bins, largest share in bin {worst + 1}",
        targets=targets,
    )


def by_severity(id: str, levels: np.ndarray, spreads: dict[str, np.ndarray], words: dict[str, Any]) -> dict[str, Any]:
    """Quartiles (3, S) of a quantity at each severity for each subset: a band, and a line for the median."""
    (low, high), scale = words.pop("span"), words.pop("yaxis")
    data = []
    for name in subsets_of(spreads):
        tint, width = (0.2, 2.2) if name == "all" else (0.1, 1.4)
        first, median, third = np.clip(spreads[name], low, high)
        data += subset_curve(name, levels, first, median, third, tint, width)
    layout = {
        "margin": MARGIN,
        "xaxis": axis((0.7, 5.3), "severity", [1, 2, 3, 4, 5], anchor="y"),
        "yaxis": {**scale, "anchor": "x"},
        "shapes": [across(1, "muted", "dash")] if scale.get("type") != "log" else [],
    }
    legend = [subset(name) for name in subsets_of(spreads)]
    return card(id, {"data": data, "layout": layout}, span=4, height=260, legend=legend, **words)


def heat(
    id: str, values: np.ndarray, cells: tuple[tuple[str, int], ...], span: tuple[float, float], color: str, digits: int,
    **words: Any,
) -> dict[str, Any]:  # fmt: skip
    """One value (C,) of each cell, corruption by severity, tinted over a span and written in; cells may be picked."""
    rows = list(dict.fromkeys(name for name, _ in cells))
    levels = sorted({severity for _, severity in cells})
    if len(cells) != len(rows) * len(levels):
        raise ValueError(f"cells must be every corruption at every severity, got {len(cells)} of them")
    order = np.lexsort(([v for _, v in cells], [rows.index(name) for name, _ in cells]))
    grid = values[order].reshape(len(rows), len(levels))
    tint = TINT * np.clip((grid - span[0]) / (span[1] - span[0]), 0, 1)
    height = len(rows)
    data = [
        {
            "type": "heatmap", "z": [pack(row) for row in tint[::-1]], "x0": 0, "dx": 1, "y0": 0, "dy": 1,
            "zmin": 0, "zmax": 1, "colorscale": [[0, f"{color}/0"], [1, color]], "showscale": False,
        }
    ]  # fmt: skip
    names = [NAMED.get(name, name).replace("_", " ") for name in rows]
    layout = {
        "margin": {"l": 116, "r": 8, "t": 6, "b": 36},
        "xaxis": axis((-0.5, len(levels) - 0.5), "severity", list(range(len(levels))), anchor="y", showgrid=False,
                      ticktext=[str(v) for v in levels]),
        "yaxis": axis((-0.5, height - 0.5), "", list(range(height)), anchor="x", showgrid=False,
                      ticktext=names[::-1]),
    }  # fmt: skip
    texts = [f"{value:.{digits}f}" for value in grid.ravel()]
    cells_of = {"ids": rows, "names": names, "columns": levels, "text": texts}  # the browser makes the targets of it
    size = max(110, 46 + 17 * height)
    return card(id, {"data": data, "layout": layout}, span=6, height=size, grid=cells_of, **words)
