"""What an operator understands of a stream: flicker, trembling, lag, and being sure while wrong.

All from p_max (R, T), predicted (R, T), labels (R,) or (R, T), and severity (T,) or (R, T); flips and sure-and-wrong
are per 100 frames.
Lag: the frames after a step of severity until the mean path has made 63 % (95 %) of its way to its new level; none
where the picture changes too, since the gate moves with both.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np

from knob_core import metrics
from knob_core.branches import Branches
from knob_core.response import Response

SURE = 0.9  # p_max above which an answer counts as sure
STEADY_AFTER = 10  # frames that severity must have stood still
STEP_SIZE = 0.5  # a change of severity from one frame to the next that counts as a step


@dataclass(frozen=True)
class Quality:
    """How right, and how rightly sure, over the frames whose class is known; NaN where there are none."""

    sure_wrong: float  # frames with p_max > 0.9 and a wrong answer, per 100
    accuracy: float  # in [0, 1]
    nll: float  # nats
    ece: float  # debiased, 15 equal-mass bins
    ece_floor: float  # what a perfectly calibrated predictor would show at this size


@dataclass(frozen=True)
class StreamMeasures:
    """One setting's balance over a stream; NaN where the stream cannot tell."""

    flips: float  # changes of the predicted class per 100 frames
    jitter: float  # mean |change of p_max| from frame to frame in steady stretches
    lag63: float  # frames
    lag95: float  # frames
    sure_wrong: float  # frames with p_max > 0.9 and a wrong answer, per 100
    accuracy: float  # in [0, 1]
    nll: float  # nats
    ece: float  # debiased, 15 equal-mass bins
    ece_floor: float  # what a perfectly calibrated predictor would show at this size


def flips(predicted: np.ndarray) -> float:
    """Changes of the predicted class per 100 frames, over all paths; -1 is no frame."""
    if predicted.shape[-1] < 2:
        return math.nan
    changes, there = predicted[..., 1:] != predicted[..., :-1], predicted[..., 1:] >= 0
    return 100.0 * _mean(changes[there])


def steady(severity: np.ndarray, after: int = STEADY_AFTER) -> np.ndarray:
    """(..., T) bool: severity (..., T) has been the same for the last `after` frames."""
    frame = np.arange(severity.shape[-1])
    moved = np.diff(severity, axis=-1, prepend=np.nan) != 0  # the first frame counts as a move
    last_move = np.maximum.accumulate(np.where(moved, frame, 0), axis=-1)
    return frame - last_move >= after


def jitter(p_max: np.ndarray, severity: np.ndarray, content: np.ndarray | None = None) -> float:
    """Mean |p_max(t) - p_max(t-1)| where severity, (T,) or (R, T), is steady; over all frames where it never is.

    Steady, too, must be the picture where its number (R, T) is known.
    """
    if p_max.shape[-1] < 2:
        return math.nan
    still = steady(severity)[..., 1:]
    if content is not None:
        still = still & steady(content)[..., 1:]
    change = np.abs(np.diff(p_max, axis=-1))
    if not still.any():
        return _mean(change)
    return _mean(change[..., still] if still.ndim == 1 else change[still])


def _mean(x: np.ndarray) -> float:
    """Over all but NaN, which stands where a path has no frame."""
    x = x[~np.isnan(x)]
    return float(x.mean()) if x.size else math.nan


def steps(severity: np.ndarray, size: float = STEP_SIZE) -> list[tuple[int, int]]:
    """[(first frame of the new level, frame at which the level ends)] of every sudden change that then holds."""
    jumps = np.flatnonzero(np.abs(np.diff(severity)) >= size) + 1
    out = []
    for start in jumps:
        moves = np.flatnonzero(np.diff(severity[start:]) != 0)
        end = int(start + moves[0] + 1) if len(moves) else len(severity)
        if end - start > 2 * STEADY_AFTER:
            out.append((int(start), end))
    return out


def level_begins(severity: np.ndarray, end: int) -> int:
    """The first frame of the level that severity held until the frame before `end`."""
    moves = np.flatnonzero(np.diff(severity[:end]) != 0)
    return int(moves[-1]) + 1 if len(moves) else 0


def lag(path: np.ndarray, severity: np.ndarray, fraction: float = 0.63) -> float:
    """Frames until the mean of `path` (R, T) has made `fraction` of its way after a step, averaged over the steps.

    The levels are means of the last third of the stretch before the step and of the one after it: after a short stretch
    the path starts from where it stands. A step whose levels differ by less than four standard errors of the paths
    tells nothing and is left out. NaN where paths have severities (R, T) of their own: a mean over paths that are
    stepped at different frames has no step.
    """
    if severity.ndim > 1:
        if (severity != severity[:1]).any():
            return math.nan
        severity = severity[0]
    path = path[~np.isnan(path).any(axis=1)]  # those that last to the end
    if not len(path):
        return math.nan
    mean = path.mean(axis=0)  # (T,)
    found = []
    for start, end in steps(severity):
        before = slice(start - max(1, (start - level_begins(severity, start)) // 3), start)
        after = slice(end - (end - start) // 3, end)
        move = path[:, after].mean(axis=1) - path[:, before].mean(axis=1)  # (R,)
        error = move.std(ddof=1) / math.sqrt(len(move)) if len(move) > 1 else 0.0
        low, high = mean[before].mean(), mean[after].mean()
        if abs(high - low) < max(4 * error, 1e-3):
            continue
        arrived = np.flatnonzero((mean[start:end] - low) / (high - low) >= fraction)
        if len(arrived):
            found.append(float(arrived[0]))
    return float(np.mean(found)) if found else math.nan


def sure_and_wrong(p_max: np.ndarray, correct: np.ndarray) -> float:
    """Frames per 100 that are wrong with p_max above 0.9."""
    return 100.0 * float(np.mean((p_max > SURE) & ~correct)) if p_max.size else math.nan


def quality(probabilities: np.ndarray, p_max: np.ndarray, predicted: np.ndarray, labels: np.ndarray) -> Quality:
    """Of probabilities (R, T, K), p_max and predicted (R, T) and labels (R, T); frames labelled -1 are left out."""
    known = labels >= 0
    if not known.any():
        return Quality(*(math.nan for _ in range(5)))
    labels, confidence = labels[known], p_max[known]  # (N,)
    correct = predicted[known] == labels
    chosen = np.take_along_axis(probabilities[known], labels[:, None], axis=-1)
    return Quality(
        sure_wrong=sure_and_wrong(confidence, correct),
        accuracy=float(correct.mean()),
        nll=float(-np.log(np.maximum(chosen, 1e-12)).mean()),
        ece=metrics.ece_debiased(confidence, correct),
        ece_floor=metrics.noise_floor(confidence, debiased=True),
    )


def measure(branches: Branches, response: Response, first: int = 0) -> StreamMeasures:
    """Every measure of a response from frame `first` on; frames without a label count for flips, jitter, lag only."""
    severity = branches.severity[..., first:]
    content = branches.content[:, first:] if branches.content is not None else None
    changing = content is not None and bool((content != content[:, :1]).any())
    p_max, predicted = response.p_max[:, first:], response.predicted[:, first:]
    found = quality(response.probabilities[:, first:], p_max, predicted, branches.frame_labels[:, first:])
    return StreamMeasures(
        flips=flips(predicted),
        jitter=jitter(p_max, severity, content),
        lag63=math.nan if changing else lag(response.g[:, first:], severity, 0.63),
        lag95=math.nan if changing else lag(response.g[:, first:], severity, 0.95),
        **asdict(found),
    )
