"""The calibration page's figures: reliability, confidence, gap per bin, temperature by severity, heat maps."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.figures.parts import MARGIN, across, axis, card
from app.figures.wire import band, line, pack
from knob_core.reliability import Reliability

SUBSETS = {  # name: (colour, words)
    "all": ("confidence", "all"),
    "agree": ("text", "branches agree"),
    "disagree": ("wrong", "branches disagree"),
}
NAMED = {"jpeg_compression": "jpeg", "elastic_transform": "elastic"}


def target(id: str, label: str, x: tuple[float, float], y: tuple[float, float], row: int = 0) -> dict[str, Any]:
    """What may be picked: a rectangle in data coordinates; arrow keys go up and down by `row`."""
    return {"id": id, "label": label, "x": list(x), "y": list(y), "row": row}


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
    for name in [name for name in ("disagree", "agree", "all") if name in tables]:
        table, (color, words) = tables[name], SUBSETS[name]
        data += band(table.low, table.high, f"{color}/0.15", x=table.confidence)
        marks = {"mode": "lines+markers", "marker": {"color": color, "size": 6 if name == "all" else 4.5}}
        width = 2.4 if name == "all" else 1.4
        data.append(line(table.accuracy, color, x=table.confidence, width=width, name=words) | marks)
    whole = tables["all"]
    layout = {
        "margin": MARGIN,
        "xaxis": axis((0, 1), "confidence: what it says", anchor="y"),
        "yaxis": axis((0, 1), "accuracy: how often it is right", anchor="x"),
    }
    bins = range(len(whole.counts))
    return card(
        "reliability",
        {"data": data, "layout": layout},
        title="Does it keep its promises?",
        span=6,
        height=330,
        legend=[["", SUBSETS[name][0], SUBSETS[name][1]] for name in tables]
        + [["dot", "confidence", "before this turn"]],
        note=(
            f"Below the dashed line it promises too much. {len(whole.counts)} bins of about {whole.counts.mean():,.0f} "
            "predictions each; tinted: 95 % intervals. Click a bin to see its pictures."
        ),
        alt=f"reliability diagram: {len(bins)} bins, calibration error {whole.ece_debiased():.3f}",
        targets=[target(f"b{b}", bin_label(whole, b), (whole.edges[b], whole.edges[b + 1]), (0, 1)) for b in bins],
    )


def histogram(edges: np.ndarray, right: np.ndarray, wrong: np.ndarray, before: np.ndarray | None) -> dict[str, Any]:
    """How many predictions have which confidence: right ones below, wrong ones on top of them; counts (B,)."""
    centre, width = (edges[1:] + edges[:-1]) / 2, float(edges[1] - edges[0]) * 0.9
    total = right + wrong
    sizes = np.full(len(centre), width)

    def bars(counts: np.ndarray, color: str) -> dict[str, Any]:
        return {"type": "bar", "x": pack(centre), "y": pack(counts), "width": pack(sizes), "marker": {"color": color}}

    data = [bars(total, "wrong"), bars(right, "confidence")]
    if before is not None:
        step = line(np.append(before, before[-1]), "text/0.7", x=edges, width=1.2, dash="dot", shape="hv")
        data.append(step | {"name": "before"})
    highest = max(total.max(), 1 if before is None else before.max())
    layout = {
        "margin": {**MARGIN, "l": 62},
        "xaxis": axis((0, 1), "confidence", anchor="y"),
        "yaxis": axis((0, ceiling(highest)), "predictions", anchor="x", titlegap=46),
    }
    sure = wrong[edges[:-1] >= 0.9 - 1e-9].sum()
    return card(
        "histogram",
        {"data": data, "layout": layout},
        title="How sure is it?",
        span=6,
        height=330,
        legend=[["area", "confidence", "right"], ["area", "wrong", "wrong"], ["dot", "text", "before this turn"]],
        note=f"Red at the right end hurts most: {sure:,} predictions are more than 90 % sure, and wrong.",
        alt=f"histogram of confidence over {total.sum():,} predictions; {sure:,} are sure and wrong",
    )


def ceiling(value: float) -> float:
    """The next of 1, 2, 5, 10, ... above: an axis that does not tremble with its bars."""
    power = 10 ** np.floor(np.log10(max(value, 1)))
    return float(next(m * power for m in (1, 2, 5, 10) if m * power >= value))


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
    low, high = -0.3, 0.5
    layout = {
        "margin": MARGIN,
        "xaxis": axis((0.4, 15.6), "bin, from unsure to sure", [1, 5, 10, 15], anchor="y"),
        "yaxis": axis((low, high), "confidence − accuracy", [-0.2, 0, 0.2, 0.4], anchor="x"),
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
        legend=[["area", "wrong", "promises too much"], ["area", "static", "too little"], ["mark", "text", "before"]],
        note=f"Bin {worst + 1} adds most to the calibration error (ECE {table.ece():.3f} in all).",
        alt=f"gap between confidence and accuracy in {len(x)} bins, largest share in bin {worst + 1}",
        targets=targets,
    )


def by_severity(id: str, levels: np.ndarray, spreads: dict[str, np.ndarray], words: dict[str, Any]) -> dict[str, Any]:
    """Quartiles (3, S) of a quantity at each severity for each subset; a band for all, medians for each."""
    (low, high), scale = words.pop("span"), words.pop("yaxis")
    data = []
    for name in [name for name in ("disagree", "agree", "all") if name in spreads]:
        quartiles, color = spreads[name], SUBSETS[name][0]
        if name == "all":
            data += band(np.clip(quartiles[0], low, high), np.clip(quartiles[2], low, high), f"{color}/0.2", x=levels)
        marks = {"mode": "lines+markers", "marker": {"color": color, "size": 6}}
        median = np.where(np.isfinite(quartiles[1]), np.minimum(quartiles[1], high), np.nan)
        data.append(line(median, color, x=levels, width=2.2 if name == "all" else 1.4, name=SUBSETS[name][1]) | marks)
    layout = {
        "margin": MARGIN,
        "xaxis": axis((0.7, 5.3), "severity", [1, 2, 3, 4, 5], anchor="y"),
        "yaxis": {**scale, "anchor": "x"},
        "shapes": [across(1, "muted", "dash")] if scale.get("type") != "log" else [],
    }
    legend = [["", SUBSETS[name][0], SUBSETS[name][1]] for name in spreads]
    return card(id, {"data": data, "layout": layout}, span=4, height=260, legend=legend, **words)


def heat(
    id: str, values: np.ndarray, cells: tuple[tuple[str, int], ...], top: float, color: str, digits: int, **words: Any
) -> dict[str, Any]:
    """One value (C,) of each cell, corruption by severity, tinted from 0 to `top` and written in."""
    rows = list(dict.fromkeys(name for name, _ in cells))
    levels = sorted({severity for _, severity in cells})
    grid = np.full((len(rows), len(levels)), np.nan)
    for value, (name, severity) in zip(values, cells, strict=True):
        grid[rows.index(name), levels.index(severity)] = value
    height = len(rows)
    data = [
        {
            "type": "heatmap", "z": [pack(np.nan_to_num(row) / top)], "x0": 0, "dx": 1, "y0": height - 1 - i, "dy": 1,
            "zmin": 0, "zmax": 1, "colorscale": [[0, f"{color}/0"], [1, color]], "showscale": False,
        }
        for i, row in enumerate(grid)
    ]  # fmt: skip
    places = [(levels.index(severity), height - 1 - rows.index(name)) for name, severity in cells]
    texts = [f"{value:.{digits}f}" for value in values]
    strong = ["background" if value / top > 0.62 else "text" for value in values]
    layout = {
        "margin": {"l": 116, "r": 8, "t": 6, "b": 36},
        "xaxis": axis((-0.5, len(levels) - 0.5), "severity", list(range(len(levels))), anchor="y", showgrid=False,
                      ticktext=[str(v) for v in levels]),
        "yaxis": axis((-0.5, height - 0.5), "", list(range(height)), anchor="x", showgrid=False,
                      ticktext=[NAMED.get(name, name).replace("_", " ") for name in reversed(rows)]),
    }  # fmt: skip
    targets = []
    for (name, severity), (x, y), text in zip(cells, places, texts, strict=True):
        label = f"{name.replace('_', ' ')} {severity}: {text}"
        targets.append(target(f"{name}.{severity}", label, (x - 0.5, x + 0.5), (y - 0.42, y + 0.42), height - y))
    labels = {"x": [x for x, _ in places], "y": [y for _, y in places], "text": texts, "color": strong, "fit": True}
    more: dict[str, Any] = {"span": 6, "height": max(110, 46 + 17 * height), "labels": [labels], "targets": targets}
    return card(id, {"data": data, "layout": layout}, **more, **words)
