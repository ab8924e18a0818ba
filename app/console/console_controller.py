"""The console's controller: one message of the browser in, one update out.

1. the message changes the state (`ConsoleState`), 2. a live run advances, 3. the stream is evaluated (`outcome`),
4. its measures are recorded, 5. the update is drawn (`display`, which changes nothing).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.console import display
from app.console.console_state import ConsoleState
from app.console.outcome import Outcome, evaluate, fit_temperature
from app.console.protocol import Constants, ControlsUpdate
from app.console.setting_words import describe, regime
from app.console.shown_stream import ShownStream
from app.widgets import controls


@dataclass
class ConsoleController:
    """One console of one session. `shared`: the state of another page's console whose knobs are the same knobs."""

    state: ConsoleState
    shared: ConsoleState | None = None
    stream: ShownStream | None = None
    script_runs: int = 0  # how often the page's script has run
    waiting: bool = False  # another stream is chosen and not there yet

    def show(self, stream: ShownStream, script_runs: int, waiting: bool = False) -> None:
        """From now on this stream is on the display, perhaps only until another one is there."""
        with self.state.lock:
            self.stream, self.script_runs, self.waiting = stream, script_runs, waiting

    def constants(self) -> Constants:
        """What no knob changes; sent when the component is mounted."""
        trained = self.stream.trained if self.stream else None
        return {"controls": controls.constants(trained), "display": display.constants()}

    def update(self, request: Mapping[str, Any], answer: int) -> dict[str, Any]:
        """The parts of an Update; nothing in `request` is trusted."""
        state = self.state
        with state.lock:
            stream = self.stream
            assert stream is not None, "show a stream first"
            self._follow_shared()
            before, pins = state.settings, state.pins
            if "controls" in request:
                state.apply_controls(request["controls"])
            state.apply_view(request.get("view"))
            if state.fit_wanted:
                state.set_temperature(fit_temperature(stream, state.settings))
            if self.shared is not None and state.settings != before:
                self.shared.set_from_python(state.settings)
            if self.shared is not None and state.pins != pins:
                self.shared.pins = state.pins
            if state.pins.shown is None:
                state.measured.forget()
            frames = state.live.t if state.live else None
            outcome = self._evaluate(stream)
            if state.log is not None:
                state.log.note(state, stream, frames)
            kind, words = regime(state.settings, stream.method)
            pin = state.pins.shown
            pinned = f"{pin.name} (dashed): {describe(pin.settings)}" if pin else ""
            around: ControlsUpdate = {
                "seq": state.seq, "epoch": state.epoch, "values": state.values(),
                "regime": kind, "words": words, "pinned": pinned,
                "pin_button": state.pins.button(state.settings),
                "pin_help": state.pins.button_help(state.settings),
            }  # fmt: skip
            shown = display.update(state, stream, outcome)
            shown |= {"waiting": self.waiting, "runs": [self.script_runs, answer]}
        return {"controls": around, "display": shown}

    def _follow_shared(self) -> None:
        """The knobs were moved on another page, or by a fit; the pins are the same on both."""
        if self.shared is None:
            return
        self.state.pins = self.shared.pins
        if self.state.settings != self.shared.settings:
            self.state.set_from_python(self.shared.settings)

    def _evaluate(self, stream: ShownStream) -> Outcome:
        if self.state.live is not None:
            self.state.live.advance(stream, self.state.settings)
        outcome = evaluate(self.state, stream)
        if outcome.measures is not None:
            self.state.record(outcome.measures, stream.id)
        return outcome
