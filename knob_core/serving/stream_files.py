"""One file per stream in a folder that several services share: whichever a stream comes to goes on from its file.

A file has the format of a snapshot with one stream. Frame numbers rise, so of two states of a stream the one with the
larger number is the newer: a service takes a file that is ahead of its own memory, and never writes over one that is.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from knob_core import files
from knob_core.serving import snapshots
from knob_core.serving.engine import Engine
from knob_core.serving.messages import require_id
from knob_core.serving.served_stream import ServedStream

SUFFIX = ".safetensors"
SWEEP_EVERY = 60.0  # s between two looks for files of streams that have gone
log = logging.getLogger(__name__)


class StreamFiles:
    """The files of all streams in a folder, of which this engine has some."""

    def __init__(self, engine: Engine, folder: Path, every: float = 10.0) -> None:
        self.engine, self.folder, self._every = engine, folder, every
        self._lock = threading.Lock()  # of the files that this process writes, reads and removes
        self._written: dict[str, int] = {}  # last number in the file, by stream
        self._swept = time.monotonic()

    def saved_at(self) -> None:
        """The files have no knobs."""

    def load(self) -> str | None:
        """Nothing at the start: a stream is read when it comes."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return None

    def save(self) -> None:
        """Write every stream that has moved on since it was written last; OSError where the disk does not take it."""
        self._save(lambda stream: True)

    def tick(self) -> None:
        """Streams whose socket dropped may come back elsewhere: write them at once. Files of ended streams go."""
        self._save(lambda stream: stream.sink is None)
        if time.monotonic() - self._swept >= SWEEP_EVERY:
            self._swept = time.monotonic()
            self.sweep()

    def recall(self, id: str, socket: bool = False) -> None:
        """Take a stream's file, where it is ahead of what this engine knows; before a frame or a socket is taken.

        A stream that was here a moment ago is not looked up again for each of its frames, but for each new socket.
        """
        require_id("stream", id)
        known = self.engine.streams.get(id)
        if known is not None and (self._lately_here(known) if not socket else known.sink is not None):
            return
        with self._lock:
            path = self._path(id)
            if self._ended(path):
                return
            try:
                arrays, about = snapshots.read(path)
                known, saved = self.engine.streams.get(id), snapshots.only_stream(self.engine, id, about)
                if known is not None and known.life == saved.life and known.stepped >= saved.stepped:
                    return
                room = self.engine.limits.capacity - len(self.engine.streams)
                if known is not None or room > 0:  # else the caller is refused
                    snapshots.restore_stream(self.engine, saved, arrays)
                    self._written[id] = saved.stepped
            except FileNotFoundError:  # removed meanwhile
                return
            except snapshots.WRONG as error:
                aside = snapshots.put_aside(path)
                log.warning(
                    "a stream's file does not fit", extra={"stream": id, "kept": str(aside), "cause": str(error)}
                )

    def remove(self, id: str) -> bool:
        """The stream has ended; whether it had a file."""
        require_id("stream", id)
        with self._lock:
            self._written.pop(id, None)
            there = self._path(id).is_file()
            self._path(id).unlink(missing_ok=True)
            return there

    def sweep(self) -> int:
        """Remove files of streams without a frame for the idle time; how many."""
        gone = 0
        for path in self.folder.glob(f"*{SUFFIX}"):
            try:
                if self._ended(path):
                    path.unlink()
                    gone += 1
            except FileNotFoundError:  # another service was faster
                continue
        return gone

    def _lately_here(self, stream: ServedStream) -> bool:
        return time.monotonic() - stream.seen < self._every

    def _path(self, id: str) -> Path:
        return self.folder / f"{id}{SUFFIX}"

    def _save(self, chosen: Callable[[ServedStream], bool]) -> None:
        with self._lock:
            moved = lambda stream: stream.stepped != self._written.get(stream.id, 0) and chosen(stream)  # noqa: E731
            arrays, about = snapshots.packed(self.engine, moved)
            del about["knobs"]
            for k, entry in enumerate(about["streams"]):
                if self._ahead(entry):  # it has moved on elsewhere: this memory is old
                    continue
                mine = {name: np.ascontiguousarray(array[k : k + 1]) for name, array in arrays.items()}
                content = snapshots.content_of(mine, {**about, "streams": [entry]})
                files.write_bytes(self._path(entry["id"]), content)
                self._written[entry["id"]] = entry["frame"]
            for id in self._written.keys() - self.engine.streams.keys():
                del self._written[id]

    def _ended(self, path: Path) -> bool:
        """Whether there is no file, or one of a stream without a frame for the idle time."""
        try:
            return time.time() - path.stat().st_mtime > self.engine.limits.idle
        except FileNotFoundError:
            return True

    def _ahead(self, entry: Mapping[str, Any]) -> bool:
        """Whether the file has a later state than this one, or another stream's that took the id since."""
        path = self._path(entry["id"])
        try:
            if self._ended(path):
                return False
            (found,) = snapshots.read(path)[1]["streams"]
            return found["life"] != entry["life"] or snapshots.frame_of(found) > entry["frame"]
        except snapshots.WRONG:
            return False
