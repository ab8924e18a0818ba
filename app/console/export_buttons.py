"""Buttons that export what is on the display: settings file, data, figures; and the log of turns."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.console import display_export, session
from app.console.console_state import ConsoleState
from app.console.shown_stream import ShownStream
from app.console.turn_log import MOST, TurnLog
from knob_core import settings as settings_file


def export_buttons(state: ConsoleState, stream: ShownStream) -> None:
    """Each file is made when its link is pressed, outside any script: it gets state and stream now."""
    theme = st.context.theme.type or "light"
    files = (
        ("Settings file", lambda: settings_file.to_toml(state.settings), "knob.toml",
         "Where the knobs stand, with temperature and goals; the runtime loads it"),
        ("Data (CSV)", lambda: display_export.csv_text(state, stream), "knob.csv",
         "One row a frame of what the scope shows"),
        ("Compared settings (CSV)", lambda: display_export.compared_csv(state, stream), "knob-compared.csv",
         "The present setting, none, and every pin, with all measures"),
        ("Figures (HTML)", lambda: display_export.html_text(state, stream, theme), "knob.html",
         "Read-outs, scope and panel, with zoom and hover, in one file"),
    )  # fmt: skip
    columns = [column for _ in files[::2] for column in st.columns(2)]
    for column, (label, make, name, help) in zip(columns, files, strict=True):
        with column:
            session.downloads().link(label, name, make, help)


def record_turns(state: ConsoleState, others: Sequence[ConsoleState], stream: ShownStream, key: str) -> None:
    """A switch that records turns, off at first, and the file; all consoles of a session share one log."""
    log = state.log
    help = "Time, knob, value and measures of every turn, from now on; kept in this session only, until you download it"
    wanted = st.toggle("Record my turns", log is not None and log.on, key=f"{key}_record", help=help)
    if wanted and (log is None or not log.on):
        log = _record(log or TurnLog(), state, others, stream)
    elif log is not None:
        log.on = wanted
    if log is None:
        return
    if log.full:
        st.caption(f"The log is full: it has its {MOST:,} rows, and later turns are not in it.")
    help = "The recorded turns; knob replay-turns computes their figures anew"
    session.downloads().link("Turns (CSV)", "knob-turns.csv", log.csv_text, help)
    if not log.on:
        help = "Throw the recorded turns away; the next recording begins anew"
        st.button("Forget these turns", on_click=_forget, args=((state, *others),), key=f"{key}_forget", help=help)


def _record(log: TurnLog, state: ConsoleState, others: Sequence[ConsoleState], stream: ShownStream) -> TurnLog:
    """Write turns into this log from now on; what it has stays in it."""
    log.on = True
    with state.lock:
        if state.live is not None:
            state.change_stream()  # leaves live mode: what the knobs did before is not in the log
        log.note(state, stream, None)
    for other in (state, *others):
        with other.lock:
            other.log = log
    return log


def _forget(states: Sequence[ConsoleState]) -> None:
    """There is no log any more."""
    for state in states:
        with state.lock:
            state.log = None
