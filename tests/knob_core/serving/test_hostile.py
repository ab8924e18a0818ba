"""Hostile clients: refused with the cause, and others are not disturbed."""

from __future__ import annotations

import asyncio
import io
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
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from services import logits, running
from websockets.asyncio.client import connect as connect_async
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from knob_core import wrap
from knob_core.client import Service, ServiceError, Stream
from knob_core.runtime import KnobStream
from knob_core.serving.engine import Engine, Limits
from knob_core.serving.messages import pack

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
    with running() as service:
        Service(service.url).step_many([{"stream": "0", "logits": [0.0, 1.0]}])
        for options in runs:
            command = ["-m", "schemathesis.cli", "run", service.url + "/openapi.json", "--max-examples", str(EXAMPLES)]
            phases = ["--phases", "examples,coverage,fuzzing", "--no-color", "--seed", "1"]
            done = subprocess.run(
                [sys.executable, *command, *phases, *options], cwd=tmp_path, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
