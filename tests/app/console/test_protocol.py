"""The protocol is what is sent: every message has the fields that app.console.protocol declares, and no others."""

from __future__ import annotations

import json
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

import pytest
from console_answers import frames as asked

from app.console import display, protocol
from app.console.console_controller import ConsoleController
from app.console.console_state import ConsoleState, View
from app.console.panels import PANELS
from app.console.pins import Pins
from app.console.protocol import StreamBackground, Update
from app.console.shown_stream import ShownStream
from app.server.drag_endpoint import DragEndpoint
from knob_core.settings import Settings
from tools import message_types


def check(value: Any, kind: Any, where: str) -> None:
    """The value has the declared fields, all the way down."""
    if get_origin(kind) is protocol.NotRequired:
        (kind,) = get_args(kind)
    options = [option for option in get_args(kind) if is_typeddict(option)]
    if options and get_origin(kind) is not list:  # X | None
        if value is not None:
            check(value, options[0], where)
    elif is_typeddict(kind):
        hints = get_type_hints(kind, vars(protocol), include_extras=True)
        assert set(value) <= set(hints), f"{where}: {set(value) - set(hints)} is not declared"
        needed = {
            name for name, hint in hints.items() if kind.__total__ and get_origin(hint) is not protocol.NotRequired
        }
        assert needed <= set(value), f"{where}: {needed - set(value)} is missing"
        for name, item in value.items():
            check(item, hints[name], f"{where}.{name}")
    elif get_origin(kind) is list and get_args(kind):
        for i, item in enumerate(value):
            check(item, get_args(kind)[0], f"{where}[{i}]")
    elif kind in (int, float, str, bool):
        assert isinstance(value, (int, float) if kind is float else kind), f"{where} is {value!r}, expected {kind}"


def answered(state: ConsoleState, stream: ShownStream) -> Update:
    controller, endpoint = ConsoleController(state), DragEndpoint()
    controller.show(stream, 3)
    endpoint.reply = controller.update
    return endpoint.answer({"controls": {"seq": 1, "epoch": 0, **state.values()}})


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("panel", PANELS)
def test_an_update_has_the_declared_fields(stream: ShownStream, panel: str, live: bool) -> None:
    state = ConsoleState(view=View(panel), pins=Pins().press(Settings(zeta=2.0)))
    if live:
        for frames in (0, 40):
            state.apply_controls(
                {
                    "epoch": 0,
                    "seq": 1 + frames,
                    "live": True,
                    "playing": True,
                    "commands": asked(frames),
                }
            )
    check(answered(state, stream), Update, "update")


def test_the_stream_s_background_and_the_constants_have_the_declared_fields(stream: ShownStream) -> None:
    check(stream.background(), StreamBackground, "background")
    controller = ConsoleController(ConsoleState())
    controller.show(stream, 1)
    check(controller.constants(), protocol.Constants, "constants")


def test_what_no_knob_changes_does_not_travel_with_an_update(stream: ShownStream) -> None:
    """Help, labels, presets and titles are sent once, when the component is mounted."""
    sent = json.dumps(answered(ConsoleState(), stream), ensure_ascii=False)
    fixed = display.constants()
    for words in (*(r["help"] for r in fixed["readouts"]), *(p["help"] for p in fixed["panels"]), "nervous"):
        assert words not in sent
    assert len(json.dumps({**json.loads(sent), "display": None})) < 600  # the controls' part


def test_the_page_has_the_same_types() -> None:
    assert message_types.TARGET.read_text() == message_types.text(), "run python tools/message_types.py"


def test_the_check_notices_a_field_too_many_and_one_too_few() -> None:
    with pytest.raises(AssertionError, match="not declared"):
        check({"dtype": "f4", "bdata": "", "more": 1}, protocol.Packed, "packed")
    with pytest.raises(AssertionError, match="missing"):
        check({"dtype": "f4"}, protocol.Packed, "packed")
