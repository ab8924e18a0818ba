"""The controller: a message moves the state, the display is drawn from it and changes nothing."""

from __future__ import annotations

import threading
from dataclasses import fields, replace

import pytest
from console_answers import frames as asked

from app.console import display
from app.console.console_controller import ConsoleController
from app.console.console_state import ConsoleState, View
from app.console.outcome import evaluate
from app.console.panels import PANELS
from app.console.shown_stream import ShownStream
from knob_core import gates, theory
from knob_core.settings import Settings

CONTROLS = {"seq": 1, "epoch": 0, "zeta": 0.31, "omega_n": 1.7, "on": True, "memory": True}


def controller(stream: ShownStream, state: ConsoleState | None = None, **more: ConsoleState) -> ConsoleController:
    made = ConsoleController(state or ConsoleState(), **more)
    made.show(stream, 1)
    return made


def test_a_message_moves_the_state_and_is_acknowledged(stream: ShownStream) -> None:
    console = controller(stream)
    parts = console.update({"controls": CONTROLS, "view": {"panel": "poles", "epoch": 0, "seq": 1}}, 7)
    assert console.state.settings == Settings(zeta=0.31, omega_n=1.7)
    assert parts["controls"]["seq"] == 1
    assert parts["display"]["panel"]["id"] == "poles" and parts["display"]["runs"] == [1, 7]
    assert console.state.now is not None and console.state.measured_stream == stream.id


def test_a_stream_that_comes_while_an_answer_waits_is_the_one_that_is_answered(stream: ShownStream) -> None:
    console, found = controller(stream), []
    asking = threading.Thread(target=lambda: found.append(console.update({}, 1)))
    with console.state.lock:
        asking.start()
        asking.join(0.2)  # by then it waits for the lock
        console.show(replace(stream, id="another"), 2)
    asking.join()
    assert found[0]["display"]["stream_id"] == "another" and found[0]["display"]["runs"] == [2, 1]


def test_a_gate_without_damping_never_forgets(stream: ShownStream) -> None:
    console = controller(stream, ConsoleState(settings=Settings(zeta=0.0), view=View("poles")))
    numbers = console.update({}, 1)["display"]["panel"]["numbers"]
    assert numbers[-1][:2] == ["forgets half in", "never"]


@pytest.mark.parametrize("panel", PANELS)
@pytest.mark.parametrize("live", [False, True])
def test_drawing_changes_no_state(stream: ShownStream, panel: str, live: bool) -> None:
    console = controller(stream, ConsoleState(view=View(panel)))
    for frames in (0, 30):
        console.update(
            {"controls": {**CONTROLS, "live": live, "playing": live, "commands": asked(frames)}},
            1,
        )
    state = console.state
    before = {field.name: getattr(state, field.name) for field in fields(state)}
    played = (state.live.t, state.live.due, list(state.live.turns)) if state.live else None
    first = display.update(state, stream, evaluate(state, stream))
    assert display.update(state, stream, evaluate(state, stream)) == first
    assert all(getattr(state, name) is value for name, value in before.items())
    assert played == ((state.live.t, state.live.due, list(state.live.turns)) if state.live else None)


def test_the_long_theoretical_step_is_computed_once_for_a_position(
    stream: ShownStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    compute = theory.step_response
    monkeypatch.setattr(theory, "step_response", lambda z, w, n: asked.append(n) or compute(z, w, n))
    console = controller(stream, ConsoleState(settings=Settings(zeta=0.4321, omega_n=0.1234), view=View("step")))
    console.update({}, 1)
    console.update({}, 2)
    assert asked.count(gates.THEORY_FRAMES) == 1


def test_two_pages_share_their_knobs_both_ways(stream: ShownStream) -> None:
    shared = ConsoleState(settings=Settings(zeta=0.5))
    own = controller(stream, ConsoleState(), shared=shared)
    own.update({}, 1)
    assert own.state.settings.zeta == 0.5 and own.state.epoch == 1
    own.update({"controls": {**CONTROLS, "epoch": 1}}, 2)
    assert shared.settings == own.state.settings == replace(shared.settings, zeta=0.31, omega_n=1.7)
    assert shared.epoch == 1  # the other page's knobs follow
