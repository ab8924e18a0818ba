"""Hysteresis with hold: another class is shown once it is likely enough, the one shown unlikely enough, and held long.

p = softmax(z + o);  from class c to k = argmax p:  p_k >= enter  and  p_c < leave  and  c was shown for `hold` frames
answer = 1 for the class shown, 0 for the others: the rule gives no probabilities, a temperature makes some of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from knob_core._arrays.compiled import compiled
from knob_core._arrays.top import top1
from knob_core.rivals.base import Filter, Floats, Range
from knob_core.rivals.probabilities import softmax


class HysteresisState(NamedTuple):
    shown: np.ndarray  # (R,) the class shown
    since: np.ndarray  # (R,) frames for which it has been shown


@compiled()
def follow(p: Floats, shown: np.ndarray, since: np.ndarray, enter: float, leave: float, hold: int) -> Any:
    """The class shown (R, T) for p (R, T, K); shown and since (R,) are brought to their end."""
    out = np.empty(p.shape[:2], np.int64)
    for r in range(p.shape[0]):
        for t in range(p.shape[1]):
            k = p[r, t].argmax()
            c = shown[r]
            if k != c and p[r, t, k] >= enter and p[r, t, c] < leave and since[r] >= hold:
                shown[r], since[r] = k, 0
            since[r] += 1
            out[r, t] = shown[r]
    return out


@dataclass(frozen=True)
class Hysteresis(Filter):
    """answer = 1 for the class shown."""

    hold: int  # frames
    enter: float = 0.5
    leave: float = 0.35
    offsets: tuple[float, ...] = ()  # (K,) logits; () for none

    NAME: ClassVar = "hysteresis with hold"
    KNOWN_AS: ClassVar = "threshold, neg_threshold and min_silence_duration in silero-vad; onset and offset in pyannote"
    PARAMETERS: ClassVar = {
        "hold": Range(1, 60, "int"),
        "enter": Range(0.2, 0.98, "linear"),
        "leave": Range(0.02, 0.8, "linear"),
    }
    SWEEP: ClassVar = "hold"

    def __post_init__(self) -> None:
        self._require_int("hold", 1, 10_000)
        self._require("enter", 0, 1)
        self._require("leave", 0, 1, above=True)
        self._require_offsets()

    def _run(self, z: Floats, state: HysteresisState | None, u: Floats | None) -> tuple[Floats, HysteresisState]:
        p = softmax(self._offset(z))
        first = HysteresisState(top1(p[:, 0]), np.full(len(p), self.hold)) if state is None else state
        shown, since = first.shown.astype(np.int64), first.since.astype(np.int64)
        out = follow(p, shown, since, self.enter, self.leave, self.hold)
        return (out[..., None] == np.arange(p.shape[-1])).astype(np.float64), HysteresisState(shown, since)
