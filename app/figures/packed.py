"""Arrays as plotly's typed arrays {dtype, bdata}: a tenth of JSON's cost, and drawn in full float32 precision."""

from __future__ import annotations

import base64
from typing import Any, TypedDict

import numpy as np


class Packed(TypedDict):
    """An array: base64 of little-endian values."""

    dtype: str  # "f4" float32, "i2" int16
    bdata: str


def pack(values: np.ndarray, dtype: str = "f4") -> Packed:
    """An array for the browser: float32, or "i2" for small whole numbers."""
    return {"dtype": dtype, "bdata": base64.b64encode(np.ascontiguousarray(values, dtype).tobytes()).decode()}


def unpack(packed: Packed) -> np.ndarray:
    """Back again."""
    return np.frombuffer(base64.b64decode(packed["bdata"]), packed["dtype"])


def line(
    y: np.ndarray, color: str, *, axis: str = "", x: np.ndarray | None = None, x0: float = 0, **more: Any
) -> dict[str, Any]:
    """A scatter trace on subplot `axis`: "", "2", ..., or "y2" for another height of the same x.

    Keyword arguments width, dash and shape go to the line, others to the trace.
    """
    style = {key: more.pop(key) for key in ("width", "dash", "shape") if key in more}
    trace: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines",
        "y": pack(y),
        "line": {"color": color, **style},
        **more,
    }
    trace |= {"x0": x0, "dx": 1} if x is None else {"x": pack(x)}
    if axis:
        trace |= {"yaxis": axis} if axis.startswith("y") else {"xaxis": f"x{axis}", "yaxis": f"y{axis}"}
    return trace


def band(low: np.ndarray, high: np.ndarray, color: str, **more: Any) -> list[dict[str, Any]]:
    """The space between two lines, as two traces."""
    return [
        line(low, color, **more) | {"line": {"width": 0, "color": color}, "hoverinfo": "skip"},
        line(high, color, **more)
        | {"line": {"width": 0, "color": color}, "fill": "tonexty", "fillcolor": color, "hoverinfo": "skip"},
    ]
