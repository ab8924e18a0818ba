"""What a page sends over Streamlit's socket comes in its turn, and what no page sends does not come."""

from __future__ import annotations

import asyncio
import json
import time
import tomllib
from typing import Any

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from app.server import page_messages
from app.server.page_messages import (
    BURST,
    LARGE,
    LONGEST,
    MOST_FILES,
    MOST_WIDGETS,
    RATE,
    WHOLE_PAGE,
    PageMessages,
    Shares,
    is_of_a_page,
)  # fmt: skip
from knob_core.assets import ROOT
from knob_core.uploads.limits import MAX_PICTURES

ADDRESS = "/_stcore/upload_file/01234567-0123-0123-0123-0123456789ab/01234567-0123-0123-0123-0123456789ab"


def run(fragment: str = "", files: int = 0, same: bool = False, report: str = "") -> BackMsg:
    """A page's script runs again."""
    message = BackMsg()
    message.rerun_script.fragment_id = fragment
    given = message.rerun_script.widget_states.widgets.add(id="files").file_uploader_state_value
    for i in range(files):
        info = given.uploaded_file_info.add(file_id=f"{0 if same else i:036}", name=f"a folder/{i:0100}.png", size=1)
        info.file_urls.file_id, info.file_urls.upload_url, info.file_urls.delete_url = info.file_id, ADDRESS, ADDRESS
    message.rerun_script.widget_states.widgets.add(id="component").json_value = report
    return message


def widgets(count: int, files: int = 0, strings: int = 0) -> BackMsg:
    """A run with the state of many widgets, each with so many files or strings."""
    message = BackMsg()
    for i in range(count):
        widget = message.rerun_script.widget_states.widgets.add()
        for file in range(files):
            widget.file_uploader_state_value.uploaded_file_info.add(file_id=f"{i}-{file}")
        if strings:
            widget.string_array_value.data.extend([""] * strings)
    return message


def remembers(messages: int) -> BackMsg:
    message = BackMsg()
    message.rerun_script.cached_message_hashes.extend(["a"] * messages)
    return message


def names(files: int) -> BackMsg:
    message = BackMsg()
    message.file_urls_request.request_id = "r"
    message.file_urls_request.file_names.extend(["a.png"] * files)
    return message


def simple(kind: str) -> BackMsg:
    message = BackMsg()
    setattr(message, kind, True)
    return message


def taken(*messages: BackMsg, path: str = "/_stcore/stream") -> tuple[list[BackMsg], list[ForwardMsg]]:
    """What Streamlit gets of these, and what the page is told."""
    coming = [{"type": "websocket.receive", "bytes": m.SerializeToString()} for m in messages]
    got: list[BackMsg] = []
    told: list[ForwardMsg] = []

    async def receive() -> Any:
        return coming.pop(0) if coming else {"type": "websocket.disconnect", "code": 1000}

    async def send(message: Any) -> None:
        told.append(ForwardMsg.FromString(message["bytes"]))

    async def streamlit(scope: Any, receive: Any, send: Any) -> None:
        while (message := await receive())["type"] == "websocket.receive":
            got.append(BackMsg.FromString(message["bytes"]))

    asyncio.run(PageMessages(streamlit)({"type": "websocket", "path": path}, receive, send))
    return got, told


def test_ordinary_messages_come_as_they_are_and_in_order() -> None:
    sent = [run("fast", report=json.dumps({"zeta": i / 100})) for i in range(100)]
    sent += [run(), names(MAX_PICTURES), simple("app_heartbeat"), simple("stop_script")]
    assert taken(*sent) == (sent, [])


def test_a_stream_of_as_many_pictures_as_are_taken_passes() -> None:
    most = run(files=MOST_FILES)
    assert taken(most) == ([most], []) and len(most.SerializeToString()) < LONGEST and MOST_FILES > MAX_PICTURES
    shipped = tomllib.loads((ROOT / "app" / ".streamlit" / "config.toml").read_text())["server"]
    assert shipped["maxWidgetStateSize"] * 1_000_000 == LONGEST


@pytest.mark.parametrize(
    "sent",
    [
        simple("load_git_info"),
        simple("clear_cache"),
        run(files=2, same=True),
        run(files=MOST_FILES + 1),
        run(report=json.dumps([[]] * 40_000)),
        widgets(MOST_WIDGETS + 1),
        widgets(2, files=MOST_FILES // 2 + 1),
        widgets(1, strings=100_000),
        remembers(MOST_WIDGETS + 1),
    ],
    ids=[
        "git",
        "cache",
        "one file twice",
        "too many files",
        "a giant report",
        "too many widgets",
        "too many files of many widgets",
        "a giant list",
        "too many messages that it remembers",
    ],
)
def test_what_no_page_sends_does_not_come(sent: BackMsg) -> None:
    """A file of 48 MB that was named 2,000 times took 14 GB; the names of changed files were told to everybody."""
    assert taken(sent, run("fast")) == ([run("fast")], [])


@pytest.mark.parametrize("sent", [widgets(300_000), widgets(1, files=300_000)], ids=["widgets", "files"])
def test_what_is_too_many_is_not_walked_over(sent: BackMsg) -> None:
    """Of 1,450,000 empty widgets each was looked at, in the event loop: four sockets of it, and all waited for 8 s."""
    data = sent.SerializeToString()
    began = time.perf_counter()
    asked = BackMsg.FromString(data)
    parsed = time.perf_counter()
    assert not is_of_a_page(asked) and time.perf_counter() - parsed < parsed - began


def test_large_messages_are_parsed_one_at_a_time_in_the_whole_server() -> None:
    """Each took a hundred megabytes while it was parsed, and while it waited for its turn."""

    async def visits() -> None:
        async def streamlit(scope: Any, receive: Any, send: Any) -> None:
            await receive()

        server = PageMessages(streamlit)

        async def visit(sent: BackMsg) -> None:
            async def receive() -> Any:
                return {"type": "websocket.receive", "bytes": sent.SerializeToString()}

            await server({"type": "websocket", "path": "/_stcore/stream"}, receive, receive)

        await server._large.acquire()  # another page's is being parsed
        large = asyncio.create_task(visit(run(files=MOST_FILES)))
        await visit(run("fast"))
        await asyncio.sleep(0.05)
        assert not large.done()
        server._large.release()
        await large

    asyncio.run(visits())


def test_a_giant_folder_is_refused_in_words() -> None:
    """Of 300,000 names an answer was made in the event loop."""
    got, told = taken(names(MOST_FILES + 1), run("fast"))
    assert got == [run("fast")]
    assert [(t.file_urls_response.response_id, t.file_urls_response.error_msg) for t in told] == [
        ("r", "5,001 files at a time, expected at most 5,000")
    ]


def test_other_sockets_are_left_alone() -> None:
    sent = simple("load_git_info")
    assert taken(sent, path="/knob-drag") == ([sent], [])


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(page_messages.time, "monotonic", lambda: now[0])
    return now


def test_a_drag_through_streamlit_never_waits_and_a_flood_does(clock: list[float]) -> None:
    drag, flood = Shares(RATE, BURST), Shares(RATE, BURST)
    for _ in range(1000):
        clock[0] += 1 / 30
        assert drag.take(1 + 500 / page_messages.BYTES) == 0
    for _ in range(int(BURST)):
        assert flood.take(1) == 0
    assert [flood.take(1) for _ in range(50)] == pytest.approx([(i + 1) / RATE for i in range(50)])
    clock[0] += 1000
    assert flood.take(BURST) == 0 and flood.take(1) > 0  # what is saved up has a bound


def test_a_visitor_who_clicks_fast_never_waits(clock: list[float]) -> None:
    clicks = Shares(RATE, BURST)
    for _ in range(10):  # eight clicks within a second, and a moment to look
        for _ in range(8):
            clock[0] += 1 / 8
            assert clicks.take(WHOLE_PAGE + 0.2) == 0
        clock[0] += 1


def test_others_have_a_turn_between_two_messages() -> None:
    """A thousand messages were handled in one go."""
    turns, sent = 0, [run("fast")] * 50

    async def both() -> None:
        nonlocal turns
        left = [{"type": "websocket.receive", "bytes": m.SerializeToString()} for m in sent]

        async def receive() -> Any:
            return left.pop() if left else {"type": "websocket.disconnect", "code": 1000}

        async def streamlit(scope: Any, receive: Any, send: Any) -> None:
            while (await receive())["type"] == "websocket.receive":
                pass

        async def another() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        other = asyncio.create_task(another())
        await PageMessages(streamlit)({"type": "websocket", "path": "/_stcore/stream"}, receive, receive)
        other.cancel()

    asyncio.run(both())
    assert turns >= len(sent)


@pytest.mark.parametrize("sent", [run("fast"), run("fast", report="x" * LARGE)], ids=["small", "large"])
def test_what_a_client_sent_that_has_left_is_not_done(monkeypatch: pytest.MonkeyPatch, sent: BackMsg) -> None:
    """Its messages waited for minutes, and each ran the page; nor are those that wait parsed."""
    monkeypatch.setattr(page_messages, "BURST", 0.5)
    parsed: list[BackMsg] = []

    def parse() -> BackMsg:
        parsed.append(BackMsg())
        return parsed[-1]

    monkeypatch.setattr(page_messages, "BackMsg", parse)

    class Protocol:
        disconnected = True

        async def receive(self) -> Any:
            return {"type": "websocket.receive", "bytes": sent.SerializeToString()}

    async def two() -> list[str]:
        slowed = page_messages._Slowed(Protocol().receive, Protocol().receive, asyncio.Lock())  # type: ignore[arg-type]
        return [(await slowed())["type"] for _ in range(2)]

    assert asyncio.run(two())[-1] == "websocket.disconnect" and len(parsed) == (len(sent.SerializeToString()) < LARGE)
