"""How many connections a service holds."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from services import ROOT

from knob_core.client import Stream
from knob_core.serving import snapshots
from knob_core.serving.web import connections

resource = pytest.importorskip("resource", reason="needs a system with limits of descriptors")
WANTED, NEEDED = 2100, 3274


@pytest.mark.parametrize(
    ("soft", "hard", "raised", "room"),
    [
        (1024, 500_000, NEEDED, (WANTED, 1024)),
        (1024, -1, NEEDED, (WANTED, 1024)),  # no hard limit
        (5000, 5000, None, (WANTED, 1024)),
        (1024, 3200, 3200, (WANTED, 800)),  # fewer in a burst
        (1024, 1024, None, (618, 256)),
        (256, 512, 512, (234, 128)),
        (100, 100, None, (1, 25)),
    ],
)
def test_descriptors_are_raised_as_far_as_they_may_be(
    soft: int, hard: int, raised: int | None, room: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda which: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda which, limits: told.append(limits))
    assert connections.made(WANTED) == room
    assert told == ([] if raised is None else [(raised, hard)])
    assert len(caplog.records) == (room[0] < WANTED)


def test_a_system_that_does_not_let_the_limit_be_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(which: int, limits: tuple[int, int]) -> None:
        raise ValueError("current limit exceeds maximum limit")

    monkeypatch.setattr(resource, "getrlimit", lambda which: (256, -1))
    monkeypatch.setattr(resource, "setrlimit", refused)
    assert connections.made(WANTED) == (42, 64)


@pytest.mark.slow
def test_snapshots_are_written_and_streams_answered_while_connections_are_too_many(tmp_path: Path) -> None:
    """600 silent ones, and 400 descriptors."""
    command = [sys.executable, "-m", "knob_core.serving", "logits:5", "--port", "0", "--state", str(tmp_path)]
    service = subprocess.Popen(
        ["sh", "-c", 'ulimit -n 400; exec "$@"', "sh", *command, "--snapshot-every", "0.1"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    try:
        assert service.stdout is not None and service.stderr is not None
        url = service.stdout.readline().split()[-1]
        assert '"connections": 150, "wanted": 2100' in service.stderr.readline()
        with contextlib.ExitStack() as stack:
            stream = stack.enter_context(Stream(url, "good", give_up=1.0))
            for _ in range(600):
                stack.enter_context(socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=10))
            time.sleep(0.3)
            assert [stream.step(np.arange(5.0))["frame"] for _ in range(3)] == [1, 2, 3]
            until = time.monotonic() + 5
            while time.monotonic() < until and not saves(tmp_path, 3):
                time.sleep(0.1)
            assert saves(tmp_path, 3)
    finally:
        service.kill()
        service.communicate()


def saves(folder: Path, frame: int) -> bool:
    """Whether the snapshot is as new as a frame of its one stream."""
    file = folder / snapshots.NAME
    return file.is_file() and [entry["frame"] for entry in snapshots.read(file)[1]["streams"]] == [frame]
