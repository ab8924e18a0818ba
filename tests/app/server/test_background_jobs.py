"""Background jobs: the same key runs once, two work at a time, and what nobody wants any more is stopped."""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref

import pytest
from jobs import finished

from app.server import background_jobs
from app.server.background_jobs import Cancelled, Job, Jobs


def test_results_are_kept_and_the_oldest_forgotten() -> None:
    computed: list[object] = []
    jobs = Jobs(lambda job: computed.append(job.key) or "result")
    first = finished(jobs.of("one"))
    assert jobs.of("one") is first is jobs.known("one") and computed == ["one"]
    for key in range(background_jobs.KEPT):
        finished(jobs.of(key))
    assert jobs.known("one") is None


def test_an_error_is_named_by_its_words_or_by_its_kind() -> None:
    def fails(job: Job) -> str:
        raise job.key

    for error, words in ((ValueError("frames is 7"), "frames is 7"), (KeyError("x"), "KeyError: 'x'")):
        job = Job(error)
        background_jobs.work(job, fails)
        assert job.over and job.result is None and job.error == words


def test_a_cancelled_job_may_be_asked_for_again() -> None:
    jobs = Jobs(lambda job: "result")
    job = jobs.of("one")
    job.stop.set()
    finished(job)
    again = jobs.of("one") if job.result is None else job
    assert finished(again).result is not None


def test_what_nobody_wants_any_more_is_stopped() -> None:
    def slow(job: Job) -> str:
        assert job.stop.wait(60)
        raise Cancelled

    jobs, other = Jobs(slow), "other"
    first, second = jobs.of("one", "ann"), jobs.of(other, "ann")
    assert jobs.of("one", "bob") is first
    jobs.leave("ann", but=other)
    assert not first.stop.is_set() and not second.stop.is_set()  # Bob still waits for the first
    jobs.leave("bob")
    assert finished(first).result is None and not second.stop.is_set()
    jobs.leave("ann")
    assert finished(second).result is None


def test_two_work_at_a_time() -> None:
    at_work, most, lock = 0, 0, threading.Lock()

    def counted(job: Job) -> str:
        nonlocal at_work, most
        with lock:
            at_work, most = at_work + 1, max(most, at_work + 1)
        time.sleep(0.05)
        with lock:
            at_work -= 1
        raise ValueError("done")

    jobs = Jobs(counted)
    for job in [jobs.of(seed) for seed in range(6)]:
        finished(job)
    assert most == 2


def test_a_job_that_nobody_asks_for_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    """At work, and while it waits for its turn; one that a page asks for goes on."""
    monkeypatch.setattr(background_jobs, "PATIENCE", 0.3)
    done = threading.Event()

    def steps(job: Job) -> str:
        while not done.wait(0.01):
            job.go_on()
        return "result"

    jobs = Jobs(steps)
    asked, *abandoned = [jobs.of(key) for key in range(5)]
    while not all(job.over for job in abandoned):
        asked.ask()
        time.sleep(0.01)
    assert not asked.over
    done.set()
    assert finished(asked).result == "result" and all(job.result is None for job in abandoned)


class Upload:
    """A visitor's file."""


def test_what_is_computed_of_a_visitors_files_goes_with_the_visitor() -> None:
    """Results are kept for the next one who asks; those of uploads stayed for good, with the uploads themselves."""
    jobs = Jobs(lambda job: ["made of", job.key], private=lambda key: isinstance(key, Upload))
    upload = Upload()
    seen = weakref.ref(upload)
    job = finished(jobs.of(upload, "ann"))
    assert jobs.known(upload) is job and jobs.of(upload, "ann") is job  # while the session holds it
    del upload, job
    ends = time.monotonic() + 60
    while seen() is not None and time.monotonic() < ends:  # its thread is about to end
        time.sleep(0.01)
    assert seen() is None
    shared = finished(jobs.of("shipped", "ann"))
    assert jobs.known("shipped") is shared


def test_private_jobs_stop_and_are_forgotten_as_others() -> None:
    def slow(job: Job) -> str:
        assert job.stop.wait(60)
        raise Cancelled

    jobs = Jobs(slow, private=lambda key: True)
    held = [jobs.of(key, "ann") for key in range(8)]
    jobs.leave("ann", but=0)
    assert [job.stop.is_set() for job in held] == [False] + [True] * (len(held) - 1)
    jobs.leave("ann")
    finished(held[0])
    jobs.forget(0)
    assert jobs.known(0) is None


@pytest.mark.skipif(sys.platform != "linux", reason="priorities of threads are Linux's")
def test_a_job_and_its_threads_give_way_to_the_dials() -> None:
    """A map of a large upload keeps every core busy for a minute."""

    def priority() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    def with_helper(job: Job) -> list[int]:
        found = [priority()]
        helper = threading.Thread(target=lambda: found.append(priority()))
        helper.start()
        helper.join()
        return found

    before = priority()
    expected = min(19, before + background_jobs.NICE)
    assert finished(Jobs(with_helper).of("one")).result == [expected, expected]
    assert priority() == before
