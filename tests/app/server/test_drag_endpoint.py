"""The drag endpoint answers whoever holds its token, one message at a time, and nobody else."""

from __future__ import annotations

import gc
import json
import threading
import tomllib
from typing import Any

import anyio
import pytest
from starlette.datastructures import Headers
from starlette.websockets import WebSocketDisconnect
from streamlit import config

from app.console.console_state import ConsoleState
from app.server import drag_endpoint, streamlit_compat
from knob_core.assets import ROOT

CONTROLS = {"epoch": 0, "seq": 1, "zeta": 0.3, "omega_n": 1.5, "released": False}


def opened() -> drag_endpoint.DragEndpoint:
    made = drag_endpoint.DragEndpoint()
    made.reply = lambda request, answer: {"request": dict(request)}
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

    def reply(request: object, answer: int) -> dict[str, Any]:
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
    odd.reply = lambda request, answer: {"value": float("nan")}
    with pytest.raises(ValueError, match="JSON"):
        ask(token=odd.token)


def test_messages_with_an_outdated_sequence_number_are_ignored() -> None:
    state = ConsoleState()
    state.apply_controls({**CONTROLS, "seq": 7, "zeta": 0.5})
    state.apply_controls({**CONTROLS, "seq": 3, "zeta": 2.0})
    assert (state.settings.zeta, state.seq) == (0.5, 7)


@pytest.mark.parametrize("prefix, path", [("", "/knob-drag"), ("/tools/knob/", "/tools/knob/knob-drag")])
def test_the_socket_s_path_lies_under_the_servers_prefix(prefix: str, path: str) -> None:
    assert drag_endpoint.route(prefix).path == path


class Page:
    """A page at the other end of a socket: says what it is told to, then is silent."""

    def __init__(self, *says: dict[str, Any], origin: str | None = None, host: str = "localhost:8501") -> None:
        self.says = [json.dumps(message) for message in says]
        named = {"host": host, **({} if origin is None else {"origin": origin})}
        self.headers = Headers(named)
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
    assert page.heard == [{"request": {"controls": CONTROLS}, "answer": 1}] and page.closed is None


@pytest.mark.parametrize("says", [{"token": "guess", "controls": CONTROLS}, {"controls": CONTROLS}])
def test_an_unknown_token_closes_the_socket(says: dict[str, Any]) -> None:
    page = Page(says)
    meet(page)
    assert page.heard == [] and page.closed == drag_endpoint.REFUSED


def test_an_answer_that_fails_closes_the_socket_and_its_token_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    taken = drag_endpoint.DragEndpoint()
    taken.reply = lambda request, answer: {"never": 1 / 0}
    page = Page({"token": taken.token, "controls": CONTROLS})
    meet(page, seconds=0.5)
    assert page.heard == [] and page.closed == drag_endpoint.REFUSED
    assert "ZeroDivisionError" in caplog.text and taken.token not in caplog.text


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


def test_a_session_whose_answers_are_slow_leaves_a_worker_to_others() -> None:
    """And replies that wait for another server, as the Live page's, leave both."""
    hung, quick = threading.Event(), opened()
    slow, waiting = opened(), [opened() for _ in range(4)]

    def wait(*_: Any) -> dict[str, Any]:
        assert hung.wait(60)
        return {}

    for one in (slow, *waiting):
        one.reply, one.asks = wait, one is not slow

    async def all_of_them() -> None:
        async with anyio.create_task_group() as tasks:
            for one in (slow, *waiting):
                tasks.start_soon(one.answer_text, {})
            await anyio.sleep(0.05)
            try:
                with anyio.fail_after(20):
                    assert json.loads(await quick.answer_text({"controls": CONTROLS}))["answer"] == 1
            finally:
                hung.set()

    anyio.run(all_of_them)
    assert slow.answers == 1 and all(one.answers == 1 for one in waiting)


@pytest.mark.parametrize("origin", ["http://[", "http://]", "null", "", "http://evil.example"])
def test_an_origin_that_is_none_is_refused(origin: str) -> None:
    assert not streamlit_compat.is_origin_allowed(origin, "localhost:8501")


@pytest.mark.parametrize("listed", ["https://knob.example.com", "https://Knob.Example.com/"])
def test_a_listed_origin_is_found_however_it_is_written(monkeypatch: pytest.MonkeyPatch, listed: str) -> None:
    options = {"server.corsAllowedOrigins": [listed], "server.enableCORS": True}
    monkeypatch.setattr(streamlit_compat.st, "get_option", options.get)
    assert streamlit_compat.is_origin_allowed("https://knob.example.com", "localhost:8501")
    assert not streamlit_compat.is_origin_allowed("https://other.example.com", "localhost:8501")
