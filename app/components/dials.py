"""Dials for a lesson: the deck with knobs of one's own, and nothing else on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.components.loader import common, nothing, register
from app.knobs import HELP

_dials = register("knob_dials", "controls")


def dials(
    knobs: Sequence[Mapping[str, Any]],
    values: Mapping[str, float],
    *,
    key: str,
    epoch: int,
    seq: int,
    regime: str = "",
    words: str = "",
) -> dict[str, Any] | None:
    """Mount the dials; the enclosing fragment reruns while one turns. None until a hand has touched them."""
    spec = {
        "knobs": [dict(knob) for knob in knobs],
        "presets": [],
        "switches": False,
        "transport": False,
        "speeds": [],
        "help": HELP,
    }
    state = {
        "seq": seq,
        "epoch": epoch,
        "values": {**values, "on": True},
        "regime": regime,
        "words": words,
        "pinned": "",
    }
    return _dials(
        key=key, data={**common(), **state, "spec": spec}, default={"hand": None}, on_hand_change=nothing
    ).hand
