"""Buttons that export what is on the display: settings file, data, figures."""

from __future__ import annotations

import streamlit as st

from app.console import display_export
from app.console.console_state import ConsoleState
from app.console.shown_stream import ShownStream
from knob_core import settings as settings_file


def export_buttons(state: ConsoleState, stream: ShownStream, key: str) -> None:
    """Each file is made when its button is pressed, outside any session: it gets state and stream now."""
    theme = st.context.theme.type or "light"
    for label, data, name, mime, help in (
        ("Settings file", lambda: settings_file.to_toml(state.settings), "knob.toml", "application/toml",
         "Where the knobs stand, with temperature and goals; the runtime loads it"),
        ("Data (CSV)", lambda: display_export.csv_text(state, stream), "knob.csv", "text/csv",
         "One row a frame of what the scope shows"),
        ("Figures (HTML)", lambda: display_export.html_text(state, stream, theme), "knob.html", "text/html",
         "Scope and panel, with zoom and hover, in one file"),
    ):  # fmt: skip
        st.download_button(label, data, name, mime, on_click="ignore", width="stretch", help=help, key=f"{key}_{name}")
