"""The controls: knobs, presets, switches and live mode, as data for the browser; and knobs alone for a lesson.

The browser is not trusted: `ConsoleState.apply_controls` and `LessonState.take` read and clamp what comes back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.console.protocol import ControlsConstants
from app.widgets.browser_component import common, no_callback, register
from app.widgets.knobs import HELP, KNOBS, SPEEDS, presets

_lesson_knobs = register("knob_dials", "controls")


def constants(
    trained: tuple[float, float] | None = None, *, switches: bool = True, transport: bool = True
) -> ControlsConstants:
    """What no knob changes; `trained` (zeta, omega_n) is marked on the knobs and offered as a preset."""
    marks = dict(zip(("zeta", "omega_n"), trained, strict=True)) if trained else {}
    knobs: Any = [{**knob, "trained": marks.get(knob["id"])} for knob in KNOBS]
    buttons: Any = presets(trained)
    return {
        "knobs": knobs,
        "presets": buttons,
        "switches": switches,
        "transport": transport,
        "speeds": list(SPEEDS),
        "help": HELP,
    }


def lesson_knobs(
    knobs: Sequence[Mapping[str, Any]], values: Mapping[str, float], *, key: str, epoch: int, seq: int,
    regime: str, words: str,
) -> None:  # fmt: skip
    """Mount a lesson's knobs, and nothing else; the enclosing fragment reruns while one turns."""
    shown = {"knobs": [dict(knob) for knob in knobs], "presets": [], "switches": False, "transport": False}
    fixed = {**shown, "speeds": [], "help": HELP}
    state = {"seq": seq, "epoch": epoch, "values": {**values, "on": True}, "regime": regime, "words": words}
    data = {**common(), **state, "pinned": "", "constants": fixed}
    _lesson_knobs(key=key, data=data, default={"controls": None}, on_controls_change=no_callback)
