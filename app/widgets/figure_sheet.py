"""The figure sheet: cards and figures that follow the knobs, drawn from one message; a picked bin or cell comes back.

A figure is a dict: id, title, figure (plotly-shaped), alt, and optionally note, legend, span (of 12 columns), height,
targets (what may be picked, by pointer or keyboard) or grid (cells with a text each, all of which may be picked).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.widgets.browser_component import common, register

_sheet = register("knob_sheet", "figure_sheet")


def content(
    figures: list[dict[str, Any]],
    *,
    seq: int = 0,
    cards: list[dict[str, Any]] | None = None,
    table: dict[str, Any] | None = None,
    picked: str = "",
    reveal: str = "",
    label: str = "figures",
    count_picks: bool = False,
) -> dict[str, Any]:
    """What the sheet shows.

    `reveal` is the key of the container in which the answer to a pick appears: the page scrolls to it. With
    `count_picks` a pick ends with "#" and its number, so that the same target may be picked again.
    """
    return {
        "seq": seq,
        "figures": figures,
        "cards": cards or [],
        "table": table,
        "picked": picked,
        "label": label,
        "reveal": reveal,
        "count_picks": count_picks,
    }


def sheet(figures: list[dict[str, Any]], *, key: str, on_pick: Callable[[], None] | None = None, **shown: Any) -> None:
    """Mount the sheet by itself (`shown`: see `content`); `on_pick` runs when something was picked."""
    data = {**common(), **content(figures, **shown)}
    if on_pick is None:
        _sheet(key=key, data=data)
    else:
        _sheet(key=key, data=data, default={"pick": None}, on_pick_change=on_pick)
