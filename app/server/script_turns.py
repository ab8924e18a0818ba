"""Runs of pages' scripts begin in turn, and not in the event loop.

Streamlit starts a thread for each run in the event loop, and waits there until that thread has come to work: where many
sessions ran their pages again and again, everybody waited for that. Here a thread of its own starts them, one after the
other, while few young ones are at work. A run that lasts counts no more: most of those wait for something.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from weakref import WeakKeyDictionary

from streamlit.runtime.scriptrunner import script_runner

AT_WORK = 2  # young runs
YOUNG = 0.25  # seconds; so eight runs a second begin at least, whatever the others do
LOOK = 0.002  # seconds between two looks whether one has ended


class ScriptTurns:
    """In the order in which sessions ask; a session has one run at a time, and joins what it asks for meanwhile."""

    def __init__(self, begin: Callable[[Any], None]) -> None:
        self._begin = begin
        self._starter = ThreadPoolExecutor(1, "knob-script-start")
        self._began: WeakKeyDictionary[threading.Thread, float] = WeakKeyDictionary()  # a thread knows its session

    def start(self, runner: Any) -> None:
        """Begin this run when its turn has come; does not wait for it."""
        self._starter.submit(self._start, runner)

    def _start(self, runner: Any) -> None:
        while self._young() >= AT_WORK:
            time.sleep(LOOK)
        try:
            self._begin(runner)
            self._began[runner._script_thread] = time.monotonic()
        except Exception:
            runner.request_stop()  # what its session asks for next gets another one
            logging.getLogger(__name__).exception("a page's script was not started")

    def _young(self) -> int:
        now = time.monotonic()
        return sum(run.is_alive() and now - at < YOUNG for run, at in list(self._began.items()))


def use() -> None:
    """In this server from now on."""
    kind: Any = script_runner.ScriptRunner
    turns = ScriptTurns(kind.start)
    kind.start = lambda runner: turns.start(runner)
