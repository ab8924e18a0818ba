"""A service in a process of its own: frames, turns of the knobs, kill -9 and replay, and all that it answers."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from services import CLASSES, Process

from knob_core.client import Service, Stream
from knob_core.serving.snapshots import NAME

FRAMES, KILLS = 40, (15, 28)  # the frames before which the service is killed
TURNS = {  # frame -> scope and knobs
    6: {"zeta": 0.3}, 10: {"stream": "b", "omega_n": 1.5}, 20: {"group": "left", "zeta": 2.0, "omega_n": 0.1},
    24: {"mode": "reset"}, 26: {"mode": "continuous"}, 32: {"temperature": 1.7}, 36: {"on": False},
}  # fmt: skip
PARTS = (
    "frame",
    "label",
    "p_max",
    "g",
    "u",
    "u_star",
    "missing",
    "age",
    "zeta",
    "omega_n",
    "revision",
    "probabilities",
)


def transcript(memory: str) -> dict[str, Any]:
    """Every answer to two streams; a killed service goes on from its snapshot as if nothing had happened."""
    rng = np.random.default_rng(5)
    frames = 3 * rng.normal(size=(2, FRAMES, CLASSES))
    with tempfile.TemporaryDirectory() as folder:
        process = Process("logits", "--state", folder, "--snapshot-every", "0.2")
        try:
            return _talk(process, Path(folder), memory, frames)
        finally:
            process.kill()


def _talk(process: Process, folder: Path, memory: str, frames: np.ndarray) -> dict[str, Any]:
    service = Service(process.url)
    options: dict[str, Any] = {"probabilities": True, "replay": FRAMES}
    streams = [Stream(process.url, "a", **options), Stream(process.url, "b", group="left", **options)]
    service.turn(memory=memory)
    found: dict[str, Any] = {"a": [], "b": [], "states": []}
    for t in range(FRAMES):
        if t in TURNS:
            service.turn(**TURNS[t])
        if t in KILLS:
            _saved(folder)
            process.kill()
            process.start()
        for stream, frame in zip(streams, frames[:, t], strict=True):
            late = {"elapsed": 2.5} if t % 11 == 5 else {}
            answer = stream.step(None if t % 13 == 7 else frame, **late)
            found[stream.session.id].append({name: answer[name] for name in PARTS})
    found["states"] = [{"stream": info["stream"], "frame": info["frame"]} for info in service.streams()]
    found["knobs"] = service.knobs()
    for stream in streams:
        stream.leave()
    found["left"] = [info["stream"] for info in service.streams()]
    return found


def _saved(folder: Path) -> None:
    """Wait for two more snapshots: the second was begun after the last turn of the knobs."""
    written, until = set(), time.monotonic() + 30
    while len(written) < 3:  # the one that is there, and two more
        assert time.monotonic() < until, "no snapshot was written"
        if (path := folder / NAME).exists():
            written.add(path.stat().st_mtime_ns)
        time.sleep(0.02)
