"""Garbage and giants: refused with the cause, and the stream goes on."""

from __future__ import annotations

import io
import json
import os
import re
import struct
import subprocess
import sys
import urllib.error
import urllib.request
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from services import running
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from knob_core import wrap
from knob_core.client import Service, ServiceError
from knob_core.serving.engine import Engine, Limits
from knob_core.serving.messages import pack

EXAMPLES = int(os.environ.get("KNOB_EXAMPLES", "25"))  # of every request


def address(service: Any, id: str, query: str = "") -> str:
    return f"{service.url.replace('http', 'ws')}/v1/streams/{id}/socket{query}"


def picture_service() -> Engine:
    """A model of its own that takes pictures of any size."""
    return Engine(wrap.classifier(lambda frames: np.asarray(frames, np.float64).mean((1, 2))), name="mean")


def picture(kind: str = "JPEG") -> bytes:
    file = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (16, 16, 3), dtype=np.uint8)).save(file, kind)
    return file.getvalue()


def huge_png() -> bytes:
    """A small file that claims to have 60,000 x 60,000 pixels."""
    found = bytearray(picture("PNG"))
    found[16:24] = struct.pack(">II", 60_000, 60_000)
    found[29:33] = struct.pack(">I", zlib.crc32(found[12:29]))
    return bytes(found)


GARBAGE: dict[str, tuple[str | bytes, str]] = {
    "text": ("hello", "JSON is malformed"),
    "no object": ("[1]", "Expected `object`, got `array`"),
    "no type": ("{}", "missing required field `type`"),
    "nan": ('{"type":"logits","logits":[NaN,1]}', "JSON is malformed"),
    "words": ('{"type":"logits","logits":["a",1]}', r"Expected `float`, got `str` - at `\$.logits"),
    "deep": ('{"type":' + "[" * 100_000, "."),
    "empty": (b"", "no JPEG, PNG or WebP"),
    "bytes": (b"\x00" * 100, "no JPEG, PNG or WebP"),
    "cut magic": (b"KNB1\x01", "expected 8 or more"),
    "long header": (b"KNB1" + struct.pack("<I", 2**31) + b"{}", "header has 2147483648 bytes"),
    "header no json": (b"KNB1" + struct.pack("<I", 2) + b"{]", "JSON is malformed"),
    "unknown entry": (pack({"kind": "raw", "evil": 1}, b""), "unknown field `evil`"),  # type: ignore[typeddict-unknown-key]
    "unknown kind": (pack({"kind": "video"}, b""), "Invalid enum value 'video'"),  # type: ignore[typeddict-item]
    "shape": (pack({"kind": "raw", "shape": [2, 2, 4]}, b"1234"), "expected \\[height, width, 3\\]"),
    "negative": (pack({"kind": "raw", "shape": [-2, -2, 3]}, b"1234"), "expected \\[height, width, 3\\]"),
    "huge shape": (pack({"kind": "raw", "shape": [10**9, 10**9, 3]}, b""), "frame has 0 bytes, expected 3"),
    "too few bytes": (pack({"kind": "raw", "shape": [2, 2, 3]}, b"12"), "frame has 2 bytes, expected 12"),
    "dtype list": (pack({"kind": "raw", "dtype": []}, b""), r"got `array` - at `\$.dtype"),  # type: ignore[typeddict-item]
    "number": (pack({"kind": "picture", "number": -1}, picture()), r"Expected `int` >= 1 - at `\$.number"),
    "time and elapsed": (pack({"kind": "picture", "time": 1, "elapsed": 1}, picture()), "both given"),
    "huge png": (huge_png(), "3600000000 pixels"),
    "cut jpeg": (picture()[:200], "damaged, cut short"),
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
        socket.send(picture())
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


def refusal(service: Any, method: str, path: str, content: str) -> tuple[int, str]:
    """(status, cause)"""
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(service.url + path, content.encode(), headers, method=method)
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=30)
    return refused.value.code, json.load(refused.value)["error"]


@pytest.mark.parametrize(
    ("method", "path", "name", "content"),
    [
        ("PATCH", "/v1/knobs", "clear", '{"zeta": 1.5}'),
        ("POST", "/v1/streams/a/frames", "probabilities", '{"logits": [0.0, 1.0]}'),
    ],
)
def test_a_switch_that_is_neither_true_nor_false_is_refused(method: str, path: str, name: str, content: str) -> None:
    with running() as service:
        before = Service(service.url).knobs()
        told = refusal(service, method, f"{path}?{name}=2102", content)
        assert told == (400, f"{name} is '2102', expected true or false")
        assert Service(service.url).knobs() == before


def test_only_a_turn_for_all_clears() -> None:
    with running() as service:
        Service(service.url).turn(stream="a", zeta=1.5)
        for scope in ("groups/north", "streams/a"):
            told = refusal(service, "PATCH", f"/v1/knobs/{scope}?clear=true", '{"zeta": 0.5}')
            assert told[0] == 400 and told[1].startswith("clear is true, expected false for one group or stream")
        assert Service(service.url).knobs()["streams"] == {"a": {"zeta": 1.5}}


def test_giants_are_refused() -> None:
    with running(picture_service()) as service:
        with connect(address(service, "a"), max_size=None) as socket:
            socket.recv()
            with pytest.raises(ConnectionClosed) as closed:
                socket.send(b"\xff" * (service.max_frame + 100_000))
                socket.recv(10)
            assert closed.value.rcvd is not None and closed.value.rcvd.code == 1009
        with pytest.raises(ServiceError, match="expected at most 2,000,000") as refused:
            Service(service.url).step("b", b"x" * (service.max_frame + 1))
        assert refused.value.status == 413
        assert Service(service.url).step("b", picture())["type"] == "answer"


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
