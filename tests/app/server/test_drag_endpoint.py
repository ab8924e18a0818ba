"""The direct line: it answers whoever holds a seat's token, one at a time, and nobody else."""

from __future__ import annotations

import gc
import json
import threading
from typing import Any

import anyio
import pytest
from starlette.websockets import WebSocketDisconnect

from app.console.console_state import ConsoleState
from app.server import drag_endpoint

CONTROLS = {"epoch": 0, "mount": "a", "seq": 1, "zeta": 0.3, "omega_n": 1.5, "released": False}


def opened() -> drag_endpoint.DragEndpoint:
    made = drag_endpoint.DragEndpoint()
    made.reply = lambda request, answer, server_ms: {"request": dict(request)}
    return made


def ask(**message: Any) -> dict[str, Any] | None:
    reply = drag_endpoint.answer_text(json.dumps(message))
    return None if reply is None else json.loads(reply)


def test_a_hand_is_answered_by_its_own_seat_with_rising_stamps() -> None:
    mine, other = opened(), opened()
    assert mine.token != other.token and len(mine.token) >= 32
    first, second = (ask(token=mine.token, controls=CONTROLS, what="else") for _ in range(2))
    assert first is not None and second is not None
    assert first["request"] == {"controls": CONTROLS}  # what nobody asked for is dropped
    assert [a["answer"] for a in (first, second)] == [1, 2]
    assert other.answers == 0


@pytest.mark.parametrize(
    "text",
    ["", "not json", "[]", "3", "null", "{}", '{"token": null}', '{"token": ["a"]}', '{"token": "guess"}',
     "[" * 5000, '{"token": "' + "a" * drag_endpoint.LONGEST + '"}'],
    ids=lambda text: text[:16],
)  # fmt: skip
def test_a_stranger_gets_no_answer(text: str) -> None:
    taken = opened()
    assert drag_endpoint.answer_text(text) is None
    assert taken.answers == 0


def test_a_seat_without_a_page_and_one_whose_session_is_over_answer_nobody() -> None:
    empty = drag_endpoint.DragEndpoint()
    assert ask(token=empty.token) is None
    left = opened()
    token = left.token
    gc.disable()  # what the app has frozen is never collected: nothing may hold on to a seat
    try:
        del left
        assert ask(token=token) is None
    finally:
        gc.enable()


def test_answers_are_made_one_at_a_time() -> None:
    inside, most = 0, 0
    shared = drag_endpoint.DragEndpoint()

    def reply(request: object, answer: int, server_ms: float) -> dict[str, Any]:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        threading.Event().wait(0.001)
        inside -= 1
        return {}

    shared.reply = reply
    threads = [threading.Thread(target=lambda: [ask(token=shared.token) for _ in range(20)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1 and shared.answers == 80


def test_what_is_not_finite_never_leaves() -> None:
    """JSON has no NaN: a page could not read it."""
    odd = drag_endpoint.DragEndpoint()
    odd.reply = lambda request, answer, server_ms: {"value": float("nan")}
    with pytest.raises(ValueError, match="JSON"):
        ask(token=odd.token)


def test_a_hand_that_was_overtaken_on_the_way_is_not_obeyed() -> None:
    state = ConsoleState()
    state.apply_controls({**CONTROLS, "seq": 7, "zeta": 0.5})
    state.apply_controls({**CONTROLS, "seq": 3, "zeta": 2.0})
    assert (state.settings.zeta, state.seq) == (0.5, 7)
    state.apply_controls({**CONTROLS, "mount": "b", "seq": 1, "zeta": 2.0})  # a deck that was mounted anew counts anew
    assert (state.settings.zeta, state.seq) == (2.0, 1)


@pytest.mark.parametrize("prefix, path", [("", "/knob-drag"), ("/tools/knob/", "/tools/knob/knob-drag")])
def test_the_line_lies_under_the_servers_prefix(prefix: str, path: str) -> None:
    assert drag_endpoint.route(prefix).path == path


def test_a_page_that_leaves_before_its_answer_is_let_go(caplog: pytest.LogCaptureFixture) -> None:
    taken = opened()

    class Gone:
        async def accept(self) -> None: ...

        async def receive(self) -> dict[str, str]:
            return {"type": "websocket.receive", "text": json.dumps({"token": taken.token, "controls": CONTROLS})}

        async def send_text(self, text: str) -> None:
            raise WebSocketDisconnect(1006)

    anyio.run(drag_endpoint.serve, Gone())
    assert taken.answers == 1 and not caplog.records
