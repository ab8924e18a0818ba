"""The drag endpoint answers whoever holds its token, one message at a time, and nobody else."""

from __future__ import annotations

import gc
import json
import math
import threading
import time
import tomllib
from typing import Any

import anyio
import pytest
from starlette.datastructures import Headers
from starlette.websockets import WebSocketDisconnect
from streamlit import config

from app.console.console_state import ConsoleState
from app.server import drag_endpoint, socket_limits
from knob_core.assets import ROOT

CONTROLS = {"epoch": 0, "mount": "a", "seq": 1, "zeta": 0.3, "omega_n": 1.5, "released": False}


def opened() -> drag_endpoint.DragEndpoint:
    made = drag_endpoint.DragEndpoint()
    made.reply = lambda request, answer, server_ms: {"request": dict(request)}
    return made


def ask(**message: Any) -> dict[str, Any] | None:
    asked = drag_endpoint.read(json.dumps(message))
    return None if asked is None else json.loads(anyio.run(asked[0].answer_text, asked[1]))


def test_a_message_is_answered_by_its_own_endpoint_with_rising_numbers() -> None:
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
def test_without_a_valid_token_there_is_no_answer(text: str) -> None:
    taken = opened()
    assert drag_endpoint.read(text) is None
    assert taken.answers == 0


def test_an_endpoint_without_a_page_or_whose_session_is_over_answers_nobody() -> None:
    empty = drag_endpoint.DragEndpoint()
    assert ask(token=empty.token) is None
    left = opened()
    token = left.token
    gc.disable()  # what the app has frozen is never collected: nothing may keep an endpoint
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


def test_many_waiting_messages_of_a_session_look_no_more_often_than_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each looked every two milliseconds: a hundred kept the event loop busy, and every other visitor waited for it."""
    looks, busy = 0, drag_endpoint.AnswerLock()

    def look() -> float:
        nonlocal looks
        looks += 1
        return 0.0

    async def wait_for_it(messages: int) -> None:
        with anyio.move_on_after(100 * drag_endpoint.RETRY):
            async with anyio.create_task_group() as waiting:
                for _ in range(messages):
                    waiting.start_soon(busy.acquire_in_event_loop)

    busy.acquire()
    monkeypatch.setattr(busy, "_pause", look)
    anyio.run(wait_for_it, 100)
    assert 100 <= looks <= 300  # each at once, then a hundred times in all; the bound leaves room for a busy machine
    looks = 0
    anyio.run(wait_for_it, 1)
    assert 10 < looks <= 102  # those who left wait no more: a single message looks often


def test_what_is_not_finite_never_leaves() -> None:
    """JSON has no NaN: a page could not read it."""
    odd = drag_endpoint.DragEndpoint()
    odd.reply = lambda request, answer, server_ms: {"value": float("nan")}
    with pytest.raises(ValueError, match="JSON"):
        ask(token=odd.token)


def test_messages_with_an_outdated_sequence_number_are_ignored() -> None:
    state = ConsoleState()
    state.apply_controls({**CONTROLS, "seq": 7, "zeta": 0.5})
    state.apply_controls({**CONTROLS, "seq": 3, "zeta": 2.0})
    assert (state.settings.zeta, state.seq) == (0.5, 7)
    state.apply_controls({**CONTROLS, "mount": "b", "seq": 1, "zeta": 2.0})  # mounted anew, they count anew
    assert (state.settings.zeta, state.seq) == (2.0, 1)


@pytest.mark.parametrize("prefix, path", [("", "/knob-drag"), ("/tools/knob/", "/tools/knob/knob-drag")])
def test_the_socket_s_path_lies_under_the_servers_prefix(prefix: str, path: str) -> None:
    assert drag_endpoint.route(prefix).path == path


class Page:
    """A page at the other end of a socket: says what it is told to, then is silent."""

    def __init__(self, *says: dict[str, Any], origin: str | None = None, host: str = "localhost:8501") -> None:
        self.says = [json.dumps(message) for message in says]
        named = {"host": host, **({} if origin is None else {"origin": origin})}
        self.headers, self._receive = Headers(named), None
        self.heard: list[dict[str, Any]] = []
        self.accepted, self.closed = False, None
        self.left = anyio.Event()

    async def accept(self) -> None:
        self.accepted = True

    async def receive(self) -> dict[str, str]:
        if self.says:
            return {"type": "websocket.receive", "text": self.says.pop(0)}
        await self.left.wait()
        return {"type": "websocket.disconnect"}

    async def send_text(self, text: str) -> None:
        self.heard.append(json.loads(text))

    async def close(self, code: int) -> None:
        self.closed = self.closed or code
        self.left.set()


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_limits, "LINGER", 0.01)


def meet(*pages: Page, seconds: float = 0.05) -> None:
    """Serve pages one after the other, all of them together for a while, then let them leave."""

    async def all_of_them() -> None:
        async with anyio.create_task_group() as tasks:
            for page in pages:
                tasks.start_soon(drag_endpoint.serve, page)
                await anyio.sleep(0.01)
            await anyio.sleep(seconds)
            for page in pages:
                page.left.set()

    anyio.run(all_of_them)


def test_a_page_that_leaves_before_its_answer_is_let_go(caplog: pytest.LogCaptureFixture) -> None:
    class Gone(Page):
        async def send_text(self, text: str) -> None:
            raise WebSocketDisconnect(1006)

    taken = opened()
    meet(Gone({"token": taken.token, "controls": CONTROLS}))
    assert taken.answers == 1 and not caplog.records


def test_a_greeting_opens_the_socket_and_has_no_answer() -> None:
    taken = opened()
    page = Page({"token": taken.token}, {"token": taken.token, "controls": CONTROLS})
    meet(page)
    assert page.heard == [{"request": {"controls": CONTROLS}, "answer": 1}] and page.closed in (
        None,
        socket_limits.LEFT,
    )


def test_greetings_without_end_are_taken_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each looked for its session and took a place anew, as fast as they came."""
    rests: list[float] = []

    async def rest(seconds: float) -> None:
        rests.append(seconds)

    taken = opened()
    greeting = {"token": taken.token}
    page = Page(greeting, {**greeting, "controls": CONTROLS}, *[greeting] * 5)

    async def until_it_leaves() -> None:
        page.left.set()
        monkeypatch.setattr(drag_endpoint.asyncio, "sleep", rest)
        await drag_endpoint.serve(page)  # type: ignore[arg-type]

    anyio.run(until_it_leaves)
    assert taken.answers == 1 and rests == [drag_endpoint.GREETING] * 5  # none before the first knob is turned


def test_a_socket_keeps_its_place_until_it_is_closed() -> None:
    """Those that were being closed counted no more: there could be any number of them."""
    taken, held = opened(), []

    class Slow(Page):
        async def close(self, code: int) -> None:
            held.append((len(socket_limits.without_token), len(socket_limits.with_token), len(taken.sockets)))
            await super().close(code)

    meet(Slow({"token": "none"}), seconds=0.2)
    meet(Slow({"token": taken.token}, {"token": "none"}), seconds=0.2)
    assert held == [(1, 0, 0), (0, 1, 1)]
    assert len(socket_limits.without_token) == len(socket_limits.with_token) == len(taken.sockets) == 0


def test_a_socket_without_a_token_in_time_or_silent_for_long_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_limits, "FIRST_TOKEN", 0.05)
    taken = opened()
    tokenless, page = Page(), Page({"token": taken.token})
    meet(tokenless, page, seconds=0.12)
    assert (tokenless.closed, page.closed) == (socket_limits.REFUSED, socket_limits.LEFT)
    monkeypatch.setattr(socket_limits, "IDLE", 0.2)
    page = Page({"token": taken.token})
    meet(page, seconds=0.5)
    assert page.closed == socket_limits.TIMED_OUT


def test_a_socket_stays_with_its_first_token() -> None:
    mine, other = opened(), opened()
    page = Page({"token": mine.token}, {"token": other.token, "controls": CONTROLS})
    meet(page)
    assert page.closed == socket_limits.REFUSED and other.answers == 0


@pytest.mark.parametrize(
    "origin, host, allowed",
    [(None, "localhost:8501", True), ("http://localhost:8501", "localhost:8501", True),
     ("http://evil.example", "localhost:8501", False), ("http://localhost:3000", "localhost:8501", False),
     ("http://evil.example:8501", "evil.example:8501", False), (None, "evil.example", False)],
)  # fmt: skip
def test_pages_of_other_sites_and_other_names_are_refused(origin: str | None, host: str, allowed: bool) -> None:
    """The last but one is DNS rebinding: origin and host agree, and the name is not ours."""
    shipped = tomllib.loads((ROOT / "app" / ".streamlit" / "config.toml").read_text())["server"]["allowedHosts"]
    before = config.get_option("server.allowedHosts")
    config.set_option("server.allowedHosts", shipped)
    try:
        page = Page(origin=origin, host=host)
        meet(page)
    finally:
        config.set_option("server.allowedHosts", before)
    assert page.accepted == allowed


def test_of_too_many_sockets_the_one_that_was_silent_for_longest_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = opened()
    pages = [Page({"token": taken.token}) for _ in range(5)]
    meet(*pages)
    left = 5 - socket_limits.MOST_PER_ENDPOINT
    assert [page.closed == socket_limits.NO_ROOM for page in pages] == [True] * left + [False] * (5 - left)
    monkeypatch.setattr(socket_limits.without_token, "most", 3)
    tokenless = [Page() for _ in range(5)]
    meet(*tokenless)
    assert [page.closed == socket_limits.NO_ROOM for page in tokenless] == [True] * 2 + [False] * 3
    assert len(socket_limits.without_token) == len(socket_limits.with_token) == len(taken.sockets) == 0


def test_a_hundred_messages_of_one_session_wait_in_no_thread() -> None:
    """One session's answer is slow; another's is made meanwhile, and no thread waits."""
    lock, go = drag_endpoint.AnswerLock(), threading.Event()
    slow, also_slow, quick = drag_endpoint.DragEndpoint(lock), drag_endpoint.DragEndpoint(lock), opened()
    slow.reply = also_slow.reply = lambda request, answer, server_ms: {"went": go.wait(30)}
    slow._slow_until = also_slow._slow_until = math.inf  # as their last answers told

    async def ask_all() -> None:
        async with anyio.create_task_group() as tasks:
            for i in range(100):
                tasks.start_soon((slow, also_slow)[i % 2].answer_text, {})
            await anyio.sleep(0.1)
            threads = [thread for thread in threading.enumerate() if thread.name.startswith("knob-answer")]
            assert slow.answers + also_slow.answers == 1 and len(threads) <= 2
            with anyio.fail_after(20):
                await quick.answer_text({})
            assert quick.answers == 1
            go.set()

    anyio.run(ask_all)
    assert slow.answers + also_slow.answers == 100


def test_slow_answers_in_turn_with_quick_ones_leave_the_quick_worker_to_others() -> None:
    """The last answer alone told who is slow: every other message could hold all dials up for seconds."""
    workers: list[str] = []
    turns = opened()

    def every_second_is_slow(request: Any, answer: int, server_ms: float) -> dict[str, Any]:
        workers.append(threading.current_thread().name.split("_")[0])
        time.sleep(1.5e-3 * drag_endpoint.SLOW if answer % 2 == 1 else 0)
        return {}

    turns.reply = every_second_is_slow
    for _ in range(6):
        anyio.run(turns.answer_text, {})
    assert workers == ["knob-answer-quick"] + ["knob-answer-slow"] * 5
    turns._slow_until = 0.0  # the time has passed
    anyio.run(turns.answer_text, {})
    assert workers[-1] == "knob-answer-quick"


def test_slow_sessions_take_turns() -> None:
    """One with a long stream and many pins sends as fast as it is answered; each other one comes after one answer."""
    order: list[str] = []
    greedy, modest = opened(), opened()

    def slow(name: str) -> drag_endpoint.Reply:
        def reply(request: Any, answer: int, server_ms: float) -> dict[str, Any]:
            order.append(name)
            time.sleep(0.02)
            return {}

        return reply

    greedy.reply, modest.reply = slow("greedy"), slow("modest")
    greedy._slow_until = modest._slow_until = math.inf

    async def both() -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(50):
                tasks.start_soon(greedy.answer_text, {})
            while not order:
                await anyio.sleep(0.001)
            for _ in range(5):
                before = len(order)
                await modest.answer_text({})
                assert order[before:].count("greedy") <= 2  # the one that is being made, and at most one more
            tasks.cancel_scope.cancel()

    anyio.run(both)
    assert order.count("modest") == 5


def test_replies_that_wait_for_another_server_hold_up_nobody_else() -> None:
    """The Live page asks its service in a reply; one that hung stopped all dials, then those at other services."""
    hung, other, quick = threading.Event(), opened(), opened()
    waiting = [opened() for _ in range(drag_endpoint.MOST_WAITING + 4)]

    def wait(*_: Any) -> dict[str, Any]:
        assert hung.wait(60)
        return {}

    for one in waiting:
        one.reply, one.asks = wait, "http://hung"
    other.asks = "http://other"

    async def all_of_them() -> None:
        async with anyio.create_task_group() as tasks:
            for one in waiting:
                tasks.start_soon(one.answer_text, {})
            await anyio.sleep(0.05)
            try:
                for one in (quick, other):
                    with anyio.fail_after(20):
                        assert json.loads(await one.answer_text({"controls": CONTROLS}))["answer"] == 1
            finally:
                hung.set()

    anyio.run(all_of_them)
    assert all(one.answers == 1 for one in waiting)
    assert set(drag_endpoint._waiting) == {"http://hung", "http://other"}
    waiting.clear()
    del one
    assert set(drag_endpoint._waiting) == {"http://other"}  # its workers go with the last who asks there
