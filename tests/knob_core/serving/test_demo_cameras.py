"""Simulated cameras and a service that dies."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest
from services import running

from knob_core import wrap
from knob_core.client import Service
from knob_core.serving import demo_cameras
from knob_core.serving.engine import Engine


def grey_frames(camera: int, seed: int = 0) -> Iterator[np.ndarray]:
    while True:
        yield np.full((32, 32, 3), camera, np.uint8)


def mean_service() -> Engine:
    mean = wrap.classifier(lambda frames: np.asarray(frames, np.float64).mean((1, 2)) - 100)
    return Engine(mean, name="mean")


def test_cameras_end_in_one_line_where_the_service_is_gone_for_good(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Reading and sending notice it at different moments: the first ends the camera, and its error is told once."""
    monkeypatch.setattr(demo_cameras, "frames", grey_frames)
    found: list[int] = []
    with running(mean_service()) as service:
        arguments = ["--url", service.url, "--streams", "4", "--rate", "50", "--give-up", "0.5", "--raw"]
        thread = threading.Thread(target=lambda: found.append(demo_cameras.main(arguments)), daemon=True)
        thread.start()
        until = time.monotonic() + 60
        while sum(info["frames"] > 3 for info in Service(service.url).streams()) < 4 and time.monotonic() < until:
            time.sleep(0.05)
        service.engine.say_goodbye("the service stops")
    thread.join(60)
    said = capsys.readouterr()
    assert found == [2] and said.err.count("\n") == 1 and "knob demo-cameras: no service for 0.5 s" in said.err
    assert " answers, " in said.out.splitlines()[-1]
    assert not [record for record in caplog.records if record.name == "asyncio"], caplog.text


def test_cameras_that_have_sent_all_frames_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo_cameras, "frames", grey_frames)
    with running(mean_service()) as service:
        arguments = ["--url", service.url, "--streams", "2", "--rate", "1000", "--frames", "9"]
        assert demo_cameras.main(arguments) == 0
        assert [info["frames"] + info["dropped"] for info in Service(service.url).streams()] == [9, 9]
    said = capsys.readouterr()
    assert not said.err and said.out.splitlines()[-1].startswith("knob demo-cameras: ")
