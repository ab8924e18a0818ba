"""The calibration page's browser component: controls and figure sheet in one element."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from app.console.protocol import Constants
from app.server.drag_endpoint import DragEndpoint
from app.widgets.browser_component import common, register

_component = register("knob_ledger", "calibration")


def mount(
    endpoint: DragEndpoint, reported: Mapping[str, Any], constants: Constants, *, key: str,
    on_controls: Callable[[], None], on_pick: Callable[[], None],
) -> None:  # fmt: skip
    """Mount both; `controls` and `pick` of the component's state are untrusted."""
    data = {**common(), "endpoint": endpoint.address(), "constants": constants, "update": endpoint.answer(reported)}
    default = {"controls": None, "pick": None}
    _component(key=key, data=data, default=default, on_controls_change=on_controls, on_pick_change=on_pick)
