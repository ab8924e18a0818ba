"""What a service does beside answering: expire streams, save snapshots, reload the settings file when it changes."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from knob_core import files
from knob_core import settings as settings_file
from knob_core.serving.engine import Engine
from knob_core.serving.knob_control import KnobControl

TICK = 0.5  # s
log = logging.getLogger(__name__)


class Store(Protocol):
    """Where states are saved: `knob_core.serving.snapshots`, or `stream_files` where several services share them."""

    folder: Path

    def saved_at(self) -> float | None:
        """Unix time of what `load` will go on from, where that has knobs."""

    def load(self) -> str | None: ...

    def save(self) -> None: ...

    def tick(self) -> None: ...


class Maintenance:
    """A thread beside the engine's. What goes wrong stands in `problems`, by subject, until it is right again."""

    def __init__(
        self, engine: Engine, problems: dict[str, str], *,
        store: Store | None = None, every: float = 10.0, settings: Path | None = None,
    ) -> None:  # fmt: skip
        if not every > 0:
            raise ValueError(f"every is {every!r}, expected a number of seconds > 0")
        self.engine, self.problems = engine, problems
        self._store, self._every = store, every
        self._watch = SettingsWatch(settings, problems) if settings is not None else None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._saved_at = time.monotonic()
        self.saved = 0  # snapshots
        self.failed = 0

    def start(self) -> None:
        """Load the last snapshot, then go on in a thread."""
        if self._store is not None:
            self._load(self._store)
        self._thread = threading.Thread(target=self._work, name="knob maintenance", daemon=True)
        self._thread.start()

    def _load(self, store: Store) -> None:
        """Go on from what was saved; a settings file that was edited since comes before the saved knobs."""
        saved_at, problem = store.saved_at(), store.load()
        if problem is not None:
            log.warning(problem)
            self.problems["restore"] = problem
        if saved_at is not None and self._watch is not None:
            self._watch.reload_if_edited_since(saved_at, self.engine.knobs)

    def stop(self) -> None:
        """The last snapshot, once the engine has answered all."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        if self._watch is not None:
            self._watch.reload(self.engine.knobs)  # or an edit of this moment would look older than the snapshot
        self.save()

    def _work(self) -> None:
        while not self._stop.wait(TICK):
            try:
                self.tick()
            except Exception:
                log.exception("maintenance of the service failed")

    def tick(self) -> None:
        for id in self.engine.expire():
            log.info("stream expired", extra={"stream": id})
        if self._watch is not None:
            self._watch.reload(self.engine.knobs)
        if (problem := self.engine.stepper.backbone.problem) is not None:
            self.problems["model"] = problem
        else:
            self.problems.pop("model", None)
        if time.monotonic() - self._saved_at >= self._every:
            self.save()
        elif self._store is not None:
            self._try(self._store, self._store.tick)

    def save(self) -> None:
        """A snapshot; where the disk does not take it the service goes on, says so, and tries again."""
        if self._store is None:
            return
        self._saved_at = time.monotonic()
        if self._try(self._store, self._store.save):
            self.saved += 1
            if self.problems.pop("snapshot", None) is not None:
                log.info("snapshots are written again")

    def _try(self, store: Store, write: Callable[[], None]) -> bool:
        try:
            write()
            return True
        except OSError as error:
            self.failed += 1
            if "snapshot" not in self.problems:
                log.error("no snapshot could be written", extra={"cause": str(error)})
            self.problems["snapshot"] = f"no snapshot could be written: {without_folders(error)}"
            return False


class SettingsWatch:
    """One file; what is wrong with it stands in `problems` until it is right again."""

    def __init__(self, path: Path, problems: dict[str, str]) -> None:
        self.path, self.problems = path, problems
        self._stamp = self._read_stamp()
        self._gone = f"{path.name} cannot be found any more, the knobs stay"

    def reload_if_edited_since(self, moment: float, knobs: KnobControl) -> None:
        """Turn the knobs, where the file is newer than a Unix time."""
        if self._stamp is not None and self._stamp[0] > moment * 1e9:
            self._stamp = None
            self.reload(knobs)

    def reload(self, knobs: KnobControl) -> bool:
        """Turn the knobs, where the file changed; whether it did. A bad file is reported, and the knobs stay."""
        stamp = self._read_stamp()
        if stamp is None:
            self.problems["settings"] = self._gone
            return False
        if self.problems.get("settings") == self._gone:
            del self.problems["settings"]
        if stamp == self._stamp:
            return False
        self._stamp = stamp
        try:
            knobs.turn(settings_file.as_dict(settings_file.load(self.path)), f"file {self.path.name}")
            self.problems.pop("settings", None)
        except (ValueError, OSError) as error:
            log.error("the settings file was not taken", extra={"cause": str(error)})
            self.problems["settings"] = f"{self.path.name} was not taken: {without_folders(error, self.path)}"
        return True

    def _read_stamp(self) -> tuple[int, int] | None:
        """Time and size."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size


def without_folders(error: Exception, path: Path | None = None) -> str:
    """What an error says, for clients: of a file of the server no more than its name."""
    text = str(error)
    if isinstance(error, OSError) and error.errno is not None:
        text = files.CAUSES.get(error.errno) or error.strerror or type(error).__name__
    return text if path is None else text.replace(str(path), path.name)
