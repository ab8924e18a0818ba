"""What an operator takes away: the scope's numbers as CSV, the figures as one HTML page, the setting as TOML."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np

from app.desk import Desk
from app.figures.palette import painted
from app.figures.wire import unpack
from app.moving import describe, message, quartiles
from app.stream import Stream
from knob_core.data import CLASSES
from knob_core.response import Response, respond


def csv_text(desk: Desk, stream: Stream) -> str:
    """One row a frame of what the scope shows; medians and quartiles over the shown image's paths."""
    rows = stream.rows()
    response = shown_response(desk, stream)
    g, p = quartiles(response.g[rows]), quartiles(response.p_max[rows])
    ghost = stream.frame_by_frame
    columns: dict[str, Any] = {
        "frame": np.arange(stream.frames),
        "severity": stream.branches.severity,
        "command": np.median(ghost.g[rows], axis=0),
        "gate": g[1], "gate_q1": g[0], "gate_q3": g[2],
        "confidence": p[1], "confidence_q1": p[0], "confidence_q3": p[2],
        "share_wrong": stream.share_wrong(response),
        "confidence_frame_by_frame": np.median(ghost.p_max[rows], axis=0),
        "share_wrong_frame_by_frame": stream.share_wrong(ghost),
        "predicted_first_path": [CLASSES[k] if k >= 0 else "" for k in response.predicted[rows.start]],
    }  # fmt: skip
    text = io.StringIO()
    text.write(f"# {stream.title}; {describe(desk.settings)}\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for values in zip(*columns.values(), strict=True):
        writer.writerow([v if isinstance(v, (str, np.integer)) else f"{v:.6g}" for v in values])
    return text.getvalue()


def shown_response(desk: Desk, stream: Stream) -> Response:
    """What is on the scope: the live run where there is one, the whole stream otherwise."""
    if desk.live is not None and desk.live.response is not None:
        return desk.live.response
    return respond(stream.branches, desk.settings, stream.method)[0]


def html_text(desk: Desk, stream: Stream, theme: str = "light") -> str:
    """Scope and panel as a page that needs nothing else: plotly is inside."""
    import plotly.io as pio

    with desk.lock:
        sent = message(desk, stream)
    base = stream.tape()["figure"]
    layout = {**base["layout"], "title": {"text": sent["caption"]}, "annotations": []}
    layout["xaxis"] = {**layout["xaxis"], "title": {"text": "frame"}}
    scope: dict[str, Any] = {
        "data": [_alone(trace) for trace in (*base["data"], *sent["scope"]["data"])],
        "layout": layout,
    }
    parts = []
    for i, figure in enumerate(part for part in (scope, sent["panel"]["figure"]) if part):
        figure = painted(figure, theme)
        figure["layout"] |= {
            "margin": {"l": 70, "r": 20, "t": 50 if i == 0 else 20, "b": 45},
            "height": 560 if i == 0 else 340,
            "showlegend": True,
        }
        parts.append(
            pio.to_html(figure, full_html=False, include_plotlyjs=i == 0, validate=True, config={"displaylogo": False})
        )
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>Knob</title><body>{''.join(parts)}</body></html>"
    )


def _alone(trace: dict[str, Any]) -> dict[str, Any]:
    """A trace of ours for plotly alone: it unpacks no array inside a list, and would name the nameless."""
    packed = {"z": [unpack(row).tolist() for row in trace["z"]]} if trace["type"] == "heatmap" else {}
    return {**trace, **packed, "showlegend": "name" in trace}
