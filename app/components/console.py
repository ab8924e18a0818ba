"""Deck and board in one component and one message: what moves with the hand on the console and on Your stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app import moving
from app.components import board, deck
from app.components.loader import common, nothing, register
from app.desk import Desk
from app.line import Seat
from app.stream import Stream

_console = register("knob_console", "console")


def console(answer: dict[str, Any], *, key: str) -> None:
    """Mount both; `hand` and `view` of the component's state are what the visitor did."""
    data = {**common(), **answer}
    _console(key=key, data=data, default={"hand": None, "view": None}, on_hand_change=nothing, on_view_change=nothing)


def reply(said: Mapping[str, Any], seat: Seat, desk: Desk, stream: Stream, scripts: int) -> dict[str, Any]:
    """What both show after what the visitor did; `scripts` is how often the page's script has run."""
    with desk.lock:
        if "hand" in said:
            desk.take(said["hand"])
        desk.look(said.get("view"))
        message = moving.message(desk, stream)
        regime, words = moving.regime(desk.settings, stream.method)
        dials = deck.content(
            desk.values(), epoch=desk.epoch, seq=desk.seq, body=seat.body, regime=regime, words=words,
            pinned=moving.describe(desk.pin) if desk.pin else "", trained=stream.trained,
        )  # fmt: skip
    return {"deck": dials, "board": {**message, "spec": board.spec(), "runs": [scripts, seat.answers]}}
