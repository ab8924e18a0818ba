"""Snapshots: the states of all streams in one file, from which a service goes on after it was stopped or killed.

A safetensors file: one row per stream of every array of `knob_core.runtime.state`, and a JSON text in its header that
names streams, numbers and knobs. It is written whole or not at all; a file that does not fit is put aside, not used.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from knob_core import files
from knob_core.serving.engine import Engine, checked_policy, require_id
from knob_core.serving.knob_control import KnobTable, from_json
from knob_core.serving.messages import parsed
from knob_core.serving.stream import Stream
from knob_core.settings import Settings

VERSION = 1
NAME = "streams.safetensors"
ENTRY = "knob"  # of the header
log = logging.getLogger(__name__)


def packed(engine: Engine) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """(arrays, what the header says): all streams that have a state, each at a whole frame."""
    with engine.stepper.lock:  # no batch is in the middle of a step
        with engine.lock:
            streams = [stream for stream in engine.streams.values() if stream.row >= 0]
            entries = [
                {"id": s.id, "group": s.group, "policy": s.policy, "frame": s.stepped, "lost": s.lost} for s in streams
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
    files.write_bytes(folder / NAME, save(arrays, {ENTRY: json.dumps(about)}), sync=True)
    return len(about["streams"])


def load(engine: Engine, folder: Path) -> str | None:
    """Go on from the folder's snapshot; what is wrong with it, where it had to be put aside."""
    path = folder / NAME
    if not path.is_file():
        return None
    try:
        with safe_open(path, "np") as file:
            about = parsed((file.metadata() or {}).get(ENTRY, ""))
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        restore(engine, arrays, about)
    except (ValueError, KeyError, TypeError, SafetensorError, OSError) as error:
        aside = path.with_name(f"{path.stem}-refused-{time.time_ns()}{path.suffix}")
        path.rename(aside)
        return f"the snapshot does not fit, all streams start anew; it is kept as {aside}: {error}"
    return None


def restore(engine: Engine, arrays: Mapping[str, np.ndarray], about: Mapping[str, Any]) -> None:
    """Streams and knobs as `packed` gave them; refused whole where anything does not fit."""
    expected = {"version": VERSION, "model": engine.name, "method": engine.source.method}
    for name, value in expected.items():
        if about.get(name) != value:
            raise ValueError(f"{name} is {about.get(name)!r}, expected {value!r}")
    entries = about["streams"]
    saved_at = float(about["time"])
    streams = [_stream(entry, saved_at) for entry in entries]
    if len(streams) > engine.limits.capacity:
        raise ValueError(f"it has {len(streams)} streams, expected at most {engine.limits.capacity}")
    if len({stream.id for stream in streams}) != len(streams):
        raise ValueError("an id stands twice in it")
    table = _table(about["knobs"])
    if streams:
        states = {name: array for name, array in arrays.items() if name != "acting"}
        acting = np.asarray(arrays["acting"], np.float64)
        if acting.shape != (len(streams), 2):
            raise ValueError(f"'acting' has shape {acting.shape}, expected ({len(streams)}, 2)")
        with engine.stepper.lock:
            engine.stepper.restore(streams, states)
        for stream, (zeta, omega_n) in zip(streams, acting.tolist(), strict=True):
            stream.knobs = (zeta, omega_n) if np.isfinite(zeta) else None
    with engine.lock:
        for stream in streams:
            stream.tokens = engine.limits.rate
            engine.streams[stream.id] = stream
    engine.knobs.restore(table)


def _stream(entry: Mapping[str, Any], saved_at: float) -> Stream:
    require_id("stream", str(entry["id"]))
    frame = int(entry["frame"])
    stream = Stream(str(entry["id"]), str(entry["group"]), checked_policy(str(entry["policy"])))
    stream.origin, stream.saved_at, stream.lost = "snapshot", saved_at, float(entry["lost"])
    stream.accepted = stream.taken = stream.stepped = stream.settled = frame
    return stream


def _table(knobs: Mapping[str, Any]) -> KnobTable:
    groups, streams = ({name: from_json(changes) for name, changes in knobs[scope].items()}
                       for scope in ("groups", "streams"))  # fmt: skip
    return KnobTable(int(knobs["revision"]), Settings(**from_json(knobs["all"])), groups, streams)
