"""Everything that an operator reads off a stream: how calm, how late, how right, and how rightly sure.

`stability` for any stream, and `change` for one whose truth is known: excess flips, and frames until a new class is
shown. Where no class ever changes, excess flips are all flips and there is no delay.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np

from knob_core.branches import Branches
from knob_core.measures import change, stability
from knob_core.measures.stability import StreamMeasures
from knob_core.measures.truth import Truth, truth
from knob_core.response import Response


@dataclass(frozen=True)
class OperatorMeasures(StreamMeasures):
    """One setting's balance over a stream; NaN where the stream cannot tell."""

    confidence: float  # mean p_max over the frames whose class is known: what it promises; `accuracy` is what it keeps
    excess_flips: float  # per 100 frames
    delay_mean: float  # frames until a new class is shown
    delay_median: float  # frames
    delay_90: float  # frames: nine of ten changes are followed faster
    disagreement: float  # most frames in a row in which the class shown is another than the frame's own


def disagreement(predicted: np.ndarray, bare: np.ndarray) -> np.ndarray:
    """Frames in a row, (R, T), in which the class shown is another than the frame's own, `bare`."""
    frame, apart = np.arange(predicted.shape[1]), predicted != bare
    return frame - np.maximum.accumulate(np.where(apart, -1, frame), axis=1)


def known_truth(branches: Branches, bare: np.ndarray) -> Truth | None:
    """What the stream really showed, prepared once; `bare` (R, T) answers frame by frame. None without labels."""
    labels = branches.frame_labels
    return truth(labels, bare, branches.content) if (labels >= 0).any() else None


def measure(
    branches: Branches, response: Response, known: Truth | None, bare: np.ndarray | None = None
) -> OperatorMeasures:
    """Every measure of a response; `known` from `known_truth` of the same branches, `bare` as there."""
    found = asdict(stability.measure(branches, response))
    labelled = branches.frame_labels >= 0
    found["confidence"] = float(response.p_max[labelled].mean()) if labelled.any() else math.nan
    found["disagreement"] = math.nan if bare is None else float(disagreement(response.predicted, bare).max())
    if known is None:
        return OperatorMeasures(**found, **dict.fromkeys(CHANGE, math.nan))
    counts = change.count(response.predicted, known)
    return OperatorMeasures(
        **found,
        excess_flips=float(counts.excess_flips),
        delay_mean=float(counts.delay_mean),
        delay_median=float(counts.delay_quantile(0.5)),
        delay_90=float(counts.delay_quantile(0.9)),
    )


CHANGE = ("excess_flips", "delay_mean", "delay_median", "delay_90")
