"""Snapshots: the states of all streams in one file, from which a service goes on after it was stopped or killed.

A safetensors file: one row per stream of every array of `knob_core.runtime.state`, and a JSON text in its header that
names streams, numbers and knobs. It is written whole or not at all; a file that does not fit is put aside, not used.
"""

from __future__ import annotations

import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from knob_core import files
from knob_core.serving.engine import Engine, checked_policy
from knob_core.serving.knob_control import table_from_json
from knob_core.serving.messages import finite, parsed, require_id, whole
from knob_core.serving.served_stream import ServedStream

VERSION = 1
NAME = "streams.safetensors"
ENTRY = "knob"  # of the header
WRONG = (ValueError, KeyError, TypeError, AttributeError, OverflowError, SafetensorError, OSError)  # of a damaged file
log = logging.getLogger(__name__)


class Snapshot:
    """One file in a folder with all streams of a service."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.engine, self.folder = engine, folder

    def saved_at(self) -> float | None:
        """Unix time of the last one."""
        path = self.folder / NAME
        return path.stat().st_mtime if path.is_file() else None

    def load(self) -> str | None:
        """Go on from the last one; what is wrong with it, where it had to be put aside."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return load(self.engine, self.folder)

    def save(self) -> None:
        write(self.engine, self.folder)

    def tick(self) -> None:
        """Nothing to do between two savings."""


def packed(
    engine: Engine, chosen: Callable[[ServedStream], bool] = lambda stream: True
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """(arrays, what the header says): the chosen streams that have a state, each at a whole frame."""
    with engine.stepper.lock:  # no batch is in the middle of a step
        with engine.lock:
            streams = [stream for stream in engine.streams.values() if stream.row >= 0 and chosen(stream)]
            entries = [
                {"id": s.id, "life": s.life, "group": s.group, "policy": s.policy, "frame": s.stepped, "lost": s.lost}
                for s in streams
            ]
            table = engine.knobs.table
        arrays = engine.stepper.saved(streams) if streams else {}
        knobs = [stream.knobs or (np.nan, np.nan) for stream in streams]
    if streams:
        arrays["acting"] = np.array(knobs)
    about = {
        "version": VERSION, "model": engine.name, "method": engine.source.method, "time": time.time(),
        "streams": entries, "knobs": table.to_json(),
    }  # fmt: skip
    return arrays, about


def write(engine: Engine, folder: Path) -> int:
    """Write the snapshot; the number of its streams. Raises OSError where the disk does not take it."""
    arrays, about = packed(engine)
    files.write_bytes(folder / NAME, content_of(arrays, about), sync=True)
    return len(about["streams"])


def content_of(arrays: dict[str, np.ndarray], about: Mapping[str, Any]) -> bytes:
    """The file."""
    return save(arrays, {ENTRY: json.dumps(about)})


def load(engine: Engine, folder: Path) -> str | None:
    """Go on from the folder's snapshot; what is wrong with it, where it had to be put aside."""
    path = folder / NAME
    if not path.is_file():
        return None
    try:
        arrays, about = read(path)
        restore(engine, arrays, about)
    except WRONG as error:
        return f"the snapshot does not fit, all streams start anew; it is kept as {put_aside(path)}: {error}"
    return None


def read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """(arrays, what the header says) of a file; raises one of WRONG where it is none."""
    with safe_open(path, "np") as file:
        about = parsed((file.metadata() or {}).get(ENTRY, ""))
        return {name: file.get_tensor(name) for name in file.keys()}, about  # noqa: SIM118


def put_aside(path: Path) -> Path:
    """Keep a file that does not fit under another name."""
    aside = path.with_name(f"{path.stem}-refused-{time.time_ns()}{path.suffix}")
    path.rename(aside)
    return aside


def restore(engine: Engine, arrays: Mapping[str, np.ndarray], about: Mapping[str, Any]) -> None:
    """Streams and knobs as `packed` gave them; refused whole where anything does not fit."""
    streams = _streams(engine, about)
    table = table_from_json(about["knobs"])
    room = engine.limits.capacity - len(engine.streams)
    if len(streams) > room:
        raise ValueError(f"it has {len(streams)} streams, expected at most {room}")
    _give_states(engine, streams, arrays)
    _enter(engine, streams)
    engine.knobs.restore(table)


def only_stream(engine: Engine, id: str, about: Mapping[str, Any]) -> ServedStream:
    """The one stream that a file's header names, checked; it is not entered yet."""
    streams = _streams(engine, about)
    if [stream.id for stream in streams] != [id]:
        raise ValueError(f"it has the streams {[stream.id for stream in streams][:3]}, expected {id} alone")
    return streams[0]


def restore_stream(engine: Engine, stream: ServedStream, arrays: Mapping[str, np.ndarray]) -> None:
    """Go on with a stream of a file; one of its id that is open ends, but only where the file is good."""
    _give_states(engine, [stream], arrays)
    engine.forget(stream.id, "the stream has moved on elsewhere")
    _enter(engine, [stream])


def _streams(engine: Engine, about: Mapping[str, Any]) -> list[ServedStream]:
    expected = {"version": VERSION, "model": engine.name, "method": engine.source.method}
    for name, value in expected.items():
        if about.get(name) != value:
            raise ValueError(f"{name} is {about.get(name)!r}, expected {value!r}")
    saved_at = _not_negative("time", about["time"])
    streams = [_stream(entry, saved_at) for entry in about["streams"]]
    ids = Counter(stream.id for stream in streams)
    if len(ids) != len(streams):
        raise ValueError(f"stream {ids.most_common(1)[0][0]!r} is in it twice, expected every id once")
    return streams


def _give_states(engine: Engine, streams: list[ServedStream], arrays: Mapping[str, np.ndarray]) -> None:
    if not streams:
        return
    states = {name: array for name, array in arrays.items() if name != "acting"}
    acting = np.asarray(arrays["acting"], np.float64)
    if acting.shape != (len(streams), 2):
        raise ValueError(f"'acting' has shape {acting.shape}, expected ({len(streams)}, 2)")
    with engine.stepper.lock:
        engine.stepper.restore(streams, states)
    for stream, (zeta, omega_n) in zip(streams, acting.tolist(), strict=True):
        stream.knobs = (zeta, omega_n) if np.isfinite(zeta) else None


def _enter(engine: Engine, streams: list[ServedStream]) -> None:
    with engine.lock:
        for stream in streams:
            stream.tokens = engine.limits.burst
            engine.streams[stream.id] = stream


def _stream(entry: Mapping[str, Any], saved_at: float) -> ServedStream:
    group = require_id("group", entry["group"]) if entry["group"] != "" else ""
    stream = ServedStream(require_id("stream", entry["id"]), group, checked_policy(str(entry["policy"])))
    stream.origin, stream.saved_at, stream.lost = "snapshot", saved_at, _not_negative("lost", entry["lost"])
    stream.life = require_id("life", entry.get("life") or stream.life)
    stream.accepted = stream.taken = stream.stepped = stream.settled = frame_of(entry)
    return stream


def frame_of(entry: Mapping[str, Any]) -> int:
    """Number of the last frame in a stream's state."""
    return whole("frame", entry["frame"], 0)


def _not_negative(name: str, value: Any) -> float:
    number = finite(name, value)
    if number < 0:
        raise ValueError(f"{name} is {number:g}, expected a number >= 0")
    return number
