"""Turns of pages' scripts, with runs that are made up."""

from __future__ import annotations

import gc
import threading
import time
import weakref

import pytest

from app.server import script_turns
from app.server.script_turns import AT_WORK, ScriptTurns


class Runner:
    """A run that lasts until it may end."""

    def __init__(self, may_end: threading.Event) -> None:
        self._may_end = may_end
        self._script_thread: threading.Thread | None = None
        self.stopped = False

    def request_stop(self) -> None:
        self.stopped = True

    def begin(self) -> None:
        thread = threading.Thread(target=self._may_end.wait, daemon=True)
        thread.start()
        self._script_thread = thread


def begun(runs: list[Runner], wanted: int) -> int:
    """How many have begun, as soon as it is so many, or after a while."""
    ends = time.monotonic() + 10
    while (count := sum(run._script_thread is not None for run in runs)) < wanted and time.monotonic() < ends:
        time.sleep(0.01)
    return count


def test_few_young_runs_are_at_work_and_nobody_waits_for_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script_turns, "YOUNG", 60.0)
    may_end, turns = threading.Event(), ScriptTurns(Runner.begin)
    runs = [Runner(may_end) for _ in range(5)]
    for run in runs:
        turns.start(run)
    assert begun(runs, AT_WORK) == AT_WORK
    time.sleep(0.1)
    assert begun(runs, 0) == AT_WORK
    may_end.set()
    assert begun(runs, 5) == 5


def test_runs_that_last_keep_nobody_from_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script_turns, "YOUNG", 0.02)
    may_end, turns = threading.Event(), ScriptTurns(Runner.begin)
    runs = [Runner(may_end) for _ in range(5)]
    for run in runs:
        turns.start(run)
    assert begun(runs, 5) == 5
    may_end.set()


def test_one_that_cannot_begin_is_stopped_and_the_next_one_begins(caplog: pytest.LogCaptureFixture) -> None:
    runs = [Runner(threading.Event()), Runner(threading.Event())]
    turns = ScriptTurns(lambda run: runs[1].begin() if run is runs[1] else run.missing())
    for run in runs:
        turns.start(run)
    assert begun(runs, 1) == 1 and "was not started" in caplog.text
    assert [run.stopped for run in runs] == [True, False]
    runs[1]._may_end.set()


def test_nothing_of_a_run_is_kept() -> None:
    """Streamlit notes the session at the thread."""
    may_end, turns = threading.Event(), ScriptTurns(Runner.begin)
    may_end.set()
    run = Runner(may_end)
    turns.start(run)
    assert begun([run], 1) == 1 and run._script_thread is not None
    run._script_thread.join()
    turns._starter.submit(int).result()
    kept = weakref.ref(run._script_thread)
    del run
    gc.collect()
    assert kept() is None
