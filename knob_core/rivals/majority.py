"""Sliding majority: the class that most of the last w frames voted for.

n_t(k) = votes for class k among argmax z_{t-w+1} ... argmax z_t,    p = (n + prior + held) / sum
held = 1/2 for the class shown before, else 0: with whole votes it decides ties and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from knob_core._arrays.top import top1
from knob_core.rivals.base import Filter, Floats, Range
from knob_core.rivals.probabilities import log
from knob_core.rivals.window import WindowState, slide

HELD = 0.5  # of a vote


class MajorityState(NamedTuple):
    shown: np.ndarray  # (R,) the class shown last
    window: WindowState  # of votes, one column a class


@dataclass(frozen=True)
class SlidingMajority(Filter):
    """answer = log p, the shares of votes; `prior` votes for every class keep it finite."""

    window: int  # frames
    prior: float = 0.1  # votes

    NAME: ClassVar = "sliding majority"
    PARAMETERS: ClassVar = {"window": Range(1, 41, "int"), "prior": Range(0.001, 3.0, "log")}
    SWEEP: ClassVar = "window"

    def __post_init__(self) -> None:
        self._require_int("window", 1, 10_000)
        self._require("prior", 0, above=True)

    def _run(self, z: Floats, state: MajorityState | None, u: Floats | None) -> tuple[Floats, MajorityState]:
        classes = np.arange(z.shape[-1])
        voted = top1(z)  # (R, T)
        votes = (voted[..., None] == classes).astype(np.float64)  # (R, T, K)
        last = None if state is None else state.window
        counts, window = slide(votes, self.window, lambda frames: frames.sum(-1), last)
        shown = voted[:, 0] if state is None else state.shown
        for n in np.moveaxis(counts, 1, 0):  # (R, K), a view: written in place
            n += HELD * (shown[:, None] == classes)
            shown = top1(n)
        counts += self.prior
        return log(counts / counts.sum(-1, keepdims=True)), MajorityState(shown, window)
