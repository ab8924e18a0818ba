"""The state: what the browser says is clamped, what a turn began with is kept, and Python's own moves win once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.console.console_state import ConsoleState
from app.console.pins import Pins
from app.widgets.knobs import OMEGA_N, ZETA
from knob_core.goals import Goals
from knob_core.measures.stability import StreamMeasures
from knob_core.settings import Settings

CONTROLS = {
    "epoch": 0,
    "seq": 1,
    "zeta": 0.3,
    "omega_n": 1.5,
    "on": True,
    "memory": "off",
    "mode": "continuous",
}
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def measures(flips: float) -> StreamMeasures:
    return StreamMeasures(flips, 0.1, 3, 5, 1, 0.8, 0.5, 0.05, 0.01)


def test_a_message_moves_the_knobs() -> None:
    state = ConsoleState()
    state.apply_controls(CONTROLS)
    assert state.settings == Settings(zeta=0.3, omega_n=1.5, memory="off")
    assert state.seq == 1


@given(
    st.dictionaries(
        st.sampled_from([*CONTROLS, "playing", "live", "commands", "speed", "released"]),
        anything,
    )
)
def test_nothing_from_the_browser_can_break_it(controls: dict[str, Any]) -> None:
    state = ConsoleState()
    state.apply_controls({**controls, "epoch": 0})
    assert ZETA[0] <= state.settings.zeta <= ZETA[1]
    assert OMEGA_N[0] <= state.settings.omega_n <= OMEGA_N[1]
    state.apply_view(
        {"epoch": 0, "panel": controls.get("mode"), "unit": controls.get("on"), "frame_rate": controls.get("zeta")}
    )
    assert state.view.panel == "step" and 0.1 <= state.settings.frame_rate <= 1000


@given(anything)
def test_a_damaged_message_is_ignored(controls: Any) -> None:
    state = ConsoleState()
    state.apply_controls(controls)
    state.apply_view(controls)
    assert replace(state, seq=0) == ConsoleState()


def test_a_message_of_an_older_epoch_does_not_undo_a_value_from_python() -> None:
    state = ConsoleState()
    state.apply_controls(CONTROLS)
    state.set_from_python(Settings(zeta=2.0))
    state.apply_controls({**CONTROLS, "seq": 5})
    assert state.settings.zeta == 2.0
    assert state.seq == 5  # or the controls would wait for this answer before they send another
    state.apply_controls({**CONTROLS, "epoch": 1, "seq": 6})
    assert state.settings.zeta == 0.3


def test_before_is_what_it_was_when_the_turn_began() -> None:
    state = ConsoleState()
    state.record(measures(10), "a")
    for seq, flips in ((1, 8.0), (2, 6.0), (3, 4.0)):
        state.apply_controls({**CONTROLS, "seq": seq, "commands": [{"act": "begin"}] if seq == 1 else []})
        state.record(measures(flips), "a")
    assert state.before is not None and state.before.flips == 10
    state.apply_controls({**CONTROLS, "seq": 4, "commands": [{"act": "begin"}]})
    assert state.before.flips == 4


def test_a_press_pins_the_setting_and_another_at_the_same_setting_unpins_it() -> None:
    state = ConsoleState()
    pressed = {**CONTROLS, "commands": [{"act": "pin"}]}
    state.apply_controls(pressed)
    assert [pin.settings for pin in state.pins] == [state.settings]
    state.apply_controls(pressed)  # Streamlit reports it again with every run
    state.apply_controls({**CONTROLS, "seq": 2, "zeta": 1.0})
    assert state.pins.shown is not None and state.pins.shown.settings.zeta == 0.3
    state.apply_controls({**pressed, "seq": 3, "zeta": 1.0})
    assert [pin.name for pin in state.pins] == ["A", "B"] and state.pins.drawn == "B"
    state.apply_controls({**pressed, "seq": 4, "zeta": 1.0})
    assert [pin.name for pin in state.pins] == ["A"] and state.pins.drawn == ""


def test_an_action_on_a_pin_is_taken_once_and_turns_the_knobs() -> None:
    state = ConsoleState(settings=Settings(goals=Goals(delay=3.0), frame_rate=25.0))
    state.pins = Pins().press(Settings(zeta=2.0, memory="plain"))
    view = {**state.view_taken(), "seq": 1, "commands": [{"act": "draw", "pin": 0}]}
    state.apply_view(view)
    assert state.pins.drawn == ""
    state.apply_view(view)  # Streamlit reports it again with every run
    assert state.pins.drawn == ""
    epoch = state.epoch
    state.apply_view({**view, "seq": 2, "commands": [{"act": "turn", "pin": 0}]})
    assert state.settings.zeta == 2.0 and state.settings.memory == "plain" and state.epoch == epoch + 1
    assert state.settings.goals == Goals(delay=3.0) and state.settings.frame_rate == 25.0  # they are the visitor's
    odd: list[Any] = [None, 7, {}, [None], [7], [{}], [{"act": "turn", "pin": [0]}], [{"act": {}, "pin": 0}]]
    for seq, commands in enumerate(odd, 3):
        state.apply_view({**state.view_taken(), "seq": seq, "commands": commands})
    assert len(state.pins) == 1 and state.settings.zeta == 2.0


def test_play_pause_and_leave() -> None:
    state = ConsoleState()

    def ask(seq: int, frames: int, playing: bool = True) -> None:
        frame = {"act": "frames", "count": frames}
        state.apply_controls({**CONTROLS, "seq": seq, "live": True, "playing": playing, "commands": [frame]})

    ask(1, 3)
    assert state.live is not None and state.live.due == 0  # it starts now
    ask(2, 7)
    assert state.live.due == 7
    ask(3, 10**6, playing=False)
    assert not state.live.playing and state.live.due == state.live.MOST_AT_ONCE
    state.apply_controls({**CONTROLS, "seq": 4, "live": False})
    assert state.live is None


def test_another_stream_has_nothing_before_it() -> None:
    """Also where an answer about the old stream came late, after it had been left."""
    state = ConsoleState()
    state.record(measures(10), "old")
    state.change_stream()
    state.record(measures(11), "old")
    state.record(measures(3), "new")
    assert state.before == state.now == measures(3)


def test_an_older_view_does_not_come_back_and_a_value_from_python_brings_its_own() -> None:
    state = ConsoleState()
    state.apply_view({**state.view_taken(), "panel": "poles", "seq": 2})
    state.apply_view({**state.view_taken(), "panel": "bode", "seq": 1})
    assert state.view.panel == "poles" and state.view_taken()["seq"] == 2
    reported = state.view_taken()
    state.set_from_python(Settings(frame_rate=25.0))
    state.apply_view(reported)  # what the browser last said, at the old frame rate
    assert state.settings.frame_rate == 25.0


def test_controls_that_are_mounted_anew_are_not_held() -> None:
    state = ConsoleState()
    state.apply_controls({**CONTROLS, "released": False})
    assert not state.released
    state.apply_controls(None)
    assert state.released and state.seq == 1
