"""Fits of a visitor's streams: what nobody waits for any more stops."""

from __future__ import annotations

import numpy as np
import pytest
from jobs import finished

from app.server import background_jobs
from app.your_stream.fit_job import JOBS, FitRequest
from knob_core.uploads import Uploaded


def request(session: str) -> FitRequest:
    """A fit of many minutes."""
    z = np.random.default_rng(0).normal(size=(1, 200, 5000)).astype(np.float32)
    return FitRequest(session, "large", 5.0, Uploaded(z, z, None, np.zeros((1, 200), np.int64), None))


def test_a_fit_whose_visitor_leaves_stops() -> None:
    """It went on for minutes, as many as there were visitors who had left."""
    job = JOBS.of(request("ann"), "ann")
    assert not job.over
    JOBS.leave("ann")
    assert finished(job).result is None and not job.error


def test_a_fit_that_nobody_asks_for_stops_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_jobs, "PATIENCE", 0.2)
    job = finished(JOBS.of(request("bob"), "bob"))
    assert job.stop.is_set() and job.result is None and not job.error


def test_sessions_share_no_fit() -> None:
    mine, other = request("ann"), request("bob")
    assert mine != other and mine == request("ann")
