"""From what a service said to the page's cards and figures. It draws and changes no state."""

from __future__ import annotations

import math
from typing import Any

from app.console.readouts import WITHOUT_KNOB
from app.figures import live_figures
from app.live.watched_service import WatchedService, known
from app.widgets import figure_sheet


def update(watched: WatchedService, setting: str, seq: int) -> dict[str, Any]:
    """The figure sheet of the chosen stream."""
    return figure_sheet.content(
        figures(watched), cards=cards(watched.detail) if watched.chosen else [], seq=seq,
        label=f"stream {watched.chosen}, {setting}" if watched.chosen else "no stream yet",
    )  # fmt: skip


def figures(watched: WatchedService) -> list[dict[str, Any]]:
    """The chosen stream over its last frames; none before its first frame."""
    history, name = watched.history, watched.chosen
    if not name or not len(history.frame):
        return []
    old = " These are the last frames before the service was lost." if watched.lost else ""
    return [
        live_figures.stream_figure(
            history.frame, history.g, history.p_max, history.label, history.bare, watched.classes,
            title=f"{name}: the last {len(history.frame)} frames",
            note=f"Above: the class that is shown, and the one that the frame alone gives.{old}",
            alt=f"class, gate and confidence of stream {name} over its last {len(history.frame)} frames",
        )
    ]  # fmt: skip


def cards(detail: dict[str, Any]) -> list[dict[str, Any]]:
    """The chosen stream's numbers."""
    without = [[WITHOUT_KNOB, number(detail.get("flips_bare"), 1)]]
    return [
        card("flips", "flips per 100 frames", number(detail.get("flips"), 1), without,
             "How often the answer changes from one frame to the next, over the frames shown"),
        card("answer", "answer now", short(detail.get("name") or detail.get("label", "–"))[:24],
             [["confidence", number(detail.get("p_max"), 2)], ["gate", number(detail.get("g"), 2)]],
             "The class that is shown now, how sure the model is, and how open the gate is"),
        card("rate", "frames per second", number(detail.get("rate"), 1),
             [["frames", number(detail.get("frames"), 0)], ["dropped", number(detail.get("dropped"), 0)]],
             "How fast frames arrive; frames that had to give way to newer ones are counted"),
    ]  # fmt: skip


def card(id: str, label: str, now: str, rest: list[list[str]], help: str) -> dict[str, Any]:
    return {"id": id, "label": label, "now": now, "rest": rest, "help": help}


def rows(streams: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """The table's texts, a stream a row, those that flip most first."""
    flips = [known(row.get("flips")) for row in streams]
    order = sorted(range(len(streams)), key=lambda i: -flips[i] if math.isfinite(flips[i]) else 0.0)
    return [
        (short(row.get("stream")), short(row.get("group") or "–"), short(row.get("name") or row.get("label", "–")),
         number(row.get("p_max"), 2), number(row.get("flips"), 1), number(row.get("flips_bare"), 1),
         number(row.get("rate"), 1), number(row.get("dropped", 0), 0), "yes" if row.get("connected") is True else "no")
        for row in (streams[i] for i in order)
    ]  # fmt: skip


def short(value: Any) -> str:
    """A service's word, as much of it as there is room for."""
    return (value if isinstance(value, str) else f"{value!r:.60}")[:60]


def number(value: Any, digits: int) -> str:
    """A dash where there is none."""
    found = known(value)
    return f"{found:,.{digits}f}" if math.isfinite(found) else "–"
