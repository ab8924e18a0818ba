"""From numbers to the display's update: scope, film strip, open panel, read-outs. It draws and changes no state."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from app.console import readouts
from app.console.console_state import FRAME_RATES, TEMPERATURES, ConsoleState
from app.console.outcome import Outcome
from app.console.panels import PANELS, PanelInput, beside, panel
from app.console.pins import LONGEST
from app.console.protocol import DisplayConstants, FilmUpdate, GoalConstants, ScopeUpdate
from app.console.readouts import READOUTS, WITHOUT_KNOB
from app.console.setting_words import describe
from app.console.shown_stream import ShownStream
from app.figures import scope
from app.figures.bode_plot import UNITS
from knob_core.goals import KINDS
from knob_core.metrics import quartiles
from knob_core.response import Response

LEGEND = {  # kind: [label, help]
    "now": ["median of the paths", "A path is one draw of the noise over the same picture; this is their median"],
    "band": ["middle half", "From the first to the third quartile of the paths"],
    "ghost": [WITHOUT_KNOB, "Without inertia and memory: the gate σ(u*), and the confidence that it gives"],
    "wrong": ["share wrong", "How many of the paths are wrong at a frame: now, and without Knob"],
    "disagrees": ["disagrees", "How many of the paths show another class than the frame's own"],
    "pin": ["pinned", "The pinned setting that is drawn; Compare has all of them"],
    "cut": ["new picture", "Where another picture begins"],
    "turn": ["you turned", "While a knob was turned, as the stream was playing"],
}


def constants() -> DisplayConstants:
    """Tabs, units, labels and help."""
    return {
        "panels": [{"id": id, "label": label, "help": help} for id, (label, help) in PANELS.items()],
        "units": list(UNITS),
        "readouts": [
            {"id": r.id, "label": r.label, "help": r.help, "goal": goal_constants(r.goal)} for r in READOUTS.values()
        ],
        "legend": LEGEND,
        "limits": {"frame_rate": list(FRAME_RATES), "temperature": list(TEMPERATURES), "name": LONGEST},
    }


def goal_constants(name: str) -> GoalConstants | None:
    """A kind of goal as its card needs it."""
    if not name:
        return None
    kind = KINDS[name]
    low, high = (kind.scale * bound for bound in kind.bounds)
    return {
        "name": name, "sense": kind.sense, "words": kind.words, "unit": kind.unit.strip(), "low": low, "high": high,
    }  # fmt: skip


def update(state: ConsoleState, stream: ShownStream, outcome: Outcome) -> dict[str, Any]:
    """A DisplayUpdate without `runs` and `waiting`."""
    others = beside(state.view.panel) if state.wide else []
    shown = PanelInput(
        state.settings, stream, outcome.response, outcome.newest, state.pins.shown, outcome.compared, state.view.sort,
        state.name_refused,
    )  # fmt: skip
    now, pin = outcome.measures or readouts.NOTHING, state.pins.shown
    pinned = (pin.name, outcome.pinned_measures) if pin and outcome.pinned_measures else None
    return {
        "seq": state.seq,
        "stream_id": stream.id,
        "view": state.view_taken(),
        "caption": f"{stream.title}   {describe(state.settings)}",
        "scope": _scope(state, stream, outcome),
        "film": _film(stream, outcome),
        "panel": panel(state.view.panel, shown, state.view.unit),
        "side_panels": [panel(id, shown, state.view.unit) for id in others],
        "readouts": readouts.updates(
            readouts.shown_on(stream, state.settings.goals),
            now,
            state.before or now,
            outcome.without_knob if outcome.measures else readouts.NOTHING,
            pinned,
            state.settings.frame_rate,
            state.settings.goals,
        ),
    }


def _scope(state: ConsoleState, stream: ShownStream, outcome: Outcome) -> ScopeUpdate:
    response, rows = outcome.response, stream.rows()
    labelled, shown = bool((stream.frame_truth >= 0).any()), response.predicted[rows.start]
    drawn = {name: quartiles(values) for name, values in curves(state, stream, response).items()}
    legend = ["now", "band", "ghost", *(["wrong"] if labelled else []), "disagrees", *(["cut"] if stream.cuts else [])]
    pin = state.pins.shown
    legend += ["pin"] if pin else []
    shapes: list[dict[str, Any]] = []
    if state.live is not None and outcome.newest is not None:
        gap = state.live.gap(stream.frames)
        for values in drawn.values():
            values[:, gap] = np.nan
        shown = np.where(gap, -1, shown)
        shapes = [*scope.turn_spans(state.live.spans(stream.frames)), scope.newest_frame(outcome.newest)]
        legend.append("turn")
    traces = scope.turned_traces(
        scope.Turned(
            drawn.get("gate"), drawn["alertness"], drawn["confidence"], shown,
            stream.disagrees(response)[rows].mean(axis=0), stream.share_wrong(response) if labelled else None,
        )
    )  # fmt: skip
    axes: dict[str, Any] = {}
    if outcome.pinned is not None and pin is not None:
        medians = {
            name: np.median(values, axis=0)
            for name, values in _curves(stream, outcome.pinned, pin.settings.omega_n).items()
        }
        traces += scope.pinned(medians, outcome.pinned.predicted[rows.start], pin.name)
        axes = {scope.axis_key("classes"): scope.class_axis(labelled, pinned=pin.name)}
    return {"data": traces, "axes": axes, "shapes": shapes, "legend": legend, "pin": pin.name if pin else ""}


def curves(state: ConsoleState, stream: ShownStream, response: Response) -> dict[str, np.ndarray]:
    """(r, T) of the shown image's paths, by the name of their row on the scope."""
    live = state.live
    return _curves(stream, response, state.settings.omega_n if live is None or live.omega_n is None else live.omega_n)


def _curves(stream: ShownStream, response: Response, omega_n: float | np.ndarray) -> dict[str, np.ndarray]:
    rows = stream.rows()
    gate = {"gate": response.g[rows]} if stream.gated else {}
    return {**gate, "alertness": response.omega[rows] / omega_n, "confidence": response.p_max[rows]}


def _film(stream: ShownStream, outcome: Outcome) -> FilmUpdate:
    response, path, frames = outcome.response, stream.rows().start, stream.film_frames
    return {
        "predicted": [None if k < 0 else int(k) for k in response.predicted[path, frames]],
        "confidence": [0.0 if math.isnan(p) else round(float(p), 4) for p in response.p_max[path, frames]],
    }
