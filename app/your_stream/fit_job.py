"""Fitting Knob to a visitor's labelled stream, as a background job: one that is left behind stops."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from app.server.background_jobs import Job, Jobs
from knob_core.fitting import Fit, fit
from knob_core.fusion import fuse
from knob_core.gate import sigmoid
from knob_core.uploads import Uploaded


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
    z = of.z_static
    if of.z_dyn is not of.z_static:  # what each frame says by itself
        z = fuse(z, of.z_dyn, sigmoid(np.zeros(z.shape[:2]) if of.u_star is None else of.u_star))

    def say(part: float, what: str) -> None:
        job.progress, job.partial = min(part, 1.0), what

    return fit(z, of.labels, max_delay=wanted.max_delay, progress=say, go_on=job.go_on)


JOBS = Jobs(compute, private=lambda wanted: True)
"""The process's fits."""
