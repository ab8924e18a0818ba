"""What a service does beside answering: expire streams, save snapshots, reload the settings file when it changes."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

from knob_core import settings as settings_file
from knob_core.serving import snapshots
from knob_core.serving.engine import Engine

TICK = 0.5  # s
log = logging.getLogger(__name__)


class Keeper:
    """A thread beside the engine's. What goes wrong is told in `problems`, by subject, until it is right again."""

    def __init__(
        self, engine: Engine, problems: dict[str, str], *,
        state: Path | None = None, every: float = 10.0, settings: Path | None = None,
    ) -> None:  # fmt: skip
        if not every > 0:
            raise ValueError(f"every is {every!r}, expected a number of seconds > 0")
        self.engine, self.problems = engine, problems
        self._state, self._every, self._settings = state, every, settings
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._saved_at = time.monotonic()
        self._stamp = self._read_stamp()
        self.saved = 0  # snapshots
        self.failed = 0

    def start(self) -> None:
        """Load the last snapshot, then keep."""
        if self._state is not None:
            self._state.mkdir(parents=True, exist_ok=True)
            problem = snapshots.load(self.engine, self._state)
            if problem is not None:
                log.warning(problem)
        self._thread = threading.Thread(target=self._work, name="knob keeper", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """The last snapshot, once the engine has answered all."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        self.save()

    def _work(self) -> None:
        while not self._stop.wait(TICK):
            try:
                self.tick()
            except Exception:
                log.exception("keeping the service failed")

    def tick(self) -> None:
        for id in self.engine.expire():
            log.info("stream expired", extra={"stream": id})
        self.reload()
        if time.monotonic() - self._saved_at >= self._every:
            self.save()

    def save(self) -> None:
        """A snapshot; where the disk does not take it the service goes on, says so, and tries again."""
        if self._state is None:
            return
        self._saved_at = time.monotonic()
        try:
            snapshots.write(self.engine, self._state)
            self.saved += 1
            if self.problems.pop("snapshot", None) is not None:
                log.info("snapshots are written again")
        except OSError as error:
            self.failed += 1
            if "snapshot" not in self.problems:
                log.error("no snapshot could be written", extra={"cause": str(error)})
            self.problems["snapshot"] = f"no snapshot could be written: {error}"

    def reload(self) -> None:
        """The settings file for all, where it changed on disk; a bad one is told, and the knobs stay."""
        stamp = self._read_stamp()
        if stamp is None or stamp == self._stamp or self._settings is None:
            return
        self._stamp = stamp
        try:
            changes = settings_file.as_dict(settings_file.load(self._settings))
            self.engine.knobs.turn(changes, f"file {self._settings.name}")
            self.problems.pop("settings", None)
        except (ValueError, OSError) as error:
            log.error("the settings file was not taken", extra={"cause": str(error)})
            self.problems["settings"] = f"{self._settings.name} was not taken: {error}"

    def _read_stamp(self) -> tuple[int, int] | None:
        """Time and size of the settings file."""
        try:
            found = self._settings.stat() if self._settings is not None else None
        except OSError:
            return None
        return (found.st_mtime_ns, found.st_size) if found is not None else None
