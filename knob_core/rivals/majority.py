"""Sliding majority: the class that most of the last w frames voted for.

n(k) = votes for class k among argmax z_{t-w+1} ... argmax z_t,    p ∝ n + h/2 + softmax(z_t)/4 + prior
h = 1 for the class shown before, else 0. The fractions decide ties and nothing else: the class shown stays, and between
others the present frame decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from knob_core._arrays.top import top1
from knob_core.rivals.base import Filter, Floats, Range
from knob_core.rivals.probabilities import log, softmax, total
from knob_core.rivals.window import WindowState, counts


class MajorityState(NamedTuple):
    shown: np.ndarray  # (R,) the class shown last
    window: WindowState  # of votes, one column a class


@dataclass(frozen=True)
class SlidingMajority(Filter):
    """answer = log p, the shares of votes; `prior` votes for every class keep it finite."""

    window: int  # frames
    prior: float = 0.1  # votes

    NAME: ClassVar = "sliding majority"
    KNOWN_AS: ClassVar = "voting over the last frames"
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
        shares, window = counts(votes, self.window, last)
        shown = voted[:, 0] if state is None else state.shown
        shares += softmax(z) / 4
        for n in np.moveaxis(shares, 1, 0):  # (R, K), a view: written in place
            n += (shown[:, None] == classes) / 2
            shown = top1(n)
        shares += self.prior
        return log(shares / total(shares)), MajorityState(shown, window)
