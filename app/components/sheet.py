"""The sheet: cards and figures that follow a hand, drawn from one message; a bin or cell that is picked comes back.

A figure is a dict: id, title, figure (plotly-shaped), alt, and optionally note, legend, span (of 12 columns), height,
labels (texts inside the plot) and targets (what may be picked, by pointer or keyboard).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.components.loader import common, nothing, register

_sheet = register("knob_sheet", "sheet")


def sheet(
    figures: list[dict[str, Any]],
    *,
    key: str,
    seq: int = 0,
    cards: list[dict[str, Any]] | None = None,
    table: dict[str, Any] | None = None,
    picked: str = "",
    reveal: str = "",
    label: str = "figures",
    on_pick: Callable[[], None] = nothing,
) -> str | None:
    """Mount the sheet; what was picked last comes back as "figure/target" (None: nothing yet), not to be trusted.

    `reveal` is the key of the container in which the answer to a pick appears: the page scrolls to it.
    """
    message = {
        "seq": seq,
        "figures": figures,
        "cards": cards or [],
        "table": table,
        "picked": picked,
        "label": label,
        "reveal": reveal,
    }
    return _sheet(key=key, data={**common(), **message}, default={"pick": None}, on_pick_change=on_pick).pick


def target(
    id: str, label: str, x: tuple[float, float], y: tuple[float, float], axis: str = "", row: int = 0
) -> dict[str, Any]:
    """What may be picked: a rectangle in data coordinates of subplot `axis`; arrow keys go up and down by `row`."""
    return {"id": id, "label": label, "x": list(x), "y": list(y), "axis": axis, "row": row}
