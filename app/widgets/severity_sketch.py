"""A field on which severity over time, s(t), is drawn by hand."""

from __future__ import annotations

from app.widgets.browser_component import common, no_callback, register
from app.widgets.untrusted import clamp

POINTS = 60

_sketch = register("knob_sketch", "severity_sketch")


def severity_sketch(values: list[float], epoch: int, *, key: str) -> list[float] | None:
    """Mount it with some severities, which a new epoch replaces; returns those that were drawn, or None."""
    drawn = _sketch(
        key=key,
        data={**common(), "values": values, "epoch": epoch},
        default={"drawn": None},
        on_drawn_change=no_callback,
    ).drawn
    if not isinstance(drawn, list) or len(drawn) != POINTS:
        return None
    return [clamp(value, (0.0, 5.0), 0.0) for value in drawn]
