"""Computations in background threads: progress, cancel, and a few results kept; no job runs twice at a time.

A page asks for its job again and again while it waits. A job that nobody asks for stops by itself, so that a visitor
who left takes no time from those who are there. What is computed of a visitor's own files is private: it is kept by the
visitor's session alone, and goes with it.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakSet, WeakValueDictionary

KEPT = 8  # results
AT_WORK = 2  # jobs; others wait for a turn
TURN = 5.0  # seconds that a job works on while others wait
MOST_WAITING = 8  # jobs of the process that are not over
NICE = 5  # steps of priority that a job stands behind the answers to knobs
PATIENCE = 10.0  # seconds without anybody asking after which a job stops


class Cancelled(Exception):
    """Nobody waits for the result any more."""


class Busy(ValueError):
    """There are too many jobs to take another one."""


@dataclass(eq=False)
class Job:
    """One computation; the page reads it, the worker writes to it."""

    key: Any  # plain values that say what is computed
    progress: float = 0.0
    result: Any = None
    partial: Any = None  # what there is so far, for a computation that can show it
    error: str = ""
    stop: threading.Event = field(default_factory=threading.Event)
    wanted_by: set[str] = field(default_factory=set)  # session ids
    asked: float = field(default_factory=time.monotonic)  # when a page last asked for it

    def ask(self) -> None:
        """A page still waits for it."""
        self.asked = time.monotonic()

    def go_on(self) -> None:
        """Raise Cancelled where nobody waits any more, let others go first at times; to be called between two steps."""
        self.require_wanted()
        TURNS.share(self)

    def require_wanted(self) -> None:
        """Raise Cancelled where nobody waits any more."""
        if time.monotonic() - self.asked > PATIENCE:
            self.stop.set()
        if self.stop.is_set():
            raise Cancelled

    @property
    def over(self) -> bool:
        """Done, failed or cancelled."""
        return self.result is not None or bool(self.error) or self.stop.is_set()


class Turns:
    """Some jobs are at work; the others wait in a row. A long job goes back to its end, so that others come soon."""

    def __init__(self, at_work: int) -> None:
        self._most = at_work
        self._began: dict[Job, float] = {}  # by the jobs at work
        self._row: list[Job] = []
        self._changed = threading.Condition()

    def take(self, job: Job) -> None:
        """Wait for a turn; raises Cancelled where nobody wants the job any more."""
        with self._changed:
            self._row.append(job)
            try:
                while self._row[0] is not job or len(self._began) >= self._most:
                    self._changed.wait(PATIENCE / 10)
                    job.require_wanted()
                self._began[job] = time.monotonic()
            finally:
                self._row.remove(job)
                self._changed.notify_all()

    def give_back(self, job: Job) -> None:
        """Let the next one begin."""
        with self._changed:
            self._began.pop(job, None)
            self._changed.notify_all()

    def share(self, job: Job) -> None:
        """Go to the end of the row after a while at work, where there is one."""
        began = self._began.get(job)
        if began is not None and self._row and time.monotonic() - began > TURN:
            self.give_back(job)
            self.take(job)


TURNS = Turns(AT_WORK)
"""Of the process: whatever is computed, for whomever."""

_started: WeakSet[Job] = WeakSet()  # of the process
_starting = threading.Lock()


class Jobs:
    """All jobs of the process by their keys; `compute` makes a job's result, or raises Cancelled.

    Jobs of a `private` key are not kept here: they live while they run and while a session holds them.
    """

    def __init__(self, compute: Callable[[Job], Any], private: Callable[[Any], bool] = lambda key: False) -> None:
        self._compute, self._is_private = compute, private
        self._lock = threading.Lock()
        self._jobs: OrderedDict[Any, Job] = OrderedDict()
        self._private: WeakValueDictionary[Any, Job] = WeakValueDictionary()

    def of(self, key: Any, session: str = "") -> Job:
        """The job of a key for a session, started if there is none (a failed or cancelled one is tried again).

        Raises Busy where too many others are not over.
        """
        with self._lock:
            table = self._table(key)
            job = table.get(key)
            if job is None or (job.over and job.result is None):
                job = table[key] = _start(key)
                threading.Thread(target=work, args=(job, self._compute), daemon=True, name="knob-compute").start()
            job.wanted_by.add(session)
            job.ask()
            if table is self._jobs:
                self._jobs.move_to_end(key)
            for old in [k for k, j in self._jobs.items() if j.over][: max(0, len(self._jobs) - KEPT)]:
                del self._jobs[old]
            return job

    def leave(self, session: str, but: Any = None) -> None:
        """A session wants nothing more, `but` that; what no other session wants is stopped."""
        with self._lock:
            for key, job in self._all():
                if key != but and session in job.wanted_by:
                    job.wanted_by.remove(session)
                    if not job.wanted_by:
                        job.stop.set()

    def forget(self, key: Any) -> None:
        """Drop a job without a result, so that it may be asked for again."""
        with self._lock:
            table = self._table(key)
            job = table.get(key)
            if job is not None and job.over and job.result is None:
                del table[key]

    def known(self, key: Any) -> Job | None:
        """The job of a key, if there is one."""
        with self._lock:
            return self._table(key).get(key)

    def _table(self, key: Any) -> MutableMapping[Any, Job]:
        return self._private if self._is_private(key) else self._jobs

    def _all(self) -> list[tuple[Any, Job]]:
        return [*self._jobs.items(), *self._private.items()]


def _start(key: Any) -> Job:
    """A new job, where there are not too many of any kind."""
    with _starting:
        if sum(not job.over for job in _started) >= MOST_WAITING:
            raise Busy(f"{MOST_WAITING} streams are being computed or wait for it; please try again in a minute")
        job = Job(key)
        _started.add(job)
        return job


def work(job: Job, compute: Callable[[Job], Any]) -> None:
    """Run a job to its end: a result, an error in words, or cancelled."""
    give_way()
    try:
        try:
            TURNS.take(job)
            job.require_wanted()
            job.result = compute(job)
        finally:
            TURNS.give_back(job)
    except Cancelled:
        job.stop.set()
    except Exception as error:  # whatever it was, the page names it and goes on
        job.error = str(error) if isinstance(error, (ValueError, OSError)) else f"{type(error).__name__}: {error}"


def give_way() -> None:
    """Dials go before computations: on Linux this thread, and those that it starts, get less of a busy processor."""
    if sys.platform == "linux":
        own = threading.get_native_id()
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, own, min(19, os.getpriority(os.PRIO_PROCESS, own) + NICE))
