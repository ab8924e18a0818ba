"""The direct line: it answers whoever holds a seat's token, one at a time, and nobody else."""

from __future__ import annotations

import gc
import json
import threading
from typing import Any

import anyio
import pytest
from starlette.websockets import WebSocketDisconnect

from app import line
from app.desk import Desk

HAND = {"epoch": 0, "deck": "a", "seq": 1, "zeta": 0.3, "omega_n": 1.5, "done": False}


def seat() -> line.Seat:
    made = line.Seat()
    made.reply = lambda said, seat: {"said": dict(said)}
    return made


def ask(**message: Any) -> dict[str, Any] | None:
    reply = line.answer(json.dumps(message))
    return None if reply is None else json.loads(reply)


def test_a_hand_is_answered_by_its_own_seat_with_rising_stamps() -> None:
    mine, other = seat(), seat()
    assert mine.token != other.token and len(mine.token) >= 32
    first, second = (ask(token=mine.token, hand=HAND, what="else") for _ in range(2))
    assert first is not None and second is not None
    assert first["said"] == {"hand": HAND}  # what nobody asked for is dropped
    assert [a["line"]["stamp"] for a in (first, second)] == [1, 2]
    assert other.answers == 0


@pytest.mark.parametrize(
    "text",
    ["", "not json", "[]", "3", "null", "{}", '{"token": null}', '{"token": ["a"]}', '{"token": "guess"}',
     "[" * 5000, '{"token": "' + "a" * line.LONGEST + '"}'],
    ids=lambda text: text[:16],
)  # fmt: skip
def test_a_stranger_gets_no_answer(text: str) -> None:
    taken = seat()
    assert line.answer(text) is None
    assert taken.answers == 0


def test_a_seat_without_a_page_and_one_whose_session_is_over_answer_nobody() -> None:
    empty = line.Seat()
    assert ask(token=empty.token) is None
    left = seat()
    token = left.token
    gc.disable()  # what the app has frozen is never collected: nothing may hold on to a seat
    try:
        del left
        assert ask(token=token) is None
    finally:
        gc.enable()


def test_answers_are_made_one_at_a_time() -> None:
    inside, most = 0, 0
    shared = line.Seat()

    def reply(said: object, seat: line.Seat) -> dict[str, Any]:
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
    odd = line.Seat()
    odd.reply = lambda said, seat: {"value": float("nan")}
    with pytest.raises(ValueError, match="JSON"):
        ask(token=odd.token)


def test_a_hand_that_was_overtaken_on_the_way_is_not_obeyed() -> None:
    desk = Desk()
    desk.take({**HAND, "seq": 7, "zeta": 0.5})
    desk.take({**HAND, "seq": 3, "zeta": 2.0})
    assert (desk.settings.zeta, desk.seq) == (0.5, 7)
    desk.take({**HAND, "deck": "b", "seq": 1, "zeta": 2.0})  # a deck that was mounted anew counts anew
    assert (desk.settings.zeta, desk.seq) == (2.0, 1)


@pytest.mark.parametrize("prefix, path", [("", "/knob-line"), ("/tools/knob/", "/tools/knob/knob-line")])
def test_the_line_lies_under_the_servers_prefix(prefix: str, path: str) -> None:
    assert line.route(prefix).path == path


def test_a_page_that_leaves_before_its_answer_is_let_go(caplog: pytest.LogCaptureFixture) -> None:
    taken = seat()

    class Gone:
        async def accept(self) -> None: ...

        async def receive(self) -> dict[str, str]:
            return {"type": "websocket.receive", "text": json.dumps({"token": taken.token, "hand": HAND})}

        async def send_text(self, text: str) -> None:
            raise WebSocketDisconnect(1006)

    anyio.run(line.talk, Gone())
    assert taken.answers == 1 and not caplog.records
