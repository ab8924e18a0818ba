"""Snapshots: the states of all streams in one file, from which a service goes on after it was stopped or killed.

A safetensors file: one row per stream of every array of `knob_core.runtime.state`, and a JSON text in its header that
names streams, numbers and knobs. It is written whole or not at all; a file that does not fit is put aside, not used,
and a stream that does not fit is left out.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from knob_core import files
from knob_core.runtime.state import State
from knob_core.serving.decode import converted
from knob_core.serving.engine import Engine, checked_policy
from knob_core.serving.knob_control import table_from_json
from knob_core.serving.messages import ID, LAST_NUMBER, require_id
from knob_core.serving.served_stream import ServedStream
from knob_core.settings import Settings

VERSION = 1
NAME = "streams.safetensors"
ENTRY = "knob"  # of the header
WRONG = (ValueError, KeyError, TypeError, AttributeError, OverflowError, SafetensorError, OSError)  # of a damaged file
SAID = 5  # streams that do not fit
NotNegative = Annotated[float, Meta(ge=0, le=1e300)]


class Snapshot:
    """One file in a folder with all streams of a service."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.engine, self.folder = engine, folder

    def saved_at(self) -> float | None:
        """Unix time of the last one."""
        path = self.folder / NAME
        return path.stat().st_mtime if path.is_file() else None

    def load(self) -> str | None:
        """Go on from the last one; what is wrong with it, where not all of it could be taken."""
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


def _row(arrays: Mapping[str, np.ndarray], place: int) -> dict[str, np.ndarray]:
    return {name: array[place : place + 1] for name, array in arrays.items()}


def load(engine: Engine, folder: Path) -> str | None:
    """Go on from the folder's snapshot; what is wrong with it, where not all of it could be taken."""
    path = folder / NAME
    if not path.is_file():
        return None
    try:
        left_out = restore(engine, *read(path))
    except WRONG as error:
        words = f"the snapshot does not fit, all streams start anew; it is kept as {put_aside(path).name}: {error}"
        return without_folder(words, folder)
    if not left_out:
        return None
    some = "; ".join(f"{name}: {cause}" for name, cause in list(left_out.items())[:SAID])
    aside = aside_of(path)
    with suppress(OSError):  # a folder without links
        aside.hardlink_to(path)
    kept = f"; the snapshot is kept as {aside.name}" if aside.is_file() else ""
    return without_folder(f"{len(left_out)} streams of the snapshot do not fit and start anew{kept}: {some}", folder)


def without_folder(words: str, folder: Path) -> str:
    """What clients may read: where the service keeps its files does not concern them."""
    return words.replace(f"{folder}{os.sep}", "")


def read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """(arrays, what the header says) of a file; raises one of WRONG where it is none."""
    with safe_open(path, "np") as file:
        about = json.loads((file.metadata() or {}).get(ENTRY, ""))
        return {name: file.get_tensor(name) for name in file.keys()}, about  # noqa: SIM118


def put_aside(path: Path) -> Path:
    """Keep a file that does not fit under another name."""
    return path.rename(aside_of(path))


def aside_of(path: Path) -> Path:
    """A name beside it that is free."""
    return path.with_name(f"{path.stem}-refused-{time.time_ns()}{path.suffix}")


def restore(engine: Engine, arrays: Mapping[str, np.ndarray], about: Mapping[str, Any]) -> dict[str, str]:
    """Streams and knobs as `packed` gave them; what is wrong with each stream that is left out, by its name.

    Refused whole where something does not fit that concerns all streams, or where no stream fits.
    """
    saved_at, table, entries = _saved_at(engine, about), table_from_json(about["knobs"]), about["streams"]
    for name, array in arrays.items():
        if len(array) != len(entries):
            raise ValueError(f"{name!r} has {len(array)} rows, expected {len(entries)}, one for each stream")
    found, left_out = [], {}
    for place, entry in enumerate(entries):
        try:
            row = _row(arrays, place)
            stream = _stream(entry, saved_at)
            found.append((stream, _checked_state(engine, stream, row)))
        except WRONG as error:
            left_out[_name_of(entry, place)] = str(error)
    if left_out and not found:
        raise ValueError("; ".join(list(left_out.values())[:1]))
    ids = Counter(stream.id for stream, _ in found)
    if len(ids) != len(found):
        raise ValueError(f"stream {ids.most_common(1)[0][0]!r} is in it twice, expected every id once")
    room = engine.limits.capacity - len(engine.streams)
    if len(found) > room:
        raise ValueError(f"it has {len(found)} streams, expected at most {room}")
    _enter(engine, found)
    engine.knobs.restore(table)
    return left_out


def only_stream(engine: Engine, id: str, about: Mapping[str, Any]) -> ServedStream:
    """The one stream that a file's header names, checked; it is not entered yet."""
    saved_at = _saved_at(engine, about)
    streams = [_stream(entry, saved_at) for entry in about["streams"]]
    if [stream.id for stream in streams] != [id]:
        raise ValueError(f"it has the streams {[stream.id for stream in streams][:3]}, expected {id} alone")
    return streams[0]


def restore_stream(engine: Engine, stream: ServedStream, arrays: Mapping[str, np.ndarray]) -> None:
    """Go on with a stream of a file; one of its id that is open ends, but only where the file is good."""
    found = _checked_state(engine, stream, arrays)
    engine.forget(stream.id, "the stream has moved on elsewhere")
    _enter(engine, [(stream, found)])


def _saved_at(engine: Engine, about: Mapping[str, Any]) -> float:
    """When it was saved; refused where another service saved it: its numbers would mean something else here."""
    expected = {"version": VERSION, "model": engine.name, "method": engine.source.method}
    for name, value in expected.items():
        if about.get(name) != value:
            raise ValueError(f"{name} is {about.get(name)!r}, expected {value!r}")
    return converted(NotNegative, about["time"])


def _checked_state(engine: Engine, stream: ServedStream, row: Mapping[str, np.ndarray]) -> State:
    """Its state and where its knobs stand, from arrays with one row."""
    arrays = dict(row)
    acting = np.asarray(arrays.pop("acting"), np.float64)
    if acting.shape != (1, 2):
        raise ValueError(f"'acting' has shape {acting.shape}, expected (1, 2)")
    zeta, omega_n = acting[0].tolist()
    if not np.isnan(acting).all():
        Settings(zeta=zeta, omega_n=omega_n)  # checks the range
        stream.knobs = zeta, omega_n
    return engine.stepper.checked(arrays)


def _enter(engine: Engine, found: list[tuple[ServedStream, State]]) -> None:
    with engine.stepper.lock:
        for stream, kept in found:
            engine.stepper.restore(stream, kept)
    with engine.lock:
        for stream, _ in found:
            engine.streams[stream.id] = stream


def _name_of(entry: Any, place: int) -> str:
    id = entry.get("id") if isinstance(entry, dict) else None
    return f"stream {id}" if isinstance(id, str) and ID.fullmatch(id) else f"stream number {place + 1}"


def _stream(entry: Mapping[str, Any], saved_at: float) -> ServedStream:
    group = require_id("group", entry["group"]) if entry["group"] != "" else ""
    stream = ServedStream(require_id("stream", entry["id"]), group, checked_policy(str(entry["policy"])))
    stream.origin, stream.saved_at, stream.lost = "snapshot", saved_at, converted(NotNegative, entry["lost"])
    stream.life = require_id("life", entry.get("life") or stream.life)
    stream.accepted = stream.taken = stream.stepped = stream.settled = frame_of(entry)
    return stream


def frame_of(entry: Mapping[str, Any]) -> int:
    """Number of the last frame in a stream's state."""
    return converted(Annotated[int, Meta(ge=0, le=LAST_NUMBER)], entry["frame"])
