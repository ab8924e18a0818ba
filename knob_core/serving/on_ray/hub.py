"""The one place that all replicas talk to: it has the knobs, and gathers what a question about all of them needs.

Every replica waits at `exchange`. It returns when a knob was turned, when somebody asks about all replicas, or after a
while; the replica takes the knobs, adds what was asked for, and waits again. So a turn is numbered in one place,
reaches every replica, and is only called done when each of them has it. No Ray in here: plain asyncio.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from knob_core import files
from knob_core.serving.knob_control import Change, Conflict, KnobControl, table_from_json
from knob_core.serving.maintenance import SettingsWatch, without_folders

BEAT = 1.0  # s that a replica waits at most
SILENT = 5.0  # s after which a replica that does not come back is gone
WITHIN = 3.0  # s that a turn or a question waits for the replicas
NAME = "knobs.json"
log = logging.getLogger(__name__)


@dataclass
class Replica:
    """What is known of one."""

    seen: float  # s, monotonic
    revision: int  # of the knobs that it has
    answered: int  # number of the last question that it has answered
    report: dict[str, Any] = field(default_factory=dict)


class Hub:
    """Knobs in the folder, or the first replica's own."""

    def __init__(self, folder: str, settings: str | None = None) -> None:
        self._path = Path(folder) / NAME
        self.problems: dict[str, str] = {}
        self.knobs = self._load()
        self._watch = SettingsWatch(Path(settings), self.problems) if settings is not None else None
        self._following: asyncio.Task[None] | None = None
        self.replicas: dict[str, Replica] = {}
        self.question = 0  # number of the last one
        self.draining = False
        self._changed = asyncio.Event()  # replaced each time: those who wait hold the old one

    # Replicas

    async def exchange(
        self, replica: str, revision: int, answered: int, report: dict[str, Any] | None, knobs: Mapping[str, Any]
    ) -> dict[str, Any]:
        """A replica says what it has, and is told what is new. `knobs`: those that it started with."""
        if self.knobs is None:
            self.knobs = KnobControl(table_from_json(knobs).base)
        if self._following is None:
            self._following = asyncio.create_task(self._follow())
        known = self.replicas.setdefault(replica, Replica(0.0, 0, 0))
        known.seen, known.revision, known.answered = time.monotonic(), revision, answered
        if report is not None:
            known.report = report
        self._notify()
        await self._until(
            lambda: self._revision() != revision or self.question > answered or self.draining, BEAT
        )  # fmt: skip
        known.seen = time.monotonic()
        table = self.knobs.table
        return {
            "knobs": table.to_json() if table.revision != revision else None,
            "question": self.question, "draining": self.draining,
        }  # fmt: skip

    async def reports(self) -> dict[str, dict[str, Any]]:
        """What every replica says of itself now, by name."""
        self.question += 1
        asked = self.question
        self._notify()
        await self._until(lambda: all(r.answered >= asked for r in self._present().values()), WITHIN)
        return {name: replica.report for name, replica in self._present().items() if replica.answered >= asked}

    async def drain(self) -> None:
        """Every replica answers what waits, saves, and closes its sockets."""
        self.draining = True
        self._notify()
        await self._until(lambda: all(r.report.get("drained") for r in self._present().values()), 4 * WITHIN)

    # Knobs

    async def state(self) -> dict[str, Any]:
        """{knobs, log}, or {error} before the first replica came."""
        if self.knobs is None:
            return {"status": 503, "error": "the service is starting"}
        return {"knobs": self.knobs.table.to_json(), "log": list(self.knobs.log)}

    async def change(self, change: Mapping[str, Any], by: str) -> dict[str, Any]:
        """The new knobs once every replica has them; {status, error} where they cannot be."""
        if self.knobs is None:
            return {"status": 503, "error": "the service is starting"}
        before = self.knobs.table
        try:
            table = Change.from_json(change).made(self.knobs, by)
            self._save()
        except (LookupError, ValueError) as error:
            status = 409 if isinstance(error, Conflict) else 404 if isinstance(error, LookupError) else 400
            return {"status": status, "error": str(error.args[0])}
        except OSError as error:  # a turn that a restart would forget is none
            self.knobs.restore(before)
            self.knobs.log.pop()
            return {"status": 503, "error": f"the knobs could not be saved: {without_folders(error)}"}
        await self._broadcast(table.revision)
        return {"knobs": table.to_json()}

    async def _follow(self) -> None:
        """Follow the settings file for ever."""
        while self._watch is not None:
            await asyncio.sleep(0.5)
            if self.knobs is not None and self._watch.reload(self.knobs):
                try:
                    self._save()
                except OSError as error:
                    self.problems["knobs"] = f"the knobs could not be saved: {without_folders(error)}"
                await self._broadcast(self.knobs.table.revision)

    async def _broadcast(self, revision: int) -> None:
        self._notify()
        await self._until(lambda: all(r.revision >= revision for r in self._present().values()), WITHIN)

    def _load(self) -> KnobControl | None:
        try:
            table = json.loads(self._path.read_bytes())
            control = KnobControl(table_from_json(table["knobs"]).base)
            control.restore(table_from_json(table["knobs"]))
            control.log.extend(table["log"])
            return control
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, OSError) as error:
            log.error("the saved knobs do not fit", extra={"cause": str(error)})
            self.problems["knobs"] = f"{self._path.name} does not fit, the knobs start anew: {without_folders(error)}"
            return None

    def _save(self) -> None:
        assert self.knobs is not None
        table = {"knobs": self.knobs.table.to_json(), "log": list(self.knobs.log)}
        files.write_text(self._path, json.dumps(table), sync=True)

    # Waiting

    def _revision(self) -> int:
        return 0 if self.knobs is None else self.knobs.table.revision

    def _present(self) -> dict[str, Replica]:
        now = time.monotonic()
        self.replicas = {name: r for name, r in self.replicas.items() if now - r.seen < SILENT}
        return self.replicas

    def _notify(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def _until(self, true: Callable[[], bool], within: float) -> None:
        until = time.monotonic() + within
        while not true() and (left := until - time.monotonic()) > 0:
            try:
                await asyncio.wait_for(self._changed.wait(), left)
            except TimeoutError:
                return
