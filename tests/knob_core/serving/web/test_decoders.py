"""Pictures of many streams: those of one after the other, large ones apart, and what waits is bounded."""

from __future__ import annotations

import asyncio
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from services import running
from websockets.sync.client import connect

from knob_core import wrap
from knob_core.serving.decode import TooManyPixels
from knob_core.serving.engine import Engine, Full, Limits, Refusal
from knob_core.serving.messages import Header
from knob_core.serving.web import decoders
from knob_core.serving.web.decoders import Decoders

PICTURE: Header = {"kind": "picture"}


@pytest.fixture
def stop() -> Iterator[threading.Event]:
    """Until it is set a picture is being decoded."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def slow(stop: threading.Event, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is decoded, in order; `bomb` and `large` take until the stop, and `large` has many pixels."""
    begun: list[str] = []

    def frame_of(header: Any, content: bytes, prepare: Any, most: int) -> Any:
        name = content.decode()
        if name == "large" and most < decoders.MAX_PIXELS:
            raise TooManyPixels
        begun.append(name)
        if name in ("bomb", "large"):
            assert stop.wait(60)
        return name, None

    monkeypatch.setattr(decoders, "frame_of", frame_of)
    return begun


def start(lanes: Decoders, id: str, name: str, admit: Callable[[], None] = lambda: None) -> asyncio.Task[Any]:
    return asyncio.create_task(lanes.run(id, admit, PICTURE, name.encode(), lambda picture: picture))


def test_pictures_of_one_stream_take_turns_and_others_do_not_wait(stop: threading.Event, slow: list[str]) -> None:
    async def go() -> None:
        lanes = Decoders(2)
        bombs = [start(lanes, "bad", "bomb") for _ in range(40)]
        await asyncio.sleep(0)
        assert (await asyncio.wait_for(start(lanes, "good", "small"), 30))[0] == "small"
        assert slow == ["bomb", "small"]
        stop.set()
        await asyncio.gather(*bombs)
        assert slow.count("bomb") == 40 and not lanes._lines and not lanes._bytes
        lanes.close()

    asyncio.run(go())


def test_large_pictures_of_many_streams_leave_small_ones_their_threads(stop: threading.Event, slow: list[str]) -> None:
    async def go() -> None:
        lanes = Decoders(2)
        large = [start(lanes, f"bad{k}", "large") for k in range(10)]
        await asyncio.sleep(0)
        assert (await asyncio.wait_for(start(lanes, "good", "small"), 30))[0] == "small"
        stop.set()
        assert {name for name, _ in await asyncio.gather(*large)} == {"large"}
        lanes.close()

    asyncio.run(go())


def test_what_waits_is_bounded(stop: threading.Event, slow: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoders, "MOST_FILES", 3)
    monkeypatch.setattr(decoders, "MOST_BYTES", 20)

    async def go() -> None:
        lanes = Decoders(2)
        waiting = [start(lanes, "a", "bomb") for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(Refusal, match="3 pictures of this stream wait"):
            await start(lanes, "a", "bomb")
        waiting.append(start(lanes, "b", "bomb"))
        await asyncio.sleep(0)
        with pytest.raises(Full, match="16 bytes of pictures wait"):
            await start(lanes, "c", "small")
        stop.set()
        await asyncio.gather(*waiting)
        assert (await start(lanes, "c", "small"))[0] == "small"
        lanes.close()

    asyncio.run(go())


def refused(service: Any, id: str) -> tuple[int, str]:
    request = urllib.request.Request(
        f"{service.url}/v1/streams/{id}/frames", b"\x89PNG is not decoded", {"Content-Type": "image/png"}
    )
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(request, timeout=30)
    return error.value.code, json.load(error.value)["error"]


def test_a_picture_that_could_not_be_taken_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoders, "frame_of", lambda *given: pytest.fail("it was decoded"))
    mean = wrap.classifier(lambda frames: np.asarray(frames, np.float64).mean((1, 2)))
    with running(Engine(mean, limits=Limits(rate=0.001, capacity=2), name="mean")) as service:
        with connect(f"{service.url.replace('http', 'ws')}/v1/streams/a/socket") as socket:
            socket.recv()
            assert refused(service, "a") == (409, "stream a has an open socket: send its frames there")
            service.engine.streams["a"].tokens = 0.0
            socket.send(b"\x89PNG is not decoded")
            assert json.loads(socket.recv(10))["code"] == "rate"
        service.engine.join("b")
        assert refused(service, "c")[0] == 503 and "capacity" in refused(service, "c")[1]
    source = wrap.classifier()
    with running(Engine(source, limits=Limits(), name="logits")) as service:
        assert refused(service, "a") == (400, "this service takes logits, not pictures")
