"""Deck and sheet in one component and one message: what moves with the hand on the calibration page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.components.loader import common, register

_ledger = register("knob_ledger", "calibration")


def ledger(answer: dict[str, Any], *, key: str, on_hand: Callable[[], None], on_pick: Callable[[], None]) -> None:
    """Mount both; `hand` and `pick` of the component's state are what the visitor did, neither to be trusted."""
    data = {**common(), **answer}
    _ledger(key=key, data=data, default={"hand": None, "pick": None}, on_hand_change=on_hand, on_pick_change=on_pick)
