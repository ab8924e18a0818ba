"""Export: the scope's numbers and the compared settings as CSV; read-outs, scope and panel as one HTML page."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from app.console import compared, display
from app.console.console_state import ConsoleState
from app.console.outcome import compare, evaluate
from app.console.readouts import READOUTS
from app.console.setting_words import describe
from app.console.shown_stream import ShownStream
from app.figures.figure_colours import colour, painted
from app.figures.packed import unpack
from app.widgets.untrusted import spreadsheet_cell, spreadsheet_comment
from knob_core.metrics import quartiles


def csv_text(state: ConsoleState, stream: ShownStream) -> str:
    """One row a frame of what the scope shows; medians and quartiles over the shown image's paths.

    "nan" where there is no number: a severity or a label that is not known, frames that a live run has not reached.
    """
    rows = stream.rows()
    with state.lock:
        response, settings = evaluate(state, stream).response, state.settings
        curves = display.curves(state, stream, response)
    quarters = {name: quartiles(values) for name, values in curves.items()}
    without = stream.without_knob
    arrived = response.predicted[rows.start] >= 0
    labelled = (stream.branches.frame_labels[rows] >= 0).any(axis=0)

    def names(classes: np.ndarray) -> list[str]:
        return [spreadsheet_cell(stream.class_name(k)) for k in classes]

    columns: dict[str, Any] = {
        "frame": np.arange(stream.frames),
        "severity": np.full(stream.frames, np.nan) if stream.drawn_severity is None else stream.drawn_severity,
        "truth": names(stream.frame_truth),
        **({"gate_without_knob": np.median(without.g[rows], axis=0)} if stream.gated else {}),
        **{
            f"{name}{end}": quarters[name][i]
            for name in quarters for i, end in ((1, ""), (0, "_q1"), (2, "_q3"))
        },
        "share_disagreeing": np.where(arrived, stream.disagrees(response)[rows].mean(axis=0), np.nan),
        "share_wrong": np.where(arrived & labelled, stream.share_wrong(response), np.nan),
        "confidence_without_knob": np.median(without.p_max[rows], axis=0),
        "share_wrong_without_knob": np.where(labelled, stream.share_wrong(without), np.nan),
        "predicted_first_path": names(response.predicted[rows.start]),
    }  # fmt: skip
    text = io.StringIO()
    text.write(f"# {spreadsheet_comment(stream.title)}; {describe(settings)}\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for values in zip(*columns.values(), strict=True):
        writer.writerow([v if isinstance(v, (str, np.integer)) else f"{v:.6g}" for v in values])
    return text.getvalue()


def compared_csv(state: ConsoleState, stream: ShownStream) -> str:
    """The present setting, none, and every pin, with all measures; in the order in which the table shows them."""
    with state.lock:
        rows = compared.ordered(compare(state, stream), state.view.sort)
    return compared.csv_text(rows, stream.title)


def html_text(state: ConsoleState, stream: ShownStream, theme: str = "light") -> str:
    """Read-outs, scope and panel as a page that needs nothing else: plotly is inside."""
    import plotly.io as pio

    with state.lock:
        sent = display.update(state, stream, evaluate(state, stream))
    base = stream.background()["figure"]
    layout = {**base["layout"], "title": {"text": escape(sent["caption"])}, "annotations": []}
    layout |= {name: {**layout[name], **change} for name, change in sent["scope"]["axes"].items()}
    layout["shapes"] = [*layout["shapes"], *sent["scope"]["shapes"]]
    layout["xaxis"] = {**layout["xaxis"], "title": {"text": "frame"}}
    scope: dict[str, Any] = {
        "data": [_for_plotly(trace) for trace in (*base["data"], *sent["scope"]["data"])],
        "layout": layout,
    }
    parts = [_table([["", "now"], *([READOUTS[card["id"]].label, card["now"]] for card in sent["readouts"])])]
    for i, figure in enumerate(part for part in (scope, sent["panel"]["figure"]) if part):
        figure = _without_markup(painted(figure, theme))
        figure["layout"] |= {
            "margin": {"l": 70, "r": 20, "t": 50 if i == 0 else 20, "b": 45},
            "height": 560 if i == 0 else 340,
            "showlegend": True,
        }
        parts.append(
            pio.to_html(figure, full_html=False, include_plotlyjs=i == 0, validate=True, config={"displaylogo": False})
        )
    if "compare" in sent["panel"]:
        table = sent["panel"]["compare"]
        rows = [[row["name"], row["setting"], *row["cells"]] for row in table["rows"]]
        parts.append(_table([["name", "memory, mode", *(label for _, label, _ in table["columns"])], *rows]))
    text, paper = colour("text", theme), colour("background", theme)
    style = f"body{{font-family:sans-serif;color:{text};background:{paper}}}td,th{{padding:2px 12px;text-align:left}}"
    head = f"<meta charset='utf-8'><title>Knob</title><style>{style}</style>"
    return f"<!doctype html><html lang='en'><head>{head}</head><body>{''.join(parts)}</body></html>"


def _table(rows: Sequence[Sequence[str]]) -> str:
    """An HTML table whose first row is a heading; every text is escaped."""
    lines = []
    for i, row in enumerate(rows):
        kind = "td" if i else "th"
        lines.append("<tr>" + "".join(f"<{kind}>{escape(cell)}</{kind}>" for cell in row) + "</tr>")
    return f"<table>{''.join(lines)}</table>"


def _without_markup(figure: dict[str, Any]) -> dict[str, Any]:
    """Names of pins are untrusted, and plotly takes tags for markup."""
    layout = figure["layout"]
    axes = {name: part for name, part in layout.items() if isinstance(part, dict) and "ticktext" in part}
    named = [{**trace, "name": escape(trace["name"], False)} if "name" in trace else trace for trace in figure["data"]]
    ticks = {name: {**axis, "ticktext": [escape(t, False) for t in axis["ticktext"]]} for name, axis in axes.items()}
    notes = [{**note, "text": escape(note["text"], False)} for note in layout.get("annotations", [])]
    return {**figure, "data": named, "layout": {**layout, **ticks, "annotations": notes}}


def _for_plotly(trace: dict[str, Any]) -> dict[str, Any]:
    """A trace of ours as plotly wants it: arrays inside a list unpacked, traces without a name out of the legend."""
    packed = {"z": [unpack(row).tolist() for row in trace["z"]]} if trace["type"] == "heatmap" else {}
    return {**trace, **packed, "showlegend": "name" in trace and trace["type"] == "scatter"}
