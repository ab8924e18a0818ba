"""The board: read-outs, scope, film strip and open panel in one message; and the tape with what no knob changes."""

from __future__ import annotations

from typing import Any

from app.components.loader import common, register
from app.figures.bode import UNITS
from app.panels import PANELS

_tape = register("knob_tape", "stream_cache")


def tape(content: dict[str, Any], *, key: str) -> None:
    """Leave what no knob changes in the page; mount it outside the fast fragment."""
    _tape(key=key, data={**common(), **content}, height=1)


def spec() -> dict[str, Any]:
    """The board's tabs and units."""
    panels = [{"id": id, "label": label, "help": help} for id, (label, help) in PANELS.items()]
    return {"panels": panels, "units": UNITS}
