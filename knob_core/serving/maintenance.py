"""What a service does beside answering: expire streams, save snapshots, reload the settings file when it changes."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from knob_core.serving.engine import Engine
from knob_core.serving.settings_watch import SettingsWatch, without_folders

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
