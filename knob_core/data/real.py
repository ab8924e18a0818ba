"""Streams of other people's models on real recordings, with what was true at each frame (`assets/real/README.md`).

For developing and judging filters on something nobody made for them. Scores and labels only, no sound. NumPy only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from knob_core.assets import find

NAMES = ("speech", "audio")


@dataclass(frozen=True)
class RealStreams:
    """R streams of up to T frames; the frames beyond a stream's end have NaN logits and the label -1."""

    logits: NDArray[np.float64]  # (R, T, K)
    labels: NDArray[np.int64]  # (R, T)
    groups: NDArray[np.int64]  # (R,) recordings or folds: never split one between fitting and judging
    classes: tuple[str, ...]  # K names
    frame_rate: float  # frames/s
    words: Mapping[str, str]  # sentences on source, licence, model, truth, logits and group


def load(name: str) -> RealStreams:
    """One of `NAMES`, whole."""
    if name not in NAMES:
        raise ValueError(f"name is {name!r}, expected one of {', '.join(map(repr, NAMES))}")
    with np.load(find(f"real/{name}.npz"), allow_pickle=False) as file:
        logits, labels, groups = file["logits"], file["labels"], file["group"]
        meta = json.loads(str(file["meta"]))
    words = {key: meta[key] for key in ("source", "licence", "model", "truth", "logits", "group")}
    return RealStreams(
        logits.astype(np.float64),
        labels.astype(np.int64),
        groups.astype(np.int64),
        tuple(meta["classes"]),
        float(meta["frame_rate"]),
        words,
    )
