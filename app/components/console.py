"""Deck and board in one component and one message: what moves with the hand on the console."""

from __future__ import annotations

from typing import Any

from app.components import board
from app.components.loader import common, nothing, register

_console = register("knob_console", "console")


def console(deck_content: dict[str, Any], message: dict[str, Any], *, key: str) -> None:
    """Mount both; `hand` and `view` of the component's state are what the visitor did: `Desk.take`, `Desk.look`."""
    data = {**common(), "deck": deck_content, "board": {**message, "spec": board.spec()}}
    _console(key=key, data=data, default={"hand": None, "view": None}, on_hand_change=nothing, on_view_change=nothing)
