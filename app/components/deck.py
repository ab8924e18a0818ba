"""The deck: two knobs, presets, switches and transport; what the hand does comes back as one dict.

The browser is not trusted: `Desk.take` reads and clamps what comes back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.components.loader import common, nothing, register
from app.knobs import HELP, KNOBS, SPEEDS, presets

_deck = register("knob_deck", "deck")


def deck(
    values: dict[str, Any],
    *,
    key: str,
    epoch: int,
    seq: int = 0,
    regime: str = "",
    words: str = "",
    pinned: str = "",
    trained: tuple[float, float] | None = None,
    switches: bool = True,
    transport: bool = True,
    on_hand: Callable[[], None] = nothing,
) -> dict[str, Any] | None:
    """Mount the deck; the enclosing fragment reruns while a knob turns. None until a hand has touched it."""
    marks = dict(zip(("zeta", "omega_n"), trained, strict=True)) if trained else {}
    spec = {
        "knobs": [{**knob, "trained": marks.get(knob["id"])} for knob in KNOBS],
        "presets": presets(trained),
        "switches": switches,
        "transport": transport,
        "speeds": SPEEDS,
        "help": HELP,
    }
    state = {"seq": seq, "epoch": epoch, "values": values, "regime": regime, "words": words, "pinned": pinned}
    result = _deck(key=key, data={**common(), **state, "spec": spec}, default={"hand": None}, on_hand_change=on_hand)
    return result.hand
