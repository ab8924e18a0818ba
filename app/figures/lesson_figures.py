"""The lessons' figures: each a picture with title, alternative text and note, as the figure sheet draws it."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.figures.figure_parts import MARGIN, across, axis, box, card, circle, note, upright
from app.figures.packed import line

CROSS = {"symbol": "x", "size": 13, "color": "gate", "line": {"width": 3}}
DB = (-46.0, 22.0)  # what a gain axis shows

Window = tuple[float, float]
Bar = tuple[float, float, str]  # frequency, level in dB, "above" or "below"
Track = tuple[str, str, np.ndarray, str]  # name, colour, values (n,), "solid" or "dot"


def step_figure(
    u: np.ndarray, *, seconds: float | None = None, window: Window | None = None, **words: Any
) -> dict[str, Any]:
    """A step response u (n,), over frames, or over seconds at a frame rate; a window (s) where 90 % is wanted."""
    x = np.arange(len(u) + 1) / (seconds or 1)
    way = np.concatenate([[0.0], u])  # at rest when the command jumps
    shapes = [across(1, "command", "dot", 1.5)]
    if window:
        shapes += [box(window, None, "static/0.16"), across(0.9, "static", "dash")]
    layout = {
        "margin": MARGIN,
        "xaxis": axis((0, x[-1]), "seconds after the step" if seconds else "frames after the step", anchor="y"),
        "yaxis": axis((-0.1, 2.0), "part of the way (1: target)", [0, 0.5, 1, 1.5, 2], anchor="x"),
        "shapes": shapes,
    }
    return card("step", {"data": [line(way, "gate", x=x, name="u", width=2.4)], "layout": layout}, **words)


def _poles(p: np.ndarray) -> dict[str, Any]:
    return line(p.imag, "gate", x=p.real, name="poles") | {"mode": "markers", "marker": CROSS}


def s_plane_figure(s: np.ndarray, omega_n: float, **words: Any) -> dict[str, Any]:
    """The s-plane in units of omega_n, so that only the damping shows: poles s (2,), circle of equal omega_n."""
    angle = np.linspace(np.pi / 2, 3 * np.pi / 2, 91)
    arc = line(np.sin(angle), "muted", x=np.cos(angle), width=1.2, dash="dash")
    layout = {
        "margin": MARGIN,
        "xaxis": axis((-3.2, 0.5), "damping, in units of ωₙ", [-3, -2, -1, 0], anchor="y"),
        "yaxis": axis((-1.4, 1.4), "swing, in units of ωₙ", [-1, 0, 1], anchor="x"),
        "shapes": [upright(0, "text"), across(0, "muted", width=1)],
    }
    return card("poles", {"data": [arc, _poles(s / omega_n)], "layout": layout}, **words)


def z_plane_figure(z: np.ndarray, aim: complex, near: float, **words: Any) -> dict[str, Any]:
    """The z-plane: poles z (2,), the unit circle, and a ring where the upper pole is wanted."""
    ring = circle(aim, near, "static", 3, fillcolor="static/0.2")
    layout = {
        "margin": MARGIN,
        "xaxis": axis((-1.1, 1.1), "real part", [-1, 0, 1], anchor="y"),
        "yaxis": axis((-1.1, 1.1), "imaginary part", [-1, 0, 1], anchor="x", scaleanchor="x"),
        "shapes": [circle(0j, 1, "text", 1.3), ring, across(0, "muted", width=1)],
    }
    return card("plane", {"data": [_poles(z)], "layout": layout}, **words)


def gain_figure(
    freq: np.ndarray, gain: np.ndarray, *, marks: dict[str, float], bars: list[Bar], low: float = DB[0], **words: Any
) -> dict[str, Any]:
    """|H| (F,) in dB over cycles/frame, with named frequencies, and bars that the curve is to pass through."""
    shapes = []
    for f, level, side in bars:
        shapes.append(box((f / 1.16, f * 1.16), (level, DB[1]) if side == "above" else (low, level), "static/0.2"))
    shapes += [upright(f, "static", "dot") for f in marks.values()]
    span = (np.log10(freq[0]), np.log10(freq[-1]))
    layout = {
        "margin": MARGIN,
        "xaxis": axis(span, "frequency, cycles/frame", type="log", anchor="y"),
        "yaxis": axis((low, DB[1]), "gain, dB", [t for t in range(-80, 21, 20) if t > low], anchor="x"),
        "shapes": shapes,
        "annotations": [note(name, f, 0.04, "static", xanchor="left", xshift=5) for name, f in marks.items()],
    }
    y = 20 * np.log10(np.maximum(gain, 1e-6))
    return card("gain", {"data": [line(y, "gate", x=freq, name="gain", width=2.4)], "layout": layout}, **words)


def tracks_figure(
    tracks: list[Track], *, span_y: Window, unit: str, shade: tuple[float, float, str] | None = None, **words: Any
) -> dict[str, Any]:
    """Series over frames, with a stretch of them shaded and named."""
    data = []
    for name, color, values, dash in tracks:
        style = {"width": 1.2, "dash": "dot"} if dash == "dot" else {"width": 2.4}
        data.append(line(values, f"{color}/0.75" if dash == "dot" else color, name=name, **style))
    layout: dict[str, Any] = {
        "margin": MARGIN,
        "xaxis": axis((0, len(tracks[0][2]) - 1), "frames", anchor="y"),
        "yaxis": axis(span_y, unit, anchor="x"),
    }
    if shade:
        first, last, name = shade
        layout["shapes"] = [box((first, last), None, "severity/0.16")]
        layout["annotations"] = [note(name, (first + last) / 2, 0.94, "severity")]
    return card("tracks", {"data": data, "layout": layout}, **words)


def samples_figure(
    fine: np.ndarray, lamp: np.ndarray, t: np.ndarray, frames: np.ndarray, u: np.ndarray, **words: Any
) -> dict[str, Any]:
    """A lamp (continuous), its samples at the frames t (s), and the gate that sees nothing else."""
    data = [
        line(lamp, "severity/0.45", x=fine, name="lamp", width=1),
        line(u, "gate", x=t, name="gate", width=2.6),
        line(frames, "text", x=t, name="frames") | {"mode": "markers", "marker": {"color": "text", "size": 5}},
    ]
    layout = {
        "margin": MARGIN,
        "xaxis": axis((0, float(fine[-1])), "seconds", anchor="y"),
        "yaxis": axis((-1.25, 1.25), "brightness", [-1, 0, 1], anchor="x"),
    }
    return card("samples", {"data": data, "layout": layout}, **words)


def growth_figure(
    id: str, size: np.ndarray, omega_n: np.ndarray, wanted: Window | None, **words: Any
) -> dict[str, Any]:
    """|u| (n,) on a logarithmic scale, where its peak is wanted, and the knob's position in a strip below it."""
    low, high = -3.0, 6.0
    data = [
        line(np.clip(size, 10.0**low, 10.0**high), "gate", name="|u|", width=2.2),
        line(omega_n, "under", axis="y2", name="ωₙ", width=1.4, shape="hv"),
    ]
    size_ticks: dict[str, Any] = {
        "tickvals": [1e-3, 1, 1e3, 1e6],
        "ticktext": ["1/1000", "1", "1000", "10⁶"],
        "titlegap": 40,
    }
    layout = {
        "margin": {**MARGIN, "l": 58},
        "xaxis": axis((0, len(size) - 1), "frames", anchor="y2"),
        "yaxis": axis((low, high), "size of u", type="log", domain=[0.26, 1], anchor="x", **size_ticks),
        "yaxis2": axis((0, 3.2), "ωₙ", [0, 3], domain=[0, 0.18], anchor="x", titlegap=40),
        "shapes": [across(1, "command", "dot"), *([box(None, wanted, "static/0.16")] if wanted else [])],
    }
    return card(id, {"data": data, "layout": layout}, **words)


def answers_figure(truth: np.ndarray, answer: np.ndarray, names: tuple[str, ...], **words: Any) -> dict[str, Any]:
    """The class shown at every frame (T,), and the one that is really there (T,), as steps over the classes' names."""
    data = [
        line(truth.astype(float), "command/0.8", name="truth", width=1.4, dash="dot", shape="hv"),
        line(answer.astype(float), "gate", name="answer", width=2.0, shape="hv"),
    ]
    ticks: dict[str, Any] = {"tickvals": list(range(len(names))), "ticktext": list(names)}
    layout = {
        "margin": {**MARGIN, "l": 76},
        "xaxis": axis((0, len(truth) - 1), "frames", anchor="y"),
        "yaxis": axis((-0.5, len(names) - 0.5), anchor="x", **ticks),
    }
    return card("answers", {"data": data, "layout": layout}, **words)


def trade_off_figure(
    points: dict[str, tuple[str, float, float]], wanted: Window, ends: Window, **words: Any
) -> dict[str, Any]:
    """Named points (colour, delay, excess flips), and the corner in which one is wanted; the axes end at `ends`."""
    data, notes = [], []
    for name, (color, *place) in points.items():
        x, y = (min(value, 0.98 * end) for value, end in zip(place, ends, strict=True))
        symbol = {"symbol": "x"} if color == "gate" else {}
        marker = {**symbol, "size": 12, "color": color, "line": {"width": 3}}
        data.append(line(np.array([y]), color, x=np.array([x]), name=name) | {"mode": "markers", "marker": marker})
        notes.append(note(name, x, min(0.95, y / ends[1]), color, xanchor="left" if x < ends[0] / 2 else "right",
                          xshift=9 if x < ends[0] / 2 else -9))  # fmt: skip
    layout = {
        "margin": MARGIN,
        "xaxis": axis((0, ends[0]), "mean delay, frames", anchor="y"),
        "yaxis": axis((0, ends[1]), "excess flips per 100 frames", anchor="x"),
        "shapes": [box((0, wanted[0]), (0, wanted[1]), "static/0.2")],
        "annotations": notes,
    }
    return card("trade", {"data": data, "layout": layout}, **words)


def share_figure(share: np.ndarray, cuts: np.ndarray, **words: Any) -> dict[str, Any]:
    """How much of each new frame is believed (T,), 0 to 1, with the cuts marked."""
    layout = {
        "margin": MARGIN,
        "xaxis": axis((0, len(share) - 1), "frames", anchor="y"),
        "yaxis": axis((0, 1.02), "share of the new frame", [0, 0.5, 1], anchor="x"),
        "shapes": [upright(float(cut), "static", "dot") for cut in cuts],
    }
    return card("share", {"data": [line(share, "gate", name="share", width=1.8)], "layout": layout}, **words)
