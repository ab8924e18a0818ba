"""The console's browser component: controls and display in one element, and the fixed part of a stream beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.console.protocol import Constants, Mount, StreamBackground
from app.server.drag_endpoint import DragEndpoint
from app.widgets.browser_component import common, no_callback, register

_console = register("knob_console", "console")
_background = register("knob_tape", "stream_background")


def mount(endpoint: DragEndpoint, reported: Mapping[str, Any], constants: Constants, *, key: str) -> None:
    """Mount controls and display; `reported` is what the browser last told Streamlit."""
    shared = common()
    data: Mount = {
        "base": shared["base"],
        "palettes": shared["palettes"],
        "endpoint": endpoint.address(),
        "constants": constants,
        "update": endpoint.answer(reported),
    }
    _console(
        key=key, data=data, default={"controls": None, "view": None}, on_controls_change=no_callback,
        on_view_change=no_callback,
    )  # fmt: skip


def mount_background(background: StreamBackground, *, key: str) -> None:
    """Leave the fixed part of a stream in the browser; mount it outside the fragment that reruns with the knobs.

    What it tells has the whole script run again: the page asks for that when the server has forgotten its session.
    """
    _background(
        key=key, data={**common(), **background}, height=1, default={"reruns": None}, on_reruns_change=no_callback
    )
