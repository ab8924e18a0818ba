"""Change streams for tests: made-up logits of any size, and a shipped model's on pictures of the sample."""

from __future__ import annotations

from functools import cache

import numpy as np

from knob_core import data
from knob_core.branches import Branches
from knob_core.streams import change


def made_up(streams: int = 6, frames: int = 80, classes: int = 5, seed: int = 0, dtype: type = np.float64) -> Branches:
    """Noisy logits of a class that changes now and then; every second cut keeps the class."""
    rng = np.random.default_rng(seed)
    shown = np.cumsum(rng.random((streams, frames)) < 1 / 15, axis=1)  # number of the picture
    labels = rng.integers(0, classes, (streams, shown.max() // 2 + 1))[np.arange(streams)[:, None], shown // 2]
    noise = rng.choice([0.6, 2.5], (streams, frames, 1), p=[0.7, 0.3])
    z = 3 * np.eye(classes)[labels] + noise * rng.normal(size=(streams, frames, classes))
    other = z + rng.normal(0, 0.6, z.shape)
    u_star = 1.5 - 0.8 * noise[..., 0] + rng.normal(0, 0.3, (streams, frames))
    return Branches(z.astype(dtype), other.astype(dtype), u_star.astype(dtype), labels, np.zeros(frames), shown)


@cache
def shipped(streams: int = 6, frames: int = 120, corruption: str = "shot_noise", seed: int = 0) -> Branches:
    """The shipped Knob-ODE's branch outputs over change streams of the shipped sample, in float64."""
    import torch

    from knob_core import assets, checkpoint
    from knob_core.streams.change_frames import ChangeFrames

    model = checkpoint.load(assets.checkpoint("knob-ode-s0")).eval()
    images, labels, _ = data.load_sample()
    plans = [change.plan(labels, "mixed", frames, seed, stream) for stream in range(streams)]
    parts = []
    with torch.inference_mode():
        for stream, plan in enumerate(plans):
            pixels = ChangeFrames(images, plan, corruption, seed, stream).frames()
            parts.append([x.double().numpy() for x in model(pixels)])
    z_static, z_dyn, u_star = (np.stack(part) for part in zip(*parts, strict=True))
    of_plans = {n: np.stack([getattr(p, n) for p in plans]) for n in ("labels", "severity", "picture")}
    return Branches(z_static, z_dyn, u_star, of_plans["labels"], of_plans["severity"], of_plans["picture"])
