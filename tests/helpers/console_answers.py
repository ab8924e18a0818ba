"""What the console's display is told, without a page: one controller, one message that changes nothing."""

from __future__ import annotations

from typing import Any

from app.console.console_controller import ConsoleController
from app.console.console_state import ConsoleState
from app.console.shown_stream import ShownStream


def answer(state: ConsoleState, stream: ShownStream) -> dict[str, Any]:
    """The DisplayUpdate of a state and a stream."""
    controller = ConsoleController(state)
    controller.show(stream, 0)
    return controller.update({}, 1)["display"]


def frames(count: int) -> list[dict[str, Any]]:
    """The command that runs frames of live mode."""
    return [{"act": "frames", "count": count}]


def readouts(display: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The read-outs of a DisplayUpdate by their ids."""
    return {readout["id"]: readout for readout in display["readouts"]}
