"""The buttons under Export, alone: a recording that was interrupted goes on."""

from __future__ import annotations

from dataclasses import replace

import made_streams
from streamlit.testing.v1 import AppTest

from app.console.console_state import ConsoleState
from app.console.shown_stream import ShownStream


def buttons_alone() -> None:
    """The script that the test runs."""
    import streamlit as st

    from app.console.export_buttons import record_turns

    record_turns(st.session_state["console"], st.session_state["others"], st.session_state["stream"], "export")


def test_a_recording_that_was_switched_off_goes_on_until_it_is_forgotten() -> None:
    stream = ShownStream("made", "made", "knob-ode", made_streams.branches(1, 2, 40), 2, source="corruption=fog")
    state, other = ConsoleState(), ConsoleState()
    at = AppTest.from_function(buttons_alone)
    at.session_state["console"], at.session_state["others"], at.session_state["stream"] = state, [other], stream
    at.run()
    for number, on in enumerate((True, False, True, False)):
        at.toggle(key="export_record").set_value(on).run()
        assert not at.exception and state.log is other.log and state.log.on == on
        state.set_from_python(replace(state.settings, zeta=0.2 + number))
        state.log.note(state, stream, None)
    assert [turn.settings.zeta for turn in state.log.turns] == [1.0, 0.2, 1.2, 2.2]
    assert [button.label for button in at.button] == ["Forget these turns"]
    at.button(key="export_forget").click().run()
    assert not at.exception and state.log is None and other.log is None and not at.button
    at.toggle(key="export_record").set_value(True).run()
    assert [turn.knob for turn in state.log.turns] == ["start"]
