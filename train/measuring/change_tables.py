"""Tables of change streams at fixed settings: over all streams, by corruption and by kind of severity.

A setting's answer is judged frame by frame once; every group of frames then has its sums. Bands are over streams:
streams are drawn with replacement, and each drawing has its own rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from knob_core import metrics
from knob_core._arrays.top import pick
from knob_core.measures.change import arrivals, excess_frames
from knob_core.measures.stability import SURE
from knob_core.metrics import ece_debiased
from knob_core.streams.severity_segments import SEGMENTS
from knob_core.tuning.streams import Streams

DRAWS = 1000
ALL = "all"


@dataclass(frozen=True)
class Judged:
    """One setting on R streams of T frames."""

    excess: NDArray[np.bool_]  # (R, T) excess flips
    right: NDArray[np.bool_]  # (R, T)
    p_max: NDArray[np.float64]  # (R, T)
    nll: NDArray[np.float64]  # (R, T)
    delay: NDArray[np.int64]  # (C,) frames, of each counted cut
    missed: NDArray[np.bool_]  # (C,)


def judge(answer: NDArray, streams: Streams) -> Judged:
    """Logits of the answer (R, T, K), frame by frame; every frame has a label."""
    predicted = answer.argmax(-1)
    delay, known = arrivals(predicted, streams.known), streams.known
    log_p = metrics.log_softmax(answer)
    return Judged(
        excess_frames(predicted, known, delay), predicted == streams.labels, np.exp(log_p.max(-1)),
        -np.asarray(pick(log_p, streams.labels)), delay[known.counted], (delay >= known.length)[known.counted],
    )  # fmt: skip


def row(judged: Judged, streams: Streams, chosen: NDArray[np.bool_], draws: int = DRAWS) -> dict[str, float]:
    """Measures over the chosen frames (R, T), excess flips and confident errors with their 95 % bands."""
    known = streams.known
    cuts = chosen[known.cut_stream, known.cut_frame]
    steps = known.both_known & chosen
    sure = (judged.p_max > SURE) & ~judged.right
    flips = _band((judged.excess & chosen).sum(-1), steps.sum(-1), draws)
    errors = _band((sure & chosen).sum(-1), chosen.sum(-1), draws)
    delay = judged.delay[cuts]
    return {
        "excess_flips": flips[0], "low": flips[1], "high": flips[2],
        "delay_mean": float(delay.mean()) if len(delay) else np.nan,
        "delay_90": float(np.quantile(delay, 0.9)) if len(delay) else np.nan,
        "missed": float(judged.missed[cuts].mean()) if len(delay) else np.nan,
        "accuracy": float(judged.right[chosen].mean()), "nll": float(judged.nll[chosen].mean()),
        "ece": float(ece_debiased(judged.p_max[chosen], judged.right[chosen])),
        "sure_wrong": errors[0], "sure_wrong_low": errors[1], "sure_wrong_high": errors[2],
    }  # fmt: skip


def _band(count: NDArray, whole: NDArray, draws: int) -> tuple[float, float, float]:
    """100 count / whole over streams (R,), and the middle 95 % of drawings of the streams."""
    times = np.random.default_rng(0).multinomial(len(count), np.full(len(count), 1 / len(count)), size=draws)
    with np.errstate(invalid="ignore"):
        drawn = 100 * (times @ count) / (times @ whole)
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return 100 * float(count.sum() / whole.sum()), float(low), float(high)


def groups(corruption: NDArray, segment: NDArray) -> dict[tuple[str, str], NDArray[np.bool_]]:
    """Frames (R, T) by (what is grouped by, name), from corruption (R,) and segment (R, T)."""
    found = {(ALL, ALL): np.ones(segment.shape, bool)}
    for name in dict.fromkeys(str(name) for name in corruption):
        found["corruption", name] = np.broadcast_to((corruption == name)[:, None], segment.shape)
    for place, name in enumerate(SEGMENTS):
        if (segment == place).any():
            found["severity", name] = segment == place
    return found


def table(
    answers: Mapping[str, NDArray], streams: Streams, frames: Mapping[tuple[str, str], NDArray[np.bool_]]
) -> list[dict[str, object]]:
    """One row a setting and group."""
    found: list[dict[str, object]] = []
    for setting, answer in answers.items():
        judged = judge(answer, streams)
        for (by, name), chosen in frames.items():
            found.append({"by": by, "name": name, "setting": setting, **row(judged, streams, chosen)})
    return found
