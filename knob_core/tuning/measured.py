"""What settings of a filter cost on a set of streams, kept stream by stream so that streams can be drawn anew.

mean delay = sum delay / sum cuts,    excess flips = 100 sum excess / sum steps,    NLL = sum nll / sum frames
(`knob_core.measures.change`), sums over the streams, each as often as it was drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from knob_core import metrics
from knob_core._arrays.top import top1
from knob_core.measures.change import count
from knob_core.metrics import temperature_scaling
from knob_core.rivals.base import Filter, Floats
from knob_core.tuning.streams import Streams

BY_SETTING = ("temperature", "delay", "excess", "nll")


class Means(NamedTuple):
    """Of S settings; (B, S) for B drawings of the streams."""

    delay: Floats  # (..., S) frames
    flips: Floats  # (..., S) excess flips per 100 frames
    nll: Floats  # (..., S) nats


@dataclass(frozen=True)
class Measured:
    """S settings over R streams."""

    temperature: Floats  # (S,) of the answer
    delay: Floats  # (S, R) frames, summed over the stream's recognisable cuts
    excess: Floats  # (S, R) excess flips
    nll: Floats  # (S, R) nats, summed over the stream's frames
    cuts: Floats  # (R,)
    steps: Floats  # (R,) steps from a frame to the next that can flip
    frames: Floats  # (R,) frames over which NLL is summed

    def means(self, drawn: Floats | None = None) -> Means:
        """Over all streams, or with stream r counted drawn[b, r] times."""
        drawn = np.ones(len(self.cuts)) if drawn is None else np.asarray(drawn, np.float64)
        delay, excess, nll = (
            (drawn @ by_stream.T) / (drawn @ whole)[..., None]
            for by_stream, whole in ((self.delay, self.cuts), (self.excess, self.steps), (self.nll, self.frames))
        )
        return Means(delay, 100 * excess, nll)


def measure(filter_: Filter, streams: Streams, temperature: float | None = None, every: int = 1) -> Measured:
    """One setting; without a temperature the best for NLL is fitted here. NLL looks at every `every`-th frame."""
    return measure_answer(filter_.run(streams.z, u=streams.u)[0], streams, temperature, every)


def measure_answer(answer: Floats, streams: Streams, temperature: float | None = None, every: int = 1) -> Measured:
    """The same of an answer's logits (R, T, K)."""
    counts = count(top1(answer), streams.known)
    labels = streams.labels[:, ::every]
    labelled = labels >= 0
    answer = answer[:, ::every]
    if temperature is None:
        temperature = temperature_scaling.fit(answer[labelled], labels[labelled])
    log_p = np.zeros(labels.shape)
    chosen = metrics.log_softmax(answer[labelled] / temperature)
    log_p[labelled] = chosen[np.arange(len(chosen)), labels[labelled]]
    return Measured(
        temperature=np.array([temperature]),
        delay=counts.delay_sum[None].astype(np.float64),
        excess=counts.excess[None].astype(np.float64),
        nll=-log_p.sum(-1)[None],
        cuts=counts.cuts.astype(np.float64),
        steps=counts.steps.astype(np.float64),
        frames=labelled.sum(-1).astype(np.float64),
    )


def together(parts: Sequence[Measured]) -> Measured:
    """Several settings on the same streams as one."""
    by_setting = {name: np.concatenate([getattr(part, name) for part in parts]) for name in BY_SETTING}
    return Measured(**by_setting, cuts=parts[0].cuts, steps=parts[0].steps, frames=parts[0].frames)
