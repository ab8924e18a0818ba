"""Hostile clients: refused with the cause, and others are not disturbed."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import io
import itertools
import json
import os
import re
import socket as sockets
import struct
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uvicorn
from PIL import Image
from services import logits, running
from websockets.asyncio.client import connect as connect_async
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from knob_core import wrap
from knob_core.client import Service, ServiceError, Stream
from knob_core.runtime import KnobStream
from knob_core.serving import unfinished
from knob_core.serving.engine import Engine, Limits
from knob_core.serving.frame_budget import FrameBudget
from knob_core.serving.messages import pack
from knob_core.serving.serve_command import draining_server
from knob_core.serving.web import frame_lists, one_at_a_time, openapi
from knob_core.serving.web import service as web_service
from knob_core.serving.web.app import build
from knob_core.serving.web.connections import BoundedConnection
from knob_core.serving.web.silent import Silent

EXAMPLES = int(os.environ.get("KNOB_EXAMPLES", "25"))  # of every request
CONNECTS = int(os.environ.get("KNOB_CONNECTS", "300"))


def address(service: Any, id: str, query: str = "") -> str:
    return f"{service.url.replace('http', 'ws')}/v1/streams/{id}/socket{query}"


def picture_service() -> Engine:
    """A model of its own that takes pictures of any size."""
    mean = wrap.classifier(lambda frames: np.asarray(frames, np.float64).mean((1, 2)))
    return Engine(mean, limits=Limits(rate=1e9), name="mean")


def png_header(width: int, height: int) -> bytes:
    """A tiny file that claims to be huge."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    size = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


def jpeg(seed: int = 0) -> bytes:
    file = io.BytesIO()
    pixels = np.random.default_rng(seed).integers(0, 256, (16, 16, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(file, "JPEG")
    return file.getvalue()


GARBAGE: dict[str, tuple[str | bytes, str]] = {
    "text": ("hello", "message is not JSON"),
    "no object": ("[1]", "message is a list"),
    "no type": ("{}", "expected logits or leave"),
    "nan": ('{"type":"logits","logits":[NaN,1]}', "NaN is not JSON"),
    "words": ('{"type":"logits","logits":["a",1]}', "a list of 2 numbers or more"),
    "deep": ("[" * 100_000, "message is not JSON"),
    "empty": (b"", "expected a JPEG"),
    "bytes": (b"\x00" * 100, "expected a JPEG"),
    "cut magic": (b"KNB1\x01", "expected 8 or more"),
    "long header": (b"KNB1" + struct.pack("<I", 2**31) + b"{}", "header has 2147483648 bytes"),
    "header no json": (b"KNB1" + struct.pack("<I", 2) + b"{]", "message is not JSON"),
    "unknown entry": (pack({"kind": "raw", "evil": 1}, b""), "header has \\['evil'\\]"),  # type: ignore[typeddict-unknown-key]
    "unknown kind": (pack({"kind": "video"}, b""), "kind is 'video'"),  # type: ignore[typeddict-item]
    "shape": (pack({"kind": "raw", "shape": [2, 2, 4]}, b"1234"), "expected \\[height, width, 3\\]"),
    "negative": (pack({"kind": "raw", "shape": [-2, -2, 3]}, b"1234"), "expected \\[height, width, 3\\]"),
    "huge shape": (pack({"kind": "raw", "shape": [10**9, 10**9, 3]}, b""), "pixels, expected at most"),
    "too few bytes": (pack({"kind": "raw", "shape": [2, 2, 3]}, b"12"), "frame has 2 bytes, expected 12"),
    "dtype list": (pack({"kind": "raw", "dtype": []}, b""), "dtype is \\[\\], expected one of uint8"),  # type: ignore[typeddict-item]
    "number": (pack({"kind": "picture", "number": -1}, jpeg()), "number is -1"),
    "time and elapsed": (pack({"kind": "picture", "time": 1, "elapsed": 1}, jpeg()), "both given"),
    "huge png": (png_header(60_000, 60_000), "pixels"),
    "cut jpeg": (jpeg()[:200], "damaged, cut short"),
    "cut png": (b"\x89PNG\r\n\x1a\n", "damaged, cut short"),
    "riff": (b"RIFF\x00\x00\x00\x00WAVE", "damaged, cut short"),
    "logits here": (pack({"kind": "branches", "dtype": "float64"}, b"\0" * 56), "does not take branches"),
}


def test_garbage_is_refused_with_its_cause_and_the_stream_goes_on() -> None:
    with running(picture_service()) as service, connect(address(service, "a")) as socket:
        socket.recv()
        for name, (message, cause) in GARBAGE.items():
            socket.send(message)
            reply = json.loads(socket.recv(10))
            assert reply["type"] == "refused", (name, reply)
            assert re.search(cause, reply["cause"]), (name, reply["cause"])
        socket.send(jpeg())
        assert json.loads(socket.recv(10))["frame"] == 1
        assert Service(service.url).stream("a")["frames"] == 1


def test_a_refusal_names_the_frame_where_its_number_is_right() -> None:
    bad: dict[str, str | bytes] = {
        "elapsed": pack({"kind": "logits", "number": 7, "elapsed": 0.0}),
        "unknown entry": pack({"kind": "logits", "number": 7, "evil": 1}),  # type: ignore[typeddict-unknown-key]
        "content": pack({"kind": "logits", "number": 7}, b"123"),
        "text": '{"type": "logits", "number": 7, "time": 1, "elapsed": 1, "logits": [0, 1]}',
        "words": '{"type": "logits", "number": 7, "logits": ["a", 1]}',
        "order": '{"type": "logits", "number": 7, "logits": [0, 1, 2, 3, 4]}',
    }
    with running() as service, connect(address(service, "a")) as socket:
        socket.recv()
        socket.send('{"type": "logits", "number": 7, "logits": [0, 1, 2, 3, 4]}')
        assert json.loads(socket.recv(10))["type"] == "answer"
        for name, message in bad.items():
            socket.send(message)
            reply = json.loads(socket.recv(10))
            assert (reply["type"], reply["frame"]) == ("refused", 7), (name, reply)
        socket.send(pack({"kind": "logits", "number": 0.5}))  # type: ignore[typeddict-item]
        assert json.loads(socket.recv(10))["frame"] is None


@pytest.mark.parametrize(
    ("method", "path", "name"), [("PATCH", "/v1/knobs", "clear"), ("POST", "/v1/streams/a/frames", "probabilities")]
)
def test_a_switch_that_is_neither_true_nor_false_is_refused(method: str, path: str, name: str) -> None:
    content = json.dumps({"zeta": 1.5} if method == "PATCH" else {"logits": [0.0, 1.0]}).encode()
    with running() as service:
        before = Service(service.url).knobs()
        request = urllib.request.Request(f"{service.url}{path}?{name}=2102", content, method=method)
        request.add_header("Content-Type", "application/json")
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request)
        assert refused.value.code == 400
        assert json.load(refused.value)["error"] == f"{name} is '2102', expected true or false"
        assert Service(service.url).knobs() == before


def refusal(url: str, method: str, content: str) -> tuple[int, str]:
    """(status, cause)"""
    request = urllib.request.Request(url, content.encode(), {"Content-Type": "application/json"}, method=method)
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=30)
    return refused.value.code, json.load(refused.value)["error"]


def test_names_that_stand_twice_are_refused() -> None:
    twice = {
        ("PATCH", "/v1/knobs"): ("zeta", '{"zeta": 1.5, "omega_n": 0.1, "zeta": 0.5}'),
        ("POST", "/v1/knobs/revert"): ("revision", '{"revision": 1, "revision": 1}'),
        ("POST", "/v1/streams/a/frames"): ("logits", '{"logits": [0, 1], "logits": [1, 0]}'),
        ("POST", "/v1/frames"): ("stream", '{"frames": [{"stream": "a", "stream": "b", "logits": [0, 1]}]}'),
    }
    with running() as service:
        before = Service(service.url).knobs()
        for (method, path), (name, content) in twice.items():
            cause = f"message is not JSON ('{name}' stands in one object twice)"
            assert refusal(service.url + path, method, content) == (400, cause)
        assert Service(service.url).knobs() == before and not service.engine.streams


def test_only_a_turn_for_all_clears() -> None:
    with running() as service:
        Service(service.url).turn(stream="a", zeta=1.5)
        for scope in ("groups/north", "streams/a"):
            told = refusal(f"{service.url}/v1/knobs/{scope}?clear=true", "PATCH", '{"zeta": 0.5}')
            assert told[0] == 400 and told[1].startswith("clear is true, expected false for one group or stream")
        assert Service(service.url).knobs()["streams"] == {"a": {"zeta": 1.5}}


def test_a_client_that_never_sends_a_frame_is_closed() -> None:
    with running() as service, connect(address(service, "a")) as socket:
        socket.recv()
        with pytest.raises(ConnectionClosed) as closed:
            for _ in range(200):
                socket.send("garbage")
                socket.recv(10)
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 1008


def test_giants_are_refused() -> None:
    with running(picture_service()) as service:
        with connect(address(service, "a"), max_size=None) as socket:
            socket.recv()
            with pytest.raises(ConnectionClosed) as closed:
                socket.send(b"\xff" * (service.max_frame + 100_000))
                socket.recv(10)
            assert closed.value.rcvd is not None and closed.value.rcvd.code == 1009
        for path in ("/v1/streams/b/frames", "/v1/frames"):
            with pytest.raises(ServiceError) as refused:
                Service(service.url).request("POST", path, b"x" * (service.max_frame * 8 + 1), "image/jpeg")
            assert refused.value.status in (0, 413)  # 0: closed while it was still sending
        assert Service(service.url).step("b", jpeg())["type"] == "answer"


@pytest.mark.slow
def test_a_client_that_does_not_read_is_closed_and_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """It sends and never reads: its answers are bounded, and so is the memory."""
    from knob_core.serving.web import sockets as web_sockets

    monkeypatch.setattr(web_sockets, "MOST_UNREAD", 32)
    rng = np.random.default_rng(0)
    engine = Engine(wrap.classifier(), limits=Limits(rate=1e9, queue=64), name="logits")
    with running(engine) as service:
        host, port = service.url.removeprefix("http://").split(":")
        raw = sockets.create_connection((host, int(port)))
        raw.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
        key = "GET /v1/streams/slow/socket HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        raw.sendall((key + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        good = Stream(service.url, "good", probabilities=True)
        reference = KnobStream(wrap.classifier())
        content = pack({"kind": "logits", "dtype": "float64", "probabilities": True}, np.zeros(2000).tobytes())
        frame = struct.pack(">BBQ", 0x82, 0x80 | 127, len(content)) + b"\0\0\0\0" + content
        raw.settimeout(0.5)
        broken, until = False, time.monotonic() + 30  # how much fits into buffers on the way is the machine's business
        while not broken and time.monotonic() < until:
            try:
                raw.sendall(frame)
            except (OSError, TimeoutError):
                broken = True
        for _ in range(20):
            z = logits(rng) if service.engine.stepper.backbone.num_classes is None else rng.normal(0, 3, 2000)
            assert good.step(z)["probabilities"] == reference.step(z).probabilities.tolist()
        connected = {info["stream"]: info["connected"] for info in Service(service.url).streams()}
        assert broken and connected["good"] and not connected["slow"]
        raw.close()
        good.close()


@pytest.mark.slow
def test_many_connects_leave_others_alone() -> None:
    """Sockets that open and are cut at once; half of them never finish their handshake."""
    rng = np.random.default_rng(1)
    engine = Engine(wrap.classifier(), limits=Limits(rate=1e9, capacity=50), name="logits")
    reference = KnobStream(wrap.classifier())

    async def one(service: Any, k: int) -> str:
        try:
            if k % 2:
                host, port = service.url.removeprefix("http://").split(":")
                _, writer = await asyncio.open_connection(host, int(port))
                writer.write(b"GET /v1/streams/x/socket HTTP/1.1\r\n")
                writer.transport.abort()
                return "cut"
            async with connect_async(address(service, f"x{k}")) as socket:
                await socket.recv()
                socket.transport.abort()
                return "open"
        except Exception as error:
            return str(getattr(getattr(error, "response", None), "status_code", type(error).__name__))

    async def flood(service: Any) -> list[str]:
        found: list[str] = []
        for start in range(0, CONNECTS, 50):
            found += await asyncio.gather(*(one(service, k) for k in range(start, min(start + 50, CONNECTS))))
        return found

    with running(engine) as service:
        good = Stream(service.url, "good", probabilities=True)
        good.step(first := logits(rng))
        reference.step(first)
        flooding = asyncio.new_event_loop()
        found: list[str] = []
        thread = threading.Thread(target=lambda: found.extend(flooding.run_until_complete(flood(service))))
        thread.start()
        steps = 0
        while thread.is_alive():
            z = logits(rng)
            assert good.step(z)["probabilities"] == reference.step(z).probabilities.tolist()
            steps += 1
        counts = {word: found.count(word) for word in sorted(set(found))}
        print(f"\n{CONNECTS} connects: {counts}; meanwhile {steps} frames of another stream were answered")
        assert set(counts) <= {"cut", "open", "503"} and counts.get("open", 0) > 0 and steps > 5
        good.close()


def post(service: Any, path: str, content: bytes) -> tuple[int, str]:
    """(status, cause) of a request that is refused."""
    request = urllib.request.Request(service.url + path, content, {"Content-Type": "application/json"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=30)
    return refused.value.code, json.load(refused.value)["error"]


def small_service() -> Engine:
    """Five classes, and no limit of frames per second."""
    source = wrap.classifier()
    source.num_classes = 5
    return Engine(source, limits=Limits(rate=1e9), name="logits")


def test_lists_that_hold_more_than_frames_are_refused_before_they_are_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = b'{"frames":[{"stream":"a","logits":[' + b"1," * 200_000 + b"1]}]}"
    with running(small_service()) as service:
        monkeypatch.setattr(frame_lists, "parsed", lambda content: pytest.fail("it was parsed"))
        assert post(service, "/v1/frames", numbers) == (
            400, "the body has 200,001 commas, expected at most 50,000: send fewer frames at once",
        )  # fmt: skip
        assert post(service, "/v1/frames", b" " * 1_000_001)[0] == 413
    with running(picture_service()) as service:
        content = json.dumps({"frames": [{"stream": "a", "picture": "A" * (service.max_frame * 4 // 3 + 8)}]})
        monkeypatch.undo()
        assert "characters of base64, expected at most" in post(service, "/v1/frames", content.encode())[1]


def test_a_full_list_of_honest_frames_is_taken() -> None:
    rng = np.random.default_rng(0)
    frames = [{"stream": f"s{k % 250}", "group": "all", "logits": logits(rng).tolist()} for k in range(1000)]
    with running(small_service()) as service:
        replies = Service(service.url).step_many(frames)
        assert [reply["type"] for reply in replies] == ["answer"] * 1000
        assert [reply["frame"] for reply in replies[::250]] == [1, 2, 3, 4]  # type: ignore[typeddict-item]


def test_an_answer_with_more_probabilities_than_a_client_needs_is_refused_before_any_frame_is_taken() -> None:
    source = wrap.classifier(lambda frames: np.zeros((len(frames), 1000)))
    source.num_classes = 1000
    file = io.BytesIO()
    Image.new("RGB", (8, 8)).save(file, "PNG")
    picture = base64.b64encode(file.getvalue()).decode()
    frames: list[dict[str, Any]] = [{"stream": f"s{k}", "picture": picture, "probabilities": True} for k in range(101)]
    with running(Engine(source, limits=Limits(rate=1e9), name="thousand")) as service:
        assert post(service, "/v1/frames", json.dumps({"frames": frames}).encode()) == (
            400, "the answer would have 101,000 probabilities, expected at most 100,000: send fewer frames at once, or "
            "ask for the probabilities of fewer",
        )  # fmt: skip
        assert not service.engine.streams
        frames[7]["probabilities"] = False
        replies: list[Any] = Service(service.url).step_many(frames)
        assert [len(reply.get("probabilities", ())) for reply in replies[6:9]] == [1000, 0, 1000]


def test_others_have_their_turn_while_an_answer_is_written() -> None:
    answers = [{"probabilities": np.random.default_rng(k).random(1000).tolist()} for k in range(300)]

    async def turns() -> int:
        count = 0
        writing = asyncio.create_task(frame_lists.written(answers))
        while not writing.done():
            await asyncio.sleep(0)
            count += 1
        assert json.loads(await writing) == {"answers": answers}
        return count

    assert asyncio.run(turns()) > 20


def test_a_frame_in_json_has_room_for_the_models_logits_and_no_more() -> None:
    long = json.dumps({"type": "logits", "logits": [0.0] * 2000})
    with running(small_service()) as service:
        assert service.text_limit() == 4096 + 40 * 5
        assert post(service, "/v1/streams/a/frames", long.encode())[0] == 413
        with connect(address(service, "b")) as socket:
            socket.recv()
            socket.send(long)
            assert "characters, expected at most 4296" in json.loads(socket.recv(10))["cause"]
            socket.send(json.dumps({"type": "logits", "logits": [0.1 + 0.2] * 5}, indent=8))
            assert json.loads(socket.recv(10))["type"] == "answer"


def test_large_requests_are_worked_on_one_at_a_time_with_a_rest_after_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_at_a_time, "MOST_WAITING", 2)
    spans: list[tuple[float, float]] = []

    def work() -> None:
        began, used = time.monotonic(), time.thread_time()
        while time.thread_time() - used < 0.02:
            pass
        spans.append((began, time.monotonic()))

    async def four() -> list[Any]:
        lane = one_at_a_time.OneAtATime()
        first = asyncio.create_task(lane.run(work))
        await asyncio.sleep(0.005)
        others = [asyncio.create_task(lane.run(work)) for _ in range(3)]
        return await asyncio.gather(first, *others, return_exceptions=True)

    found = asyncio.run(four())
    assert found[:3] == [None] * 3 and "2 large requests wait already" in str(found[3])
    rests = [later[0] - earlier[1] for earlier, later in itertools.pairwise(spans)]
    assert len(rests) == 2 and min(rests) > 0.07  # 4 times 0.02 s


def test_the_description_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anybody may ask for it without a token, and it takes longer than a frame."""
    openapi.document.cache_clear()
    made: list[None] = []
    real = openapi.paths
    monkeypatch.setattr(openapi, "paths", lambda: made.append(None) or real())  # type: ignore[func-returns-value]
    with running() as service:
        found = [Service(service.url).request("GET", "/openapi.json") for _ in range(3)]
    assert len(made) == 1 and found[0] == found[2] and "/v1/frames" in found[0]["paths"]


def test_lists_are_read_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """While one list takes half a second, other streams are answered."""
    real = frame_lists.read

    def slow(*given: Any) -> Any:
        time.sleep(0.5)
        return real(*given)

    monkeypatch.setattr(frame_lists, "read", slow)
    rng = np.random.default_rng(0)
    frames = [{"stream": f"s{k}", "logits": logits(rng).tolist()} for k in range(300)]
    with running(small_service()) as service, Stream(service.url, "good") as good:
        good.step(logits(rng))
        posting = threading.Thread(target=Service(service.url).step_many, args=(frames,))
        posting.start()
        time.sleep(0.1)
        began = time.monotonic()
        good.step(logits(rng))
        took = time.monotonic() - began
        assert posting.is_alive() and took < 0.3
        posting.join()


def test_lists_that_are_not_answered_yet_are_bounded_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those of clients that have gone: each held its whole request while its pictures were decoded."""
    monkeypatch.setattr(frame_lists, "MOST_BYTES", 50_000)
    decoding, go_on = threading.Event(), threading.Event()
    real = web_service.Service.frame

    async def slow(*given: Any) -> Any:
        decoding.set()
        await asyncio.to_thread(go_on.wait, 20)
        return await real(*given)

    monkeypatch.setattr(web_service.Service, "frame", slow)
    picture = {"stream": "a", "picture": base64.b64encode(jpeg()).decode()}
    large = json.dumps({"frames": [picture]}).encode().ljust(40_000)
    with running(picture_service()) as service:
        host, port = service.url.removeprefix("http://").split(":")
        with sockets.create_connection((host, int(port)), timeout=20) as gone:
            gone.sendall(HEAD % len(large) + large)
            assert decoding.wait(20)
        told = post(service, "/v1/frames", large)
        assert told == (503, "40,000 bytes of lists of frames are not answered yet, try again")
        go_on.set()
        assert Service(service.url).step_many([{**picture, "stream": "b"}])[0]["type"] == "answer"
        until = time.monotonic() + 10
        while service.unanswered and time.monotonic() < until:
            time.sleep(0.01)
        assert status(int(port), HEAD % len(large) + large) == b"200" and service.unanswered == 0


@contextlib.contextmanager
def small_server(within: float, most: int) -> Iterator[Any]:
    """The server of `knob serve` with room for a few connections; its `port` and `service` are set."""
    service = web_service.Service(small_service())
    config = uvicorn.Config(
        build(service), "127.0.0.1", 0, log_config=None, limit_concurrency=most, http=BoundedConnection, ws=FrameBudget
    )
    server = draining_server(config, service, within)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    server.service = service
    server.port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        server.should_exit = True
        thread.join(20)


def test_connections_that_send_no_request_are_closed_and_room_returns() -> None:
    """Silent ones, one that sends its head byte by byte, and one that is silent after a request; sockets stay."""
    with small_server(within=1.0, most=12) as server, contextlib.ExitStack() as stack:
        stream = stack.enter_context(Stream(f"http://127.0.0.1:{server.port}", "good"))
        stream.step(np.arange(5.0))

        def opened() -> sockets.socket:
            return stack.enter_context(sockets.create_connection(("127.0.0.1", server.port), timeout=10))

        def health() -> bytes:
            with sockets.create_connection(("127.0.0.1", server.port), timeout=10) as asking:
                asking.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
                return asking.recv(1000).split(b"\r\n")[0]

        kept = opened()
        kept.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /he")  # and a half one after it
        assert kept.recv(1000).startswith(b"HTTP/1.1 200")
        silent = [opened() for _ in range(12)]
        time.sleep(0.1)
        assert health() == b"HTTP/1.1 503 Service Unavailable"
        until = time.monotonic() + 10
        closed: set[int] = set()
        while len(closed) < len(silent) and time.monotonic() < until:
            for k, one in enumerate(silent):
                one.settimeout(0.01)
                with contextlib.suppress(TimeoutError):
                    try:
                        if k == 0:
                            one.sendall(b"G")
                        if one.recv(1) == b"":
                            closed.add(k)
                    except ConnectionError:
                        closed.add(k)
        assert len(closed) == len(silent), "silent connections stay"
        assert health() == b"HTTP/1.1 200 OK"
        kept.settimeout(5)
        with contextlib.suppress(ConnectionError):
            while kept.recv(1000):
                pass
        assert stream.step(np.arange(5.0))["frame"] == 2  # its socket said nothing all the while


HEALTH = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
HEAD = b"POST /v1/frames HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"


def status(port: int, request: bytes = HEALTH) -> bytes:
    """Of the response to a request's bytes; the connection is closed after it."""
    with sockets.create_connection(("127.0.0.1", port), timeout=20) as asking:
        asking.sendall(request)
        return asking.recv(1000).split(b" ", 2)[1]


def test_connections_that_do_not_read_their_answers_are_closed_and_room_returns() -> None:
    """Two hundred requests at once, and not a byte of the answers is read."""
    many = 200 * b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with small_server(within=1.0, most=100) as server, contextlib.ExitStack() as stack:
        stream = stack.enter_context(Stream(f"http://127.0.0.1:{server.port}", "good"))
        for _ in range(10):
            one = stack.enter_context(contextlib.closing(sockets.socket()))
            one.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
            one.connect(("127.0.0.1", server.port))
            one.sendall(many)
        time.sleep(0.1)
        assert len(server.server_state.connections) == 11
        until = time.monotonic() + 10
        while len(server.server_state.connections) > 1 and time.monotonic() < until:
            time.sleep(0.05)
        assert len(server.server_state.connections) == 1 and status(server.port) == b"200"
        assert stream.step(np.arange(5.0))["frame"] == 1


class OneSocket:
    """A WebSocket as the web server keeps it."""

    def __init__(self, closing: bool) -> None:
        self.transport, self.closing, self.is_cut = self, closing, False

    def is_closing(self) -> bool:
        return self.closing

    def abort(self) -> None:
        self.is_cut = True


def test_a_closed_socket_that_is_not_read_is_cut_after_a_while() -> None:
    """Closing waits until all is sent; an open socket may be silent as long as it likes."""
    closed, opened = OneSocket(True), OneSocket(False)
    silent = Silent({closed, opened}, 10.0)
    assert [silent.close_late(now) for now in (0.0, 9.0, 10.0)] == [0, 0, 1]
    assert closed.is_cut and not opened.is_cut


def test_more_connections_than_descriptors_allow_are_closed_at_once() -> None:
    """Up to fifty too many wait for their 503; what is above is not kept."""
    with small_server(within=60.0, most=12) as server, contextlib.ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(sockets.create_connection(("127.0.0.1", server.port), timeout=10))
        until = time.monotonic() + 10
        while len(server.server_state.connections) != 62 and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(0.1)
        assert len(server.server_state.connections) == 62


def test_bodies_that_stall_are_refused_and_room_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unfinished, "WITHIN", 1.0)
    with small_server(within=60.0, most=12) as server, contextlib.ExitStack() as stack:
        stalled = [
            stack.enter_context(sockets.create_connection(("127.0.0.1", server.port), timeout=20)) for _ in range(12)
        ]
        for one in stalled:
            one.sendall(HEAD % 100 + b"{")
        answers = [one.recv(1000).split(b" ", 2)[1] for one in stalled]
        assert answers.count(b"408") >= 10 and set(answers) <= {b"408", b"503"}  # the last ones found no room
        assert status(server.port) == b"200"


def test_a_body_that_comes_slowly_but_steadily_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unfinished, "WITHIN", 2.0)
    monkeypatch.setattr(unfinished, "SLOWEST", 10.0)
    content = json.dumps({"frames": [{"stream": "a", "logits": [0, 1, 2, 3, 4]}]}).encode().ljust(100)
    with small_server(within=60.0, most=12) as server, contextlib.ExitStack() as stack:
        one = stack.enter_context(sockets.create_connection(("127.0.0.1", server.port), timeout=20))
        one.sendall(HEAD % len(content))
        for k in range(0, 100, 10):
            one.sendall(content[k : k + 10])
            time.sleep(0.3)
        assert one.recv(1000).startswith(b"HTTP/1.1 200")


def test_unfinished_bodies_are_bounded_in_all_and_small_ones_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unfinished, "MOST", 0)
    most = frame_lists.MOST_LOGITS
    with small_server(within=60.0, most=20) as server, contextlib.ExitStack() as stack:
        for _ in range(2):
            half = stack.enter_context(sockets.create_connection(("127.0.0.1", server.port), timeout=20))
            half.sendall(HEAD % most + b" " * (most - 1))
        until = time.monotonic() + 20
        while unfinished.Unfinished.in_all < 2 * most - 2 and time.monotonic() < until:
            time.sleep(0.01)
        assert status(server.port, HEAD % most + b" " * (most - 1)) == b"503"
        small = b'{"frames": [{"stream": "a", "logits": [0, 1, 2, 3, 4]}]}'
        assert status(server.port, HEAD % len(small) + small) == b"200"
    assert unfinished.Unfinished.in_all == 0


def test_more_streams_than_the_capacity_are_refused() -> None:
    engine = Engine(wrap.classifier(), limits=Limits(capacity=2), name="logits")
    with running(engine) as service:
        open_ones = [connect(address(service, f"s{k}")).__enter__() for k in range(2)]
        with pytest.raises(Exception, match="503"), connect(address(service, "s2")):
            pass
        with pytest.raises(ServiceError, match="capacity") as refused:
            Service(service.url).request("POST", "/v1/streams/s3/frames", {"logits": [1, 2]})
        assert refused.value.status == 503
        for socket in open_ones:
            socket.close()


@pytest.mark.slow
def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    """Requests made from the OpenAPI description, good and bad: no 500, nothing that the description does not say."""
    pytest.importorskip("schemathesis", reason="needs schemathesis: pip install -e '.[dev]'")
    acceptance = "positive_data_acceptance"  # where a body is a picture, no schema can say which bytes are one
    runs = (
        ["--checks", "all", "--exclude-checks", acceptance],
        ["--checks", acceptance, "--exclude-path-regex", "frames"],
    )
    refusals = ["400", "401", "403", "404", "405", "406", "409", "413", "415", "422", "428", "429", "5xx"]
    table = f"[checks]\nnegative_data_rejection.expected-statuses = {json.dumps(refusals)}\n"
    (tmp_path / "schemathesis.toml").write_text(table)  # its own list, and 413: too many logits are too many bytes
    with running() as service:
        Service(service.url).step_many([{"stream": "0", "logits": [0.0, 1.0]}])
        for options in runs:
            command = ["-m", "schemathesis.cli", "run", service.url + "/openapi.json", "--max-examples", str(EXAMPLES)]
            phases = ["--phases", "examples,coverage,fuzzing", "--no-color", "--seed", "1"]
            done = subprocess.run(
                [sys.executable, *command, *phases, *options], cwd=tmp_path, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
