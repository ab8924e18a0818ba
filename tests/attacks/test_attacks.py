"""Attacks on a served app, small enough for every run of the tests; at length by hand (see the scripts beside this)."""

from __future__ import annotations

import asyncio
import json
import socket
import statistics
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from app.server import socket_limits
from app.server.download_turns import MOST_ASKED
from tests.attacks import sockets
from tests.helpers.page_visitor import PageVisitor
from tests.helpers.visitors import PATIENCE, Visitor, put
from tools.screenshots import ROOT, Served, served

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def internet() -> Iterator[socket.socket]:
    """A proxy of the app that answers nobody."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


@pytest.fixture(scope="module")
def app(internet: socket.socket) -> Iterator[Served]:
    """The app; closed pages may come back for two seconds only."""
    proxy = f"http://127.0.0.1:{internet.getsockname()[1]}"
    options = {"http_proxy": proxy, "https_proxy": proxy, "STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "2"}
    with served(ROOT / "app" / "main.py", **options) as running:
        yield running


def test_a_hundred_sockets_of_one_session_do_not_slow_another_down(app: Served) -> None:
    """Every answer waited for all of them, which took 20 times as long; the bound leaves room for a busy machine."""
    for _ in range(3):  # other tests come and go between the two measurements
        before, during = asyncio.run(sockets.medians(app.url, hostile=100, honest=1, answers=40))
        if during < 4 * before:
            break
    assert during < 4 * before


def test_nothing_of_a_session_is_left_when_it_is_over(app: Served) -> None:
    """Its token opens nothing any more, although nobody else came, and its files are gone."""

    async def visit() -> str:
        async with Visitor(app.url) as visitor:
            line = await visitor.line()
            await visitor.drag(line, 2)
            return visitor.turn(0.5)

    async def is_answered(message: str) -> bool:
        async with connect(app.url.replace("http", "ws") + "/knob-drag") as line:
            await line.send(message)
            try:
                return "display" in json.loads(await line.recv())
            except ConnectionClosed as closed:
                assert closed.rcvd is not None and closed.rcvd.code == socket_limits.REFUSED
                return False

    message = asyncio.run(visit())
    ends = time.monotonic() + PATIENCE
    while asyncio.run(is_answered(message)):
        assert time.monotonic() < ends, "the session of a closed page lives on"
        time.sleep(1)


def test_a_flood_through_streamlit_waits_for_others(app: Served) -> None:
    """A few kilobytes of runs kept the server from everybody for minutes, hundreds of files took all its threads."""

    async def visit() -> tuple[bool, Counter[str], set[str]]:
        async with Visitor(app.url) as honest, PageVisitor(app.url) as hostile:
            line = await honest.line()
            await honest.drag(line, 2)
            file = hostile.find("download_button", "Settings file")[0].deferred_file_id
            for i in range(60):
                message = BackMsg()
                asked = message.backend_operation_request
                asked.request_id, asked.session_id, asked.deferred_file.file_id = str(i), hostile.session_id, file
                await hostile.send(message)
            await hostile.until(lambda: len(hostile.answers) == 60)
            told = Counter(answer.error_msg for answer in hostile.answers.values())
            kinds: set[str] = set()

            async def listen() -> None:
                while "heartbeat_ack" not in kinds:
                    kinds.add(str((await hostile._next()).WhichOneof("type")))

            git, run, last = BackMsg(load_git_info=True), BackMsg(), BackMsg(app_heartbeat=True)
            run.rerun_script.query_string = "a"
            for message in (git, *[run] * 300, last):
                await hostile.send(message)
            listening = asyncio.create_task(listen())
            await honest.drag(line, 10)
            waits = not listening.done()
            listening.cancel()
            hostile.stream.transport.abort()  # its goodbye would wait for its turn, too
            return waits, told, kinds

    waits, told, kinds = asyncio.run(visit())
    assert waits and "git_info_changed" not in kinds
    refused = f"{MOST_ASKED} files are being made for you; please wait for one of them"
    assert set(told) == {"", refused} and told[""] >= MOST_ASKED  # how many are made meanwhile is a matter of speed


def test_sessions_that_run_their_pages_without_end_do_not_starve_others(app: Served) -> None:
    """Each run's thread was started in the event loop: eight sessions made others' answers 100 times slower."""

    async def visit() -> tuple[float, float]:
        async with AsyncExitStack() as open_:
            honest = await open_.enter_async_context(Visitor(app.url))
            hostile = [await open_.enter_async_context(Visitor(app.url)) for _ in range(8)]
            line = await honest.line()
            await honest.drag(line, 5)
            before = statistics.median(await honest.drag(line, 20))

            async def read(visitor: Visitor) -> None:
                async for _ in visitor.stream:
                    pass

            async def run(visitor: Visitor) -> None:
                message = BackMsg()
                message.rerun_script.query_string = "a"
                while True:
                    await visitor.send(message)
                    await asyncio.sleep(0.02)

            busy = [asyncio.create_task(act(visitor)) for visitor in hostile for act in (read, run)]
            await asyncio.sleep(4)  # what they have saved up is used
            during = statistics.median(await honest.drag(line, 10))
            for task in busy:
                task.cancel()
            for visitor in hostile:
                visitor.stream.transport.abort()
            return before, during

    for _ in range(3):  # other tests come and go between the two measurements
        before, during = asyncio.run(visit())
        if during < 30 * before:
            break
    assert during < 30 * before


@pytest.mark.parametrize("path", ["/knob-drag", "/_stcore/stream"])
def test_pings_that_are_never_read_end_their_socket(app: Served, path: str) -> None:
    """They were answered without end: the answers filled the memory, and everybody waited."""

    async def flood() -> None:
        reader, writer = await asyncio.open_connection(*app.url.removeprefix("http://").split(":"))
        lines = [f"GET {path} HTTP/1.1", f"Host: {app.url.removeprefix('http://')}", "Upgrade: websocket"]
        lines += ["Connection: Upgrade", "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==", "Sec-WebSocket-Version: 13"]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        await reader.readuntil(b"\r\n\r\n")
        for _ in range(400):  # 5 MB
            writer.write((b"\x89\xfd\0\0\0\0" + bytes(125)) * 100)
            await writer.drain()
        await asyncio.sleep(PATIENCE)

    with pytest.raises(ConnectionError):
        asyncio.run(flood())


@pytest.mark.parametrize("path", ["/knob-drag", "/_stcore/stream"])
def test_other_sites_and_other_names_reach_no_socket(app: Served, internet: socket.socket, path: str) -> None:
    """Streamlit asked the internet for the machine's address each time, and all visitors waited for two seconds."""
    host, address = app.url.removeprefix("http://"), app.url.replace("http", "ws") + path

    async def is_open(**headers: str) -> bool:
        try:
            async with connect(address, additional_headers=headers):
                return True
        except InvalidStatus as refused:
            assert refused.response.status_code == 403
            return False

    assert asyncio.run(is_open(Origin=f"http://{host}"))
    assert not asyncio.run(is_open(Origin="http://evil.example"))
    with pytest.raises(BlockingIOError):  # nobody has come
        internet.accept()


def test_a_long_message_is_not_read(app: Served) -> None:
    async def closed_with() -> int:
        async with connect(app.url.replace("http", "ws") + "/knob-drag") as line:
            await line.send("x" * 1_000_000)
            try:
                await line.recv()
            except ConnectionClosed as closed:
                return closed.rcvd.code if closed.rcvd else 0
        return 0

    assert asyncio.run(closed_with()) == 1009  # message too big: the server's own refusal, before it is in memory


def test_one_session_may_leave_so_much_on_the_server(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Of five files of 30 MB three are kept, and room is made where one is removed."""
    with served(ROOT / "app" / "main.py", STREAMLIT_SERVER_ENABLE_XSRF_PROTECTION="false") as app:

        async def visit() -> list[int]:
            async with Visitor(app.url) as visitor:
                address = f"{app.url}/_stcore/upload_file/{visitor.session_id}"
                got = [await asyncio.to_thread(put, f"{address}/{i}", bytes(30_000_000)) for i in range(5)]
                remove = urllib.request.Request(f"{address}/0", method="DELETE")
                await asyncio.to_thread(urllib.request.urlopen, remove)
                return [*got, await asyncio.to_thread(put, f"{address}/6", bytes(30_000_000))]

        assert asyncio.run(visit()) == [204, 204, 204, 413, 413, 204]
