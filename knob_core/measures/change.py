"""How an answer follows a world that changes: excess flips, delay after a cut, missed changes, false alarms.

followed: at the first frame a of the stretch from which the stretch's class is shown for 5 frames, or to its end.
delay = a - (first frame of the stretch): 0 where the very first frame shows it; never followed: the stretch's length.
excess flips = changes of the answer, less one for each change of class that it follows: of the changes of the answer,
those are taken off that arrive at such an a. A change of class that the answer shows already takes none off, so excess
flips are never below 0, and a frozen answer has none.
false alarms = changes from the right class to a wrong one while the class stays the same.
missed = share of the recognisable cuts (`knob_core.measures.truth`) that are never followed.
Flips and false alarms are per 100 steps from a frame to the next, as `stability.flips`.
All counting is over (..., R, T): many settings of a smoother at once, R streams of T frames each.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np

from knob_core.branches import Branches
from knob_core.measures.stability import flips, quality
from knob_core.measures.truth import STAYS, Truth, truth
from knob_core.response import Response

CACHED = 1 << 18  # frames at a time


@dataclass(frozen=True)
class ChangeMeasures:
    """One answer's balance over a set of change streams; NaN where the streams cannot tell."""

    excess_flips: float  # per 100 frames
    false_alarms: float  # per 100 frames
    delay_median: float  # frames
    delay_90: float  # frames: nine of ten cuts are followed faster
    delay_mean: float  # frames
    missed: float  # share of the counted cuts, in [0, 1]
    cuts: int  # counted
    flips: float  # changes of the answer per 100 frames, whatever the truth does
    sure_wrong: float  # confident errors: p_max > 0.9 and wrong, per 100 frames
    accuracy: float  # in [0, 1]
    nll: float  # nats
    ece: float  # debiased, 15 equal-mass bins
    ece_floor: float  # what a perfectly calibrated predictor would show at this size


@dataclass(frozen=True)
class ChangeCounts:
    """Counts by stream, (..., R), for resampling streams; rates and quantiles over all streams together, (...)."""

    excess: np.ndarray  # (..., R) excess flips
    alarms: np.ndarray  # (..., R) false alarms
    steps: np.ndarray  # (R,) steps between frames of known class
    delay_sum: np.ndarray  # (..., R) frames, over the stream's counted cuts
    never: np.ndarray  # (..., R) counted cuts that are never followed
    cuts: np.ndarray  # (R,) counted cuts
    delays: np.ndarray  # (..., C) frames, cut by cut; `Truth.cut_stream` and `cut_frame` say which

    @property
    def excess_flips(self) -> np.ndarray:
        return 100.0 * _ratio(self.excess.sum(-1), self.steps.sum())

    @property
    def false_alarms(self) -> np.ndarray:
        return 100.0 * _ratio(self.alarms.sum(-1), self.steps.sum())

    @property
    def missed(self) -> np.ndarray:
        return _ratio(self.never.sum(-1), self.cuts.sum())

    @property
    def delay_mean(self) -> np.ndarray:
        return _ratio(self.delay_sum.sum(-1), self.cuts.sum())

    def delay_quantile(self, share: float) -> np.ndarray:
        """The delay that `share` of the cuts do not exceed, linear between two cuts."""
        if not self.delays.shape[-1]:
            return np.full(self.delays.shape[:-1], math.nan)
        return np.quantile(self.delays, share, axis=-1)


def _ratio(count: np.ndarray, whole: int) -> np.ndarray:
    return np.asarray(count / whole if whole else np.full(np.shape(count), math.nan))


def arrivals(predicted: np.ndarray, known: Truth) -> np.ndarray:
    """(..., N) frames from the start of each stretch until it is followed; its length where it never is."""
    right = predicted == known.labels
    stays = right.copy()
    for ahead in range(1, STAYS):
        stays[..., :-ahead] &= right[..., ahead:] | (known.left[:, :-ahead] < ahead)
    places = np.arange(known.labels.size, dtype=np.int32).reshape(known.labels.shape)
    end = np.int32(known.labels.size)
    found = np.where(stays, places, end).reshape(*predicted.shape[:-2], -1)
    first = np.minimum.reduceat(found, known.start, axis=-1)
    return np.minimum(first - known.start, known.length)


def excess_frames(predicted: np.ndarray, known: Truth, delay: np.ndarray | None = None) -> np.ndarray:
    """(..., R, T) bool: the answer changes here, and not because it arrives at a new class; delay from `arrivals`."""
    delay = arrivals(predicted, known) if delay is None else delay
    changes = np.zeros(predicted.shape, bool)
    changes[..., 1:] = (predicted[..., 1:] != predicted[..., :-1]) & known.both_known[:, 1:]
    flat = changes.reshape(-1, known.labels.size)  # a view
    setting, stretch = np.nonzero(((delay < known.length) & known.changed).reshape(len(flat), -1))
    flat[setting, known.start[stretch] + delay.reshape(len(flat), -1)[setting, stretch]] = False
    return changes


def alarm_frames(predicted: np.ndarray, known: Truth) -> np.ndarray:
    """(..., R, T) bool: the answer was right in the frame before, is wrong here, and the class is the same."""
    right = predicted == known.labels
    steady = known.both_known[:, 1:] & (known.labels[:, 1:] == known.labels[:, :-1])
    alarms = np.zeros(predicted.shape, bool)
    alarms[..., 1:] = right[..., :-1] & ~right[..., 1:] & steady
    return alarms


def count(predicted: np.ndarray, known: Truth) -> ChangeCounts:
    """Counts of answers (..., R, T); leading axes are settings."""
    predicted = np.asarray(predicted)
    if predicted.shape[-2:] != known.labels.shape or not predicted.size:
        streams, frames = known.labels.shape
        raise ValueError(f"predicted has shape {predicted.shape}, expected (..., {streams}, {frames}), not empty")
    lead, (streams, frames) = predicted.shape[:-2], known.labels.shape
    settings = predicted.reshape(-1, streams, frames)
    size = max(1, CACHED // known.labels.size)
    parts = [_count_piece(settings[start : start + size], known) for start in range(0, len(settings), size)]
    excess, alarms, delay_sum, never, delays = (
        np.concatenate(column).reshape(*lead, -1) for column in zip(*parts, strict=True)
    )
    return ChangeCounts(excess, alarms, known.both_known.sum(-1), delay_sum, never, known.cuts, delays)


def _count_piece(predicted: np.ndarray, known: Truth) -> tuple[np.ndarray, ...]:
    delay = arrivals(predicted, known)  # (S, N)
    counted = delay * known.counted
    never = (delay >= known.length) & known.counted
    first = np.flatnonzero(np.diff(known.stream, prepend=-1))  # (R,) the first stretch of each stream
    return (
        excess_frames(predicted, known, delay).sum(-1),
        alarm_frames(predicted, known).sum(-1),
        np.add.reduceat(counted, first, axis=-1),
        np.add.reduceat(never.astype(np.int64), first, axis=-1),
        delay[:, known.counted],
    )


def measure(branches: Branches, response: Response, bare: np.ndarray, same_class: bool = True) -> ChangeMeasures:
    """Every measure of a response; `bare` (R, T) are the answers of the same model frame by frame."""
    return measure_against(truth(branches.frame_labels, bare, branches.content, same_class), response)


def measure_against(known: Truth, response: Response) -> ChangeMeasures:
    """The same with a truth that was prepared before."""
    counts = count(response.predicted, known)
    return ChangeMeasures(
        excess_flips=float(counts.excess_flips),
        false_alarms=float(counts.false_alarms),
        delay_median=float(counts.delay_quantile(0.5)),
        delay_90=float(counts.delay_quantile(0.9)),
        delay_mean=float(counts.delay_mean),
        missed=float(counts.missed),
        cuts=int(counts.cuts.sum()),
        flips=flips(response.predicted),
        **asdict(quality(response.probabilities, response.p_max, response.predicted, known.labels)),
    )
