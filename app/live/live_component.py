"""The Live page's browser component: controls and figure sheet in one element."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.console.protocol import Constants
from app.server.drag_endpoint import DragEndpoint
from app.widgets.browser_component import common, no_callback, register

_component = register("knob_live", "calibration")  # the same two parts


def mount(endpoint: DragEndpoint, reported: Mapping[str, Any], constants: Constants, *, key: str) -> None:
    """Mount both; `controls` of the component's state is untrusted."""
    data = {**common(), "endpoint": endpoint.address(), "constants": constants, "update": endpoint.answer(reported)}
    _component(key=key, data=data, default={"controls": None}, on_controls_change=no_callback)
