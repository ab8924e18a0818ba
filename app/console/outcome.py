"""What the shown stream becomes under the present setting, in numbers: now, pinned, and without Knob.

Nothing here changes a state: the controller advances a live run before it asks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from app.console.compared import NOW, WITHOUT, Compared
from app.console.console_state import ConsoleState
from app.console.pins import acting
from app.console.shown_stream import ShownStream
from knob_core.measures.operator import OperatorMeasures, known_truth, measure
from knob_core.metrics import temperature_scaling
from knob_core.response import Response
from knob_core.settings import Settings


@dataclass(frozen=True)
class Outcome:
    """One setting's numbers; `measures` is None while a live run has too few frames to measure."""

    response: Response
    measures: OperatorMeasures | None
    without_knob: OperatorMeasures
    pinned: Response | None = None
    pinned_measures: OperatorMeasures | None = None
    newest: int | None = None  # live: the frame drawn last
    compared: list[Compared] | None = None  # where the table is open


def evaluate(state: ConsoleState, stream: ShownStream) -> Outcome:
    """The whole stream under the setting, or the frames of the live run that have arrived."""
    found = _evaluate(state, stream)
    if state.view.panel != "compare":
        return found
    whole = found.measures if state.live is None else None
    return replace(found, compared=compare(state, stream, whole))


def compare(state: ConsoleState, stream: ShownStream, now: OperatorMeasures | None = None) -> list[Compared]:
    """The present setting, none, and every pin, over the whole stream; `now` where the first is measured already."""
    own = acting(state.settings)
    rows = [Compared(NOW, own, now or _whole(stream, own)[1])]
    rows.append(Compared(WITHOUT, Settings(on=False), stream.measures_without))
    for pin in state.pins:
        rows.append(Compared(pin.name, pin.settings, state.measured.of(stream, pin.settings), pin.id))
    return rows


def _whole(stream: ShownStream, settings: Settings) -> tuple[Response, OperatorMeasures]:
    response = stream.respond(settings)
    return response, measure(stream.branches, response, stream.known, stream.without_knob.predicted)


def _evaluate(state: ConsoleState, stream: ShownStream) -> Outcome:
    branches = stream.branches
    pin = state.pins.shown
    pinned = state.measured.response(stream, pin.settings) if pin else None
    live = state.live
    if live is None or live.response is None:
        response, measures = _whole(stream, state.settings)
        pinned_measures = state.measured.of(stream, pin.settings) if pin else None
        return Outcome(response, measures, stream.measures_without, pinned, pinned_measures)
    newest = (live.t - 1) % stream.frames
    if live.t <= 2:
        return Outcome(live.response, None, stream.measures_without, pinned, None, newest)
    arrived, bare = live.window(branches, stream.without_knob)
    known = known_truth(arrived, bare.predicted)
    return Outcome(  # all of them over the frames that have arrived, or they could not be compared
        live.response,
        measure(*live.window(branches), known, bare.predicted),
        measure(arrived, bare, known, bare.predicted),
        pinned,
        measure(*live.window(branches, pinned), known, bare.predicted) if pinned else None,
        newest,
    )


def fit_temperature(stream: ShownStream, settings: Settings) -> float:
    """The temperature with the best likelihood over the labelled frames, to three digits; as it is without labels."""
    known = stream.branches.frame_labels >= 0
    if not known.any():
        return settings.temperature
    response = stream.respond(replace(settings, temperature=1.0))
    z = np.log(np.maximum(response.probabilities[known], 1e-30))  # logits, but for a constant a frame
    return float(f"{temperature_scaling.fit(z, stream.branches.frame_labels[known]):.3g}")
