"""What the deck shows: two knobs, presets, switches and transport; what the hand does comes back as one dict.

The browser is not trusted: `Desk.take` reads and clamps what comes back.
"""

from __future__ import annotations

from typing import Any

from app.knobs import HELP, KNOBS, SPEEDS, presets


def content(
    values: dict[str, Any],
    *,
    epoch: int,
    seq: int = 0,
    body: float = 0.0,
    regime: str = "",
    words: str = "",
    pinned: str = "",
    trained: tuple[float, float] | None = None,
    switches: bool = True,
    transport: bool = True,
) -> dict[str, Any]:
    """What the deck shows: values that are obeyed on a new epoch, the receipt `seq`, words about the regime.

    `body` is how long Python took, in ms: the deck may then send one value ahead of the receipt.
    """
    marks = dict(zip(("zeta", "omega_n"), trained, strict=True)) if trained else {}
    spec = {
        "knobs": [{**knob, "trained": marks.get(knob["id"])} for knob in KNOBS],
        "presets": presets(trained),
        "switches": switches,
        "transport": transport,
        "speeds": SPEEDS,
        "help": HELP,
    }
    state = {
        "seq": seq,
        "body": body,
        "epoch": epoch,
        "values": values,
        "regime": regime,
        "words": words,
        "pinned": pinned,
    }
    return {**state, "spec": spec}
