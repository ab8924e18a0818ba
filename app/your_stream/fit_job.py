"""Fitting Knob to a visitor's labelled stream, as a background job: one that is left behind stops."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.server.background_jobs import Job, Jobs
from knob_core.uploads import Uploaded
from knob_core.wrap.fitting import Fit, fit


@dataclass(frozen=True)
class FitRequest:
    """Whose streams, and the limit."""

    session: str
    id: str  # of the stream
    max_delay: float  # frames
    uploaded: Uploaded = field(compare=False, repr=False)


def compute(job: Job) -> Fit:
    """The fit; `job.partial` says what is being done."""
    wanted: FitRequest = job.key
    of = wanted.uploaded
    known = (of.labels >= 0).any(axis=1)
    one = of.z_dyn is of.z_static

    def say(part: float, what: str) -> None:
        job.progress, job.partial = min(part, 1.0), what

    return fit(
        of.z_static[known], None if one else of.z_dyn[known], of.labels[known], wanted.max_delay,
        None if of.u_star is None else of.u_star[known], progress=say, go_on=job.go_on,
    )  # fmt: skip


JOBS = Jobs(compute, private=lambda wanted: True)
"""The process's fits."""
