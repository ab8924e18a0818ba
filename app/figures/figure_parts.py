"""Small parts that figures are put together from: axes, rules, boxes, notes."""

from __future__ import annotations

from typing import Any

MARGIN = {"l": 52, "r": 12, "t": 8, "b": 36}


def axis(span: tuple[float, float], title: str = "", ticks: list[float] | None = None, **more: Any) -> dict[str, Any]:
    """An axis of a subplot; logarithmic ones take exponents, as in plotly."""
    out: dict[str, Any] = {"range": [float(v) for v in span], **more}
    if title:
        out["title"] = {"text": title}
    if ticks is not None:
        out["tickvals"] = ticks
    return out


def across(y: float, color: str, dash: str = "solid", width: float = 1.3) -> dict[str, Any]:
    """A level line through the whole subplot."""
    ends = {"xref": "x domain", "yref": "y", "x0": 0, "x1": 1, "y0": y, "y1": y}
    return {"type": "line", **ends, "line": {"color": color, "dash": dash, "width": width}}


def upright(x: float, color: str, dash: str = "solid") -> dict[str, Any]:
    """An upright line through the whole subplot."""
    ends = {"xref": "x", "yref": "y domain", "x0": x, "x1": x, "y0": 0, "y1": 1}
    return {"type": "line", **ends, "line": {"color": color, "dash": dash, "width": 1.3}}


def box(x: tuple[float, float] | None, y: tuple[float, float] | None, fill: str) -> dict[str, Any]:
    """A tinted rectangle behind everything; None: all of that axis."""
    (x0, x1), (y0, y1) = x or (0, 1), y or (0, 1)
    refs = {"xref": "x" if x else "x domain", "yref": "y" if y else "y domain"}
    corners = {"x0": x0, "x1": x1, "y0": y0, "y1": y1}
    return {"type": "rect", **refs, **corners, "fillcolor": fill, "line": {"width": 0}, "layer": "below"}


def circle(centre: complex, radius: float, color: str, width: float, **more: Any) -> dict[str, Any]:
    """A circle in data coordinates, behind everything."""
    x, y = centre.real, centre.imag
    corners = {"x0": x - radius, "x1": x + radius, "y0": y - radius, "y1": y + radius}
    return {"type": "circle", **corners, "line": {"color": color, "width": width}, "layer": "below", **more}


def note(text: str, x: float, y: float, color: str, **more: Any) -> dict[str, Any]:
    """A word in the plot; x in data, y as a share of the subplot's height."""
    place = {"xref": "x", "x": x, "yref": "y domain", "y": y, "showarrow": False}
    return {"text": text, **place, "font": {"color": color, "weight": 600}, **more}


def card(id: str, figure: dict[str, Any], *, title: str, alt: str, note: str = "", **more: Any) -> dict[str, Any]:
    """A figure with what stands around it, as the figure sheet draws it."""
    return {"id": id, "figure": figure, "title": title, "alt": alt, "note": note, "span": 12, "height": 300, **more}
