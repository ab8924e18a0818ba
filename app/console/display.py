"""From numbers to the display's update: scope, film strip, open panel, read-outs. It draws and changes no state."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from app.console import readouts
from app.console.console_state import ConsoleState
from app.console.outcome import Outcome, quartiles
from app.console.panels import PANELS, PanelInput, panel
from app.console.protocol import DisplayConstants, FilmUpdate, ScopeUpdate
from app.console.readouts import READOUTS, WITHOUT_KNOB
from app.console.setting_words import describe
from app.console.shown_stream import ShownStream
from app.figures import scope
from app.figures.bode_plot import UNITS
from app.figures.packed import pack

LEGEND = {  # kind: [label, help]
    "now": ["median of the paths", "A path is one draw of the noise over the same picture; this is their median"],
    "band": ["middle half", "From the first to the third quartile of the paths"],
    "ghost": [WITHOUT_KNOB, "Without inertia and memory: the gate σ(u*), and the confidence that it gives"],
    "wrong": ["share wrong", "How many of the paths are wrong at a frame: now, and without Knob"],
    "pin": ["A", "The setting that you pinned"],
    "turn": ["you turned", "Where a knob was turned while the stream was playing"],
}


def constants() -> DisplayConstants:
    """Tabs, units, labels and help."""
    return {
        "panels": [{"id": id, "label": label, "help": help} for id, (label, help) in PANELS.items()],
        "units": list(UNITS),
        "readouts": [{"id": r.id, "label": r.label, "help": r.help} for r in READOUTS],
        "legend": LEGEND,
    }


def update(state: ConsoleState, stream: ShownStream, outcome: Outcome) -> dict[str, Any]:
    """A DisplayUpdate without `runs`."""
    rows = stream.rows()
    shown = PanelInput(
        state.settings, stream.method, outcome.response.u[rows], stream.branches.u_star[rows],
        stream.branches.severity, outcome.newest, state.pin,
    )  # fmt: skip
    now = state.now or outcome.without_knob
    return {
        "seq": state.seq,
        "stream_id": stream.id,
        "view": state.view_taken(),
        "caption": f"{stream.title}   {describe(state.settings)}",
        "scope": _scope(state, stream, outcome),
        "film": _film(stream, outcome),
        "panel": panel(state.view.panel, shown, state.view.unit),
        "readouts": readouts.updates(
            now, state.before or now, outcome.without_knob, outcome.pinned_measures, state.settings.frame_rate
        ),
    }


def _scope(state: ConsoleState, stream: ShownStream, outcome: Outcome) -> ScopeUpdate:
    response, rows = outcome.response, stream.rows()
    g, p = quartiles(response.g[rows]), quartiles(response.p_max[rows])
    wrong = stream.share_wrong(response)
    legend = ["now", "band", "ghost", "wrong", *(["pin"] if state.pin else [])]
    shapes: list[dict[str, Any]] = []
    if state.live is not None and outcome.newest is not None:
        gap = state.live.gap(stream.frames)
        g[:, gap] = p[:, gap] = np.nan
        wrong = np.where(response.predicted[rows][0] < 0, 0, wrong)
        shapes = [*scope.turn_marks(state.live.marks(stream.frames)), scope.newest_frame(outcome.newest)]
        legend.append("turn")
    traces = scope.moving(g, p, wrong)
    if outcome.pinned is not None:
        pinned = outcome.pinned
        traces += scope.pinned(np.median(pinned.g[rows], axis=0), np.median(pinned.p_max[rows], axis=0))
    return {"data": traces, "shapes": shapes, "legend": legend}


def _film(stream: ShownStream, outcome: Outcome) -> FilmUpdate:
    response, path, frames = outcome.response, stream.rows().start, stream.film_frames
    return {
        "predicted": [None if k < 0 else int(k) for k in response.predicted[path, frames]],
        "confidence": [0.0 if math.isnan(p) else round(float(p), 4) for p in response.p_max[path, frames]],
        "every_frame": pack(response.predicted[path], "i2"),
    }
