"""Export: the scope's numbers as CSV, and scope and panel as one HTML page."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np

from app.console import display
from app.console.console_state import ConsoleState
from app.console.outcome import evaluate
from app.console.setting_words import describe
from app.console.shown_stream import ShownStream
from app.figures.figure_colours import painted
from app.figures.packed import unpack
from knob_core.metrics import quartiles


def csv_text(state: ConsoleState, stream: ShownStream) -> str:
    """One row a frame of what the scope shows; medians and quartiles over the shown image's paths."""
    rows = stream.rows()
    with state.lock:
        response, settings = evaluate(state, stream).response, state.settings
    g, p = quartiles(response.g[rows]), quartiles(response.p_max[rows])
    without = stream.without_knob
    names = stream.class_name
    columns: dict[str, Any] = {
        "frame": np.arange(stream.frames),
        "severity": stream.branches.severity,
        "truth": [names(k) for k in stream.frame_truth],
        "command": np.median(without.g[rows], axis=0),
        "gate": g[1], "gate_q1": g[0], "gate_q3": g[2],
        "confidence": p[1], "confidence_q1": p[0], "confidence_q3": p[2],
        "share_wrong": stream.share_wrong(response),
        "confidence_without_knob": np.median(without.p_max[rows], axis=0),
        "share_wrong_without_knob": stream.share_wrong(without),
        "predicted_first_path": [names(k) for k in response.predicted[rows.start]],
    }  # fmt: skip
    text = io.StringIO()
    text.write(f"# {stream.title}; {describe(settings)}\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for values in zip(*columns.values(), strict=True):
        writer.writerow([v if isinstance(v, (str, np.integer)) else f"{v:.6g}" for v in values])
    return text.getvalue()


def html_text(state: ConsoleState, stream: ShownStream, theme: str = "light") -> str:
    """Scope and panel as a page that needs nothing else: plotly is inside."""
    import plotly.io as pio

    with state.lock:
        sent = display.update(state, stream, evaluate(state, stream))
    base = stream.background()["figure"]
    layout = {**base["layout"], "title": {"text": sent["caption"]}, "annotations": []}
    layout |= {name: {**layout[name], **change} for name, change in sent["scope"]["axes"].items()}
    layout["shapes"] = [*layout["shapes"], *sent["scope"]["shapes"]]
    layout["xaxis"] = {**layout["xaxis"], "title": {"text": "frame"}}
    scope: dict[str, Any] = {
        "data": [_for_plotly(trace) for trace in (*base["data"], *sent["scope"]["data"])],
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


def _for_plotly(trace: dict[str, Any]) -> dict[str, Any]:
    """A trace of ours as plotly wants it: arrays inside a list unpacked, traces without a name out of the legend."""
    packed = {"z": [unpack(row).tolist() for row in trace["z"]]} if trace["type"] == "heatmap" else {}
    return {**trace, **packed, "showlegend": "name" in trace and trace["type"] == "scatter"}
