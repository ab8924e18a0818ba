"""The Tune page's figures: the map of a measure over both knobs, and the frontier of flips against delay.

The map is drawn in places of the grid, on which both knobs are logarithmic. Its cells and the frontier's settings can
be picked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from app.figures.figure_parts import MARGIN, across, axis, card, note, upright
from app.figures.packed import line, pack

MET = 0.35  # opacity of the settings that meet every goal
TINT = 0.62  # of the map's colour, at most: marks and lines on it must be seen, light and dark
TICKS = {"zeta": (0.05, 0.1, 0.2, 0.5, 1, 2, 3), "omega_n": (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 3)}
RIVALS = ("severity", "critical", "under", "over")  # colours, drawn thin
SIZE = 356  # pixels high
NEAR = 4  # cells between two marks whose names would cover each other


class Mark(NamedTuple):
    """A setting that is pointed out."""

    name: str  # "now", "home", "A", or what was found
    zeta: float
    omega_n: float
    color: str
    symbol: str = ""  # a filled circle where empty


class IsoLine(NamedTuple):
    """Where a goal's limit runs, in places of the grid."""

    words: str
    x: np.ndarray  # (P,) NaN between pieces
    y: np.ndarray  # (P,)
    dash: str


def place(value: float, ends: np.ndarray, count: int) -> float:
    """A knob's value as a place on the map's axis, 0 to count - 1."""
    return float(np.log(value / ends[0]) / np.log(ends[-1] / ends[0]) * (count - 1))


def cells(values: np.ndarray, zeta: np.ndarray, omega_n: np.ndarray, count: int) -> np.ndarray:
    """A coarse level (A, B) as count x count cells, each with the nearest setting's value."""
    grid = np.arange(count)
    rows, columns = (
        np.abs(grid[:, None] - np.array([place(v, axis_, count) for v in axis_])).argmin(1) for axis_ in (zeta, omega_n)
    )
    return values[np.ix_(rows, columns)]


def knob_axis(name: str, ends: np.ndarray, count: int, title: str, anchor: str) -> dict[str, Any]:
    """A logarithmic knob in places."""
    ticks = [value for value in TICKS[name] if ends[0] * 0.999 <= value <= ends[-1] * 1.001]
    where = [place(value, ends, count) for value in ticks]
    words = [f"{value:g}" for value in ticks]
    return axis((-0.5, count - 0.5), title, where, anchor=anchor, showgrid=False, ticktext=words)


def settings_map(
    shade: np.ndarray, meets: np.ndarray, text: Sequence[str], zeta: np.ndarray, omega_n: np.ndarray, count: int,
    marks: Sequence[Mark], lines: Sequence[IsoLine], *, title: str, words: str, alt: str,
) -> dict[str, Any]:  # fmt: skip
    """`shade` (count, count) in [0, 1], 1 is worst; `meets` says where all goals are met.

    `text` is each cell's value in words, row by row from the top.
    """
    data = [_layer(TINT * np.clip(np.nan_to_num(shade), 0, 1), "wrong"), _layer(MET * meets, "static")]
    data += [line(iso.y, "text", x=iso.x, width=2, dash=iso.dash, name=iso.words) for iso in lines if len(iso.x)]
    spots = [(place(mark.omega_n, omega_n, count), place(mark.zeta, zeta, count)) for mark in marks]
    data += [_marker(mark, *spot) for mark, spot in zip(marks, spots, strict=True)]
    layout = {
        "margin": MARGIN,
        "xaxis": knob_axis("omega_n", omega_n, count, "natural frequency ωₙ, rad/frame (slow → alert)", "y"),
        "yaxis": knob_axis("zeta", zeta, count, "damping ζ (nervous → calm)", "x"),
        "annotations": _names([mark.name for mark in marks], spots, count),
    }
    rows = np.geomspace(zeta[0], zeta[-1], count)[::-1]
    grid = {
        "ids": [str(i) for i in reversed(range(count))],
        "names": [f"ζ {value:.3g}, ωₙ" for value in rows],
        "columns": [f"{value:.3g}" for value in np.geomspace(omega_n[0], omega_n[-1], count)],
        "text": list(text),
        "dense": True,
    }
    legend = [["area", "wrong", "worse"]]
    legend += [["area", "static", "meets every goal"]] if meets.any() else []
    legend += [[iso.dash or "line", "text", iso.words] for iso in lines]
    return card("map", {"data": data, "layout": layout}, title=title, alt=alt, note=words, span=7, height=SIZE,
                legend=legend, grid=grid)  # fmt: skip


def _layer(tint: np.ndarray, color: str) -> dict[str, Any]:
    """Cells whose values are opacities of one colour."""
    return {
        "type": "heatmap", "z": [pack(row) for row in tint], "x0": 0, "dx": 1, "y0": 0, "dy": 1, "ygap": 0,
        "zmin": 0, "zmax": 1, "colorscale": [[0, f"{color}/0"], [1, color]], "showscale": False,
    }  # fmt: skip


def _marker(mark: Mark, x: float, y: float) -> dict[str, Any]:
    marker: dict[str, Any] = {"color": mark.color, "size": 11}
    if mark.symbol:
        marker |= {"symbol": mark.symbol, "line": {"width": 2.5}}
    return line(np.array([y]), mark.color, x=np.array([x]), name=mark.name) | {"mode": "markers", "marker": marker}


def _names(names: Sequence[str], spots: Sequence[tuple[float, float]], count: int) -> list[dict[str, Any]]:
    """A text beside each mark, the last one's first; marks that lie nearly on each other share one."""
    texts: dict[tuple[float, float], str] = {}
    for name, (x, y) in reversed(list(zip(names, spots, strict=True))):
        shared = next((at for at in texts if abs(at[0] - x) < NEAR and abs(at[1] - y) < NEAR), None)
        if shared:
            texts[shared] += f", {name}"
        else:
            texts[x, y] = name
    return [_name(text, x, y, count) for (x, y), text in texts.items()]


def _name(text: str, x: float, y: float, count: int) -> dict[str, Any]:
    left = x < 0.8 * count
    return note(text, x, y, "text", yref="y", xanchor="left" if left else "right", xshift=9 if left else -9,
                yshift=8)  # fmt: skip


def frontier(
    delay: np.ndarray, flips: np.ndarray, labels: Sequence[str], named: Mapping[str, int],
    rivals: Sequence[tuple[str, np.ndarray, np.ndarray]], marks: Sequence[tuple[str, float, float, str, str]],
    limits: tuple[float | None, float | None], *, words: str, alt: str,
) -> dict[str, Any]:  # fmt: skip
    """Settings (F,) by growing delay; rivals as (name, delay, flips); marks as (name, delay, flips, colour, symbol).

    `limits` are the goals of (delay, flips). Both axes are logarithmic; fewer than 0.02 flips and less than
    0.1 frames are drawn at that end.
    """
    few = 0.02
    every = [
        (delay, flips),
        *((d, f) for _, d, f in rivals),
        *((np.array([d]), np.array([f])) for _, d, f, *_ in marks),
    ]
    x_span = _span([d for d, _ in every], limits[0], (0.1, 30.0))
    y_span = _span([f for _, f in every], limits[1], (few, 30.0))
    data: list[dict[str, Any]] = []
    for color, (name, d, f) in zip(RIVALS, rivals, strict=False):
        data.append(line(_clip(f, y_span), f"{color}/0.7", x=_clip(d, x_span), width=1.4, name=name))
    own = line(_clip(flips, y_span), "gate", x=_clip(delay, x_span), width=2.2, name="Knob")
    data.append(own | {"mode": "lines+markers", "marker": {"color": "gate", "size": 5}})
    notes = []
    for text, spot in _joined(named).items():
        at = _clip(delay[[spot]], x_span), _clip(flips[[spot]], y_span)
        data.append(line(at[1], "gate", x=at[0]) | {"mode": "markers", "marker": {"color": "gate", "size": 11}})
        notes.append(_tag(text, at[0][0], at[1][0], x_span, "gate"))
    for name, late, often, color, symbol in marks:
        if not (np.isfinite(late) and np.isfinite(often)):
            continue
        spot_x, spot_y = (float(_clip(v, span)) for v, span in ((late, x_span), (often, y_span)))
        data.append(_marker(Mark(name, 0, 0, color, symbol), spot_x, spot_y))
        notes.append(_tag(name, spot_x, spot_y, x_span, "text", below=True))
    shapes = []
    if limits[0] is not None:
        shapes.append(upright(max(limits[0], 10 ** x_span[0]), "text", "dot"))
    if limits[1] is not None:
        shapes.append(across(max(limits[1], 10 ** y_span[0]), "text", "dash"))
    layout = {
        "margin": MARGIN,
        "xaxis": _log_axis(x_span, "frames to a new class, mean", "y"),
        "yaxis": _log_axis(y_span, "excess flips per 100 frames", "x"),
        "shapes": shapes,
        "annotations": notes,
    }
    edges = np.concatenate([[10 ** x_span[0]], np.sqrt(_clip(delay[1:], x_span) * _clip(delay[:-1], x_span)),
                            [10 ** x_span[1]]])  # fmt: skip
    targets = [
        {"id": f"f{i}", "label": label, "x": [float(edges[i]), float(edges[i + 1])], "row": 0,
         "y": [10 ** y_span[0], 10 ** y_span[1]]}
        for i, label in enumerate(labels) if edges[i + 1] > edges[i]
    ]  # fmt: skip
    legend = [
        ["line", "gate", "Knob"],
        *(["line", color, name] for color, (name, *_) in zip(RIVALS, rivals, strict=False)),
    ]
    if limits[0] is not None or limits[1] is not None:
        legend.append(["dash", "text", "goals"])
    return card("frontier", {"data": data, "layout": layout}, title="How calm can I be before I am late?", alt=alt,
                note=words, span=5, height=SIZE, legend=legend, targets=targets)  # fmt: skip


def _clip(values: Any, span: tuple[float, float]) -> Any:
    """Within a logarithmic axis."""
    return np.clip(values, 10 ** span[0], 10 ** span[1])


def _span(values: Sequence[np.ndarray], limit: float | None, within: tuple[float, float]) -> tuple[float, float]:
    """The range of a logarithmic axis, as exponents of ten."""
    finite = np.concatenate([np.ravel(v) for v in values] + ([np.array([limit])] if limit else []))
    finite = np.clip(finite[np.isfinite(finite)], *within)
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else within
    return float(np.log10(low / 1.15)), float(np.log10(max(high, low * 2) * 1.25))


def _log_axis(span: tuple[float, float], title: str, anchor: str) -> dict[str, Any]:
    ticks = [m * 10.0**e for e in range(-3, 3) for m in (1, 2, 5)]
    ticks = [t for t in ticks if 10 ** span[0] <= t <= 10 ** span[1]]
    return axis(span, title, ticks, anchor=anchor, type="log", ticktext=[f"{t:g}" for t in ticks])


def _joined(named: Mapping[str, int]) -> dict[str, int]:
    """Names that fall on one setting share a tag."""
    tags: dict[int, str] = {}
    for name, spot in named.items():
        tags[spot] = f"{tags[spot]}, {name}" if spot in tags else name
    return {text: spot for spot, text in tags.items()}


def _tag(text: str, x: float, y: float, span: tuple[float, float], color: str, below: bool = False) -> dict[str, Any]:
    """A name beside its point; at the left of it where the axis ends soon."""
    left = np.log10(x) < span[0] + 0.7 * (span[1] - span[0])
    return note(text, float(x), float(y), color, yref="y", xanchor="left" if left else "right",
                xshift=9 if left else -9, yshift=-10 if below else 9)  # fmt: skip
