"""Computations in background threads: progress, cancel, and a few results kept; two work at a time.

A page asks for its job again and again while it waits; a job that nobody asks for stops by itself. Results made of a
visitor's own files are private: the visitor's session alone keeps them.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

KEPT = 8  # results
NICE = 5  # steps of priority that a job stands behind the answers to knobs
PATIENCE = 10.0  # seconds without anybody asking after which a job stops

_closing = threading.Event()


class Cancelled(Exception):
    """Nobody waits for the result any more."""


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
        """Raise Cancelled where nobody waits any more; to be called between two steps."""
        if time.monotonic() - self.asked > PATIENCE or _closing.is_set():
            self.stop.set()
        if self.stop.is_set():
            raise Cancelled

    @property
    def over(self) -> bool:
        """Done, failed or cancelled."""
        return self.result is not None or bool(self.error) or self.stop.is_set()


class Jobs:
    """Jobs of one kind by their keys; `compute` makes a job's result, or raises Cancelled.

    Jobs of a `private` key live while they run and while a session holds them.
    """

    def __init__(self, compute: Callable[[Job], Any], private: Callable[[Any], bool] = lambda key: False) -> None:
        self._compute, self._is_private = compute, private
        self._lock = threading.Lock()
        self._jobs: dict[Any, Job] = {}  # the last one asked for at the end
        self._private: WeakValueDictionary[Any, Job] = WeakValueDictionary()

    def of(self, key: Any, session: str = "") -> Job:
        """The job of a key for a session, started if there is none (a failed or cancelled one is tried again)."""
        with self._lock:
            table = self._table(key)
            job = table.pop(key, None)
            if job is None or (job.over and job.result is None):
                job = Job(key)
                _workers.submit(work, job, self._compute)
            table[key] = job
            job.wanted_by.add(session)
            job.ask()
            for old in [k for k, j in self._jobs.items() if j.over][: max(0, len(self._jobs) - KEPT)]:
                del self._jobs[old]
            return job

    def leave(self, session: str, but: Any = None) -> None:
        """A session wants nothing more, `but` that; what no other session wants is stopped."""
        with self._lock:
            for key, job in [*self._jobs.items(), *self._private.items()]:
                if key != but and session in job.wanted_by:
                    job.wanted_by.remove(session)
                    if not job.wanted_by:
                        job.stop.set()

    def forget(self, key: Any) -> None:
        """Drop a job without a result, so that it may be asked for again."""
        with self._lock:
            job = self._table(key).get(key)
            if job is not None and job.over and job.result is None:
                del self._table(key)[key]

    def known(self, key: Any) -> Job | None:
        """The job of a key, if there is one."""
        with self._lock:
            return self._table(key).get(key)

    def _table(self, key: Any) -> MutableMapping[Any, Job]:
        return self._private if self._is_private(key) else self._jobs


def work(job: Job, compute: Callable[[Job], Any]) -> None:
    """Run a job to its end: a result, an error in words, or cancelled."""
    try:
        job.go_on()
        job.result = compute(job)
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


_workers = ThreadPoolExecutor(2, "knob-compute", initializer=give_way)


def close() -> None:
    """The server ends: no job goes on or begins."""
    _closing.set()
    _workers.shutdown(wait=False, cancel_futures=True)
