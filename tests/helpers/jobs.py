"""Wait for the app's background jobs."""

from __future__ import annotations

import time

from app.server.background_jobs import Job


def finished(job: Job) -> Job:
    """The job when it is over: done, failed or cancelled."""
    for _ in range(1200):
        if job.over:
            return job
        time.sleep(0.05)
    raise TimeoutError
