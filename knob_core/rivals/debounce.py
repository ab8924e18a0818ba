"""Debounce, k of n: a class is shown once it was the frame's own answer in k of the last n frames.

Of several such classes the one that the most frames voted for, the one shown before others; answer = 1 for the class
shown, 0 for the others: the rule gives no probabilities, a temperature makes some of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from knob_core._arrays.compiled import compiled
from knob_core._arrays.top import top1
from knob_core.rivals.base import Filter, Floats, Range
from knob_core.rivals.majority import MajorityState
from knob_core.rivals.window import counts


@compiled()
def follow(votes: Floats, shown: np.ndarray, enough: float) -> Any:
    """The class shown (R, T) for votes (R, T, K); shown (R,) is brought to its end."""
    out = np.empty(votes.shape[:2], np.int64)
    for r in range(votes.shape[0]):
        for t in range(votes.shape[1]):
            best = shown[r]
            for k in range(votes.shape[2]):
                if votes[r, t, k] > votes[r, t, best]:
                    best = k
            if votes[r, t, best] >= enough:
                shown[r] = best
            out[r, t] = shown[r]
    return out


@dataclass(frozen=True)
class Debounce(Filter):
    """answer = 1 for the class shown."""

    window: int  # n, frames
    share: float = 0.7  # k = share n, rounded up

    NAME: ClassVar = "debounce, k of n"
    KNOWN_AS: ClassVar = "so many in a row in Frigate; delay_on in ESPHome and Home Assistant; M of N in trackers"
    PARAMETERS: ClassVar = {"window": Range(1, 61, "int"), "share": Range(0.3, 1.0, "linear")}
    SWEEP: ClassVar = "window"

    def __post_init__(self) -> None:
        self._require_int("window", 1, 10_000)
        self._require("share", 0, 1, above=True)

    def _run(self, z: Floats, state: MajorityState | None, u: Floats | None) -> tuple[Floats, MajorityState]:
        classes = np.arange(z.shape[-1])
        voted = top1(z)  # (R, T)
        last = None if state is None else state.window
        votes, window = counts((voted[..., None] == classes).astype(np.float64), self.window, last)
        shown = (voted[:, 0] if state is None else state.shown).astype(np.int64)
        out = follow(votes, shown, math.ceil(self.share * self.window - 1e-9))
        return (out[..., None] == classes).astype(np.float64), MajorityState(shown, window)
