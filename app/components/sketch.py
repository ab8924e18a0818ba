"""A sheet to draw s(t) on by hand."""

from __future__ import annotations

from app.components.loader import common, nothing, register
from app.knobs import clamp

POINTS = 60

_sketch = register("knob_sketch", "severity_editor")


def sketch(values: list[float], epoch: int, *, key: str) -> list[float] | None:
    """Mount the sheet with some severities on it, which a new epoch exchanges; those that were drawn, or None."""
    drawn = _sketch(
        key=key, data={**common(), "values": values, "epoch": epoch}, default={"drawn": None}, on_drawn_change=nothing
    ).drawn
    if not isinstance(drawn, list) or len(drawn) != POINTS:
        return None
    return [clamp(value, (0.0, 5.0), 0.0) for value in drawn]
