"""A stream that does not ship, computed: corrupt the picture of every frame and run the checkpoint on it.

Torch is imported inside `compute`, when the first stream is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.console.shipped_models import path_of
from app.console.stream_choice import StreamChoice
from app.server import garbage_collector
from app.server.background_jobs import Job, Jobs
from knob_core.branches import Branches
from knob_core.data import CLASSES, load_sample
from knob_core.library.film_strips import film_frames
from knob_core.schedules import SCHEDULES
from knob_core.streams import scenes

BATCH = 120  # images
MOST_FRAMES = 12_000  # frames x realisations that one job may have


@dataclass(frozen=True)
class ComputedStream:
    """Branch outputs and film strip of one stream."""

    branches: Branches
    pixels: np.ndarray  # (FILM, 32, 32, 3) uint8


def compute(job: Job) -> ComputedStream:
    """The branches of every frame of every realisation, batch by batch."""
    choice: StreamChoice = job.key
    if choice.frames * choice.realisations > MOST_FRAMES:
        raise ValueError(
            f"frames x realisations is {choice.frames * choice.realisations}, expected at most {MOST_FRAMES}"
        )
    path = path_of(choice.method, choice.model)
    if not path.is_file():
        raise FileNotFoundError(
            f"there is no checkpoint {path.name} in {path.parent}, so only shipped streams can be shown for it"
        )
    with garbage_collector.loading("torch"):  # or every later rerun would be slow
        import torch

        from knob_core import checkpoint, devices
        from knob_core.streams import ControlledStream, SceneStream

    device = devices.pick()
    model = checkpoint.load(path, device)
    images, labels, _ = load_sample()
    severity = SCHEDULES[choice.schedule](choice.frames, **dict(choice.parameters))
    shape = (choice.realisations, choice.frames)
    stream: ControlledStream | SceneStream
    if choice.changing:
        plan = scenes.plan(choice.content, labels, severity, choice.seed, choice.listed(), CLASSES)
        stream = SceneStream(images, plan, choice.corruption, choice.realisations, choice.seed)
        truth, content = (np.broadcast_to(values, shape) for values in (plan.labels, plan.picture))
    else:
        stream = ControlledStream(images[[choice.image]], severity, choice.corruption, choice.realisations, choice.seed)
        truth, content = np.full(choice.realisations, labels[choice.image], np.int64), None
    u_star = np.empty(shape, np.float32)
    z_static, z_dyn = (
        np.empty((*shape, model.num_classes), np.float32),
        np.empty((*shape, model.num_classes), np.float32),
    )
    done = 0
    for batch in stream.batches(BATCH):
        job.go_on()
        with torch.inference_mode():
            outputs = model(batch.images.to(device))  # drawn on the CPU: other devices draw other noise
        where = (batch.realisation, batch.frame)
        z_static[where], z_dyn[where], u_star[where] = (x.cpu().numpy() for x in outputs)
        done += len(batch)
        job.progress = done / len(stream)
    pixels = [stream.frames(int(t), int(t) + 1)[0].permute(1, 2, 0).numpy() for t in film_frames(choice.frames)]
    film = np.rint(np.stack(pixels) * 255).astype(np.uint8)
    return ComputedStream(Branches(z_static, z_dyn, u_star, truth, severity.astype(np.float32), content), film)


JOBS = Jobs(lambda job: compute(job))
"""The process's computations; in no cache of Streamlit's, which any visitor can clear."""
