"""Nothing that a client is told names a folder of the server, and no log has a token."""

from __future__ import annotations

import json
import logging
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from services import running
from websockets.sync.client import connect

from knob_core import wrap
from knob_core.client import Service
from knob_core.serving import logs
from knob_core.serving.access import Access, Caller
from knob_core.serving.engine import Engine, Limits
from knob_core.serving.messages import Frame

TOKEN = "operator-token-0123456789"


def test_a_spoilt_folder_is_told_to_viewers_without_its_name_and_to_others_not_at_all(tmp_path: Path) -> None:
    settings, state = tmp_path / "k.toml", tmp_path / "secretstate"
    settings.write_text("zeta = 1.0\n")
    with running(
        access=Access({TOKEN: Caller("me", "operator")}), state=state, settings=settings, every=0.2
    ) as service:
        until = time.monotonic() + 30
        while not list(state.iterdir()) and time.monotonic() < until:
            time.sleep(0.05)
        service.maintenance._store.folder = state / "streams.safetensors"  # which is a file
        settings.write_text("#" * 20_000)
        while len(service.problems) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        told = Service(service.url, TOKEN).about()["problems"]
        assert told["settings"] == "k.toml was not taken: k.toml has more than 10000 bytes"
        assert told["snapshot"].startswith("no snapshot could be written: ")
        assert str(tmp_path) not in json.dumps(told) and "secretstate" not in json.dumps(told)
        with urllib.request.urlopen(service.url + "/readyz") as answer:
            assert json.load(answer) == {"ready": True, "problems": True}


def test_a_models_error_is_for_the_log(caplog: pytest.LogCaptureFixture) -> None:
    def model(frames: np.ndarray) -> np.ndarray:
        raise FileNotFoundError(2, "No such file or directory", "/srv/secret/model-weights.bin")

    told: list[Any] = []
    engine = Engine(wrap.classifier(model), limits=Limits(), name="own")
    engine.join("a", sink=told.append)
    engine.submit("a", Frame("raw", np.zeros((2, 2, 3), np.uint8)))
    engine.step_waiting()
    assert told[-1]["cause"] == "the model failed: FileNotFoundError; the service's log says more"
    assert "/srv/secret/model-weights.bin" in caplog.text


def test_no_log_has_a_token(capsys: pytest.CaptureFixture[str]) -> None:
    names = ("knob_core", "uvicorn", "websockets")
    before = [(logging.getLogger(n), logging.getLogger(n).level, logging.getLogger(n).handlers[:]) for n in names]
    logs.to_stderr("debug")
    try:
        with running(access=Access({TOKEN: Caller("me", "operator")})) as service:
            url = f"{service.url.replace('http', 'ws')}/v1/streams/a/socket"
            with connect(url, additional_headers={"Authorization": f"Bearer {TOKEN}"}) as socket:
                socket.recv()
            with connect(url, subprotocols=["knob.v1", f"token.{TOKEN}"]) as socket:  # type: ignore[list-item]
                socket.recv()
        said = capsys.readouterr().err
        assert "stream joined" in said and TOKEN not in said
    finally:
        for logger, level, handlers in before:
            logger.handlers, logger.propagate = handlers, True
            logger.setLevel(level)
