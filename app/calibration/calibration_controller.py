"""The calibration page's controller: one message of the browser in, one update out, as the console's.

1. the message moves the two knobs of the shared console state, 2. the predictions are measured, 3. the numbers are
recorded, 4. the update is drawn (`calibration_display`, which changes nothing).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.calibration import calibration_display
from app.calibration.cell_measures import BeforeAndNow, gate_of, measure, one_step
from app.calibration.cell_selection import Selection
from app.calibration.comparison import Alternatives
from app.calibration.predictions import ShownPredictions
from app.console.console_state import ConsoleState
from app.console.protocol import Constants, ControlsUpdate
from app.console.setting_words import regime
from app.console.shipped_models import trained_knobs
from app.widgets import controls, figure_sheet
from knob_core import methods

REVEAL = "picked_pictures"  # key of the container to which the page scrolls after a pick


@dataclass
class CalibrationController:
    """One visitor's calibration page."""

    state: ConsoleState
    numbers: BeforeAndNow = field(default_factory=BeforeAndNow)
    selection: Selection = field(default_factory=Selection)
    shown: ShownPredictions | None = None
    others: Alternatives | None = None
    picked: str = ""  # figure/bin or figure/cell whose pictures are shown
    script_runs: int = 0

    def show(
        self, selection: Selection, shown: ShownPredictions, others: Alternatives, picked: str, script_runs: int
    ) -> None:
        """From now on these predictions are on the page."""
        with self.state.lock:
            self.selection, self.shown, self.others = selection, shown, others
            self.picked, self.script_runs = picked, script_runs

    def constants(self) -> Constants:
        """What no knob changes; sent when the component is mounted."""
        trained = trained_knobs(self.selection.method, self.selection.seed)
        return {"controls": controls.constants(trained, switches=False, transport=False), "sheet": {}}

    def update(self, request: Mapping[str, Any], answer: int) -> dict[str, Any]:
        """The parts of an Update; nothing in `request` is trusted."""
        state, shown, others, method = self.state, self.shown, self.others, self.selection.method
        assert shown is not None and others is not None, "show predictions first"
        with state.lock:
            if "controls" in request:
                state.apply_controls(self._knobs_only(request["controls"]))
            now = measure(shown, gate_of(state.settings, shown, method), state.settings.temperature)
            self.numbers.record(now, state.turn, (self.selection,))
            kind, _ = regime(state.settings, method)
            around: ControlsUpdate = {
                "seq": state.seq, "epoch": state.epoch, "values": state.values(),
                "regime": kind, "words": self.words(), "pinned": "",
            }  # fmt: skip
        sheet = figure_sheet.content(
            **calibration_display.update(shown, now, self.numbers.before or now, others), seq=around["seq"],
            picked=self.picked, reveal=REVEAL, label=f"calibration over {len(shown.predictions):,} predictions",
        )  # fmt: skip
        return {"controls": around, "sheet": {**sheet, "runs": [self.script_runs, answer]}}

    def _knobs_only(self, reported: object) -> object:
        """This page has the two knobs only: what else the console's controls hold stays as it is."""
        kept = {"mode": self.state.settings.mode, "memory": self.state.settings.memory}
        return {**reported, **kept} if isinstance(reported, dict) else None

    def words(self) -> str:
        """What the setting does here, in a sentence or two."""
        temperature = self.state.settings.temperature
        cooled = "" if temperature == 1 else f" All logits are divided by the console's temperature, {temperature:g}."
        return self._knobs_in_words() + cooled

    def _knobs_in_words(self) -> str:
        if not self.selection.knobs_act:
            name = methods.get(self.selection.method).name
            return f"{name} has a gate without inertia: the knobs do nothing here."
        if not self.state.settings.on:
            return "Off: the gate follows its command at once."
        reference = self.shown.reset_reference if self.shown is not None else None
        part = one_step(self.state.settings, self.selection.method, reference)
        if reference is not None:
            return f"Reset Mode: one frame from rest, {part:.2f} times the step that the model was trained with."
        return f"Reset Mode: one frame from rest, the gate has made {part:.0%} of its way to the command."
