"""A stream that does not ship, computed in the background: progress, cancel, and a few results kept.

Torch is imported inside the worker, when the first stream is asked for.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

import numpy as np

from app import garbage
from app.checkpoints import path_of
from app.choice import Choice
from knob_core.branches import Branches
from knob_core.data import load_sample
from knob_core.library.film_strips import film_frames
from knob_core.schedules import SCHEDULES

BATCH = 120  # images
KEPT = 8  # results
MOST_FRAMES = 12_000  # frames x realisations that one job may have
TURNS = threading.Semaphore(2)  # jobs at work; others wait for theirs


class Cancelled(Exception):
    """The operator did not want to wait."""


@dataclass(frozen=True)
class Result:
    """Branch outputs and film of one image's stream."""

    branches: Branches
    pixels: np.ndarray  # (FILM, 32, 32, 3) uint8


@dataclass
class Job:
    """One computation; the page looks at it, the worker writes to it."""

    choice: Choice
    progress: float = 0.0
    result: Result | None = None
    error: str = ""
    stop: threading.Event = field(default_factory=threading.Event)
    wanted_by: set[str] = field(default_factory=set)  # sessions

    @property
    def over(self) -> bool:
        """Done, failed or cancelled."""
        return self.result is not None or bool(self.error) or self.stop.is_set()


class Jobs:
    """All computations of the process, keyed by plain values; the same stream is never computed twice at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: OrderedDict[Choice, Job] = OrderedDict()

    def of(self, choice: Choice, who: str = "") -> Job:
        """The job of a choice for a session, started if there is none (a failed or cancelled one is tried again)."""
        with self._lock:
            job = self._jobs.get(choice)
            if job is None or (job.over and job.result is None):
                job = self._jobs[choice] = Job(choice)
                threading.Thread(target=work, args=(job,), daemon=True, name="knob-compute").start()
            job.wanted_by.add(who)
            self._jobs.move_to_end(choice)
            for old in [c for c, j in self._jobs.items() if j.over][: max(0, len(self._jobs) - KEPT)]:
                del self._jobs[old]
            return job

    def leave(self, who: str, but: Choice | None = None) -> None:
        """A session wants nothing more, `but` that; what nobody else wants is stopped."""
        with self._lock:
            for choice, job in self._jobs.items():
                if choice != but and who in job.wanted_by:
                    job.wanted_by.remove(who)
                    if not job.wanted_by:
                        job.stop.set()

    def forget(self, choice: Choice) -> None:
        """Drop a job that came to nothing, so that it may be asked for again."""
        with self._lock:
            job = self._jobs.get(choice)
            if job is not None and job.over and job.result is None:
                del self._jobs[choice]

    def known(self, choice: Choice) -> Job | None:
        """The job of a choice, if there is one."""
        with self._lock:
            return self._jobs.get(choice)


def work(job: Job) -> None:
    """Run a job to its end, whatever that is."""
    try:
        with TURNS:
            job.result = compute(job)
    except Cancelled:
        job.stop.set()
    except Exception as error:  # whatever it was, the page names it and goes on
        job.error = f"{type(error).__name__}: {error}" if not isinstance(error, (ValueError, OSError)) else str(error)


def compute(job: Job) -> Result:
    """The branches of every frame of every realisation, batch by batch."""
    choice = job.choice
    if job.stop.is_set():
        raise Cancelled
    if choice.frames * choice.realisations > MOST_FRAMES:
        raise ValueError(
            f"frames x realisations is {choice.frames * choice.realisations}, expected at most {MOST_FRAMES}"
        )
    path = path_of(choice.method, choice.model)
    if not path.is_file():
        raise FileNotFoundError(
            f"there is no checkpoint {path.name} in {path.parent}, so only shipped streams can be shown for it"
        )
    with garbage.loading("torch"):  # or the knobs would stutter from now on
        import torch

        from knob_core import checkpoint, devices
        from knob_core.streams import ControlledStream

    device = devices.pick()
    model = checkpoint.load(path, device)
    images, labels, _ = load_sample()
    severity = SCHEDULES[choice.schedule](choice.frames, **dict(choice.parameters))
    stream = ControlledStream(images[[choice.image]], severity, choice.corruption, choice.realisations, choice.seed)
    shape = (choice.realisations, choice.frames)
    u_star = np.empty(shape, np.float32)
    z_static, z_dyn = (
        np.empty((*shape, model.num_classes), np.float32),
        np.empty((*shape, model.num_classes), np.float32),
    )
    done = 0
    for batch in stream.batches(BATCH):
        if job.stop.is_set():
            raise Cancelled
        with torch.inference_mode():
            outputs = model(batch.images.to(device))  # drawn on the CPU: other devices draw other noise
        where = (batch.realisation, batch.frame)
        z_static[where], z_dyn[where], u_star[where] = (x.cpu().numpy() for x in outputs)
        done += len(batch)
        job.progress = done / len(stream)
    pixels = [stream.frames(int(t), int(t) + 1)[0].permute(1, 2, 0).numpy() for t in film_frames(choice.frames)]
    label = np.full(choice.realisations, labels[choice.image], np.int64)
    film = np.rint(np.stack(pixels) * 255).astype(np.uint8)
    return Result(Branches(z_static, z_dyn, u_star, label, severity.astype(np.float32)), film)
