"""Streams of an outside model that looks at pictures: the frames of `knob_core.streams.change_frames` through it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from knob_core.streams.change_frames import ChangeFrames
from train.outside import streams
from train.outside.streams import OutsideStreams

BATCH = 100


def run(
    classify: Callable[[torch.Tensor], np.ndarray],  # pictures (B, 3, H, W) in [0, 1] -> logits (B, K)
    images: NDArray[np.uint8],  # (N, 3, H, W)
    labels: NDArray[np.int64],  # (N,)
    corruptions: Sequence[str],
    seed: int,
    count: int,
    frames: int,
    kind: str = "mixed",
) -> OutsideStreams:
    """`count` streams that take the corruptions in turn."""
    made = streams.plans(labels, count, frames, seed, kind)
    half = count // 2  # both halves begin with the first corruption
    names = [corruptions[r % half % len(corruptions)] for r in range(count)]
    z = []
    for r, (plan, name) in enumerate(zip(tqdm(made, unit="stream", disable=None), names, strict=True)):
        shown = ChangeFrames(images, plan, name, seed, r)
        z.append(np.concatenate([classify(batch) for batch in shown.batches(BATCH)]))
    return streams.gather(np.stack(z), made, names)
