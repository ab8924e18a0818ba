"""Background jobs: the same key runs once, two work at a time, and what nobody wants any more is stopped."""

from __future__ import annotations

import threading
import time

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
