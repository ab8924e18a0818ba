"""How right, and how rightly sure: accuracy, NLL, Brier score and calibration errors.

All take probabilities (N, K) with labels (N,), the calibration errors also (confidence, correct), both (N,).
    ece = sum_b n_b/N |f_b - a_b|,    f_b, a_b mean confidence and accuracy of bin b
    ece_debiased = sum_b n_b/N (2 |f_b - a_b| - E|f_b - a~_b|),    a~_b ~ N(a_b, a_b (1 - a_b) / n_b)
(Kumar, Liang and Ma 2019, arXiv 1909.10155). The expectation is a folded normal's mean, so nothing is sampled.
No data gives NaN.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from knob_core._arrays.checks import whole_number
from knob_core._arrays.top import classes_first, pick, top1
from knob_core.metrics.reliability import (
    Reliability,
    bin_by_mass,
    bin_by_width,
    confidence_vector,
    correct_vector,
)

BINNINGS = {"mass": bin_by_mass, "width": bin_by_width}
CACHED = 8192  # samples at a time that stay in a core's cache
TYPICAL_CONFIDENCE = 0.92  # of a CIFAR-10 classifier's rolling window; used where only the number of samples is known


def softmax(z: Any) -> np.ndarray:
    """exp(z) / sum exp(z) over the last axis; float32 stays float32."""
    e = _shifted(z)
    np.exp(e, out=e)
    e /= _total(e)
    return np.moveaxis(e, 0, -1)


def log_softmax(z: Any) -> np.ndarray:
    """z - log sum exp(z) over the last axis; float32 stays float32."""
    e = _shifted(z)
    e -= np.log(_total(np.exp(e)))
    return np.moveaxis(e, 0, -1)


def _total(e: np.ndarray) -> np.ndarray:
    """Sum over the classes, which are first, one after the other; NumPy would add those of one sample differently."""
    return e.sum(0) if e[0].size != 1 else np.add.accumulate(e, 0)[-1]


def _shifted(z: Any) -> np.ndarray:
    """z - max z, with classes first."""
    z = np.asarray(z)
    if z.dtype.kind != "f" or z.ndim < 1 or z.shape[-1] < 1:
        raise ValueError(f"z must be a floating-point array (..., K), K >= 1, got {z.dtype} of shape {z.shape}")
    z = classes_first(z)
    return z - z.max(0)


def top_label(probs: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """(confidence, correct), each (N,): p_max, and whether its class is the label."""
    probs, labels = _checked(probs, labels)
    k = top1(probs)
    return pick(probs, k), k == labels


def top_label_of_logits(z: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """`top_label` of softmax(z), z (N, K), for half the work and in float32: p_max = 1 / sum exp(z - max z)."""
    z = np.asarray(z)
    if z.dtype.kind != "f" or z.ndim != 2 or z.shape[1] < 1:
        raise ValueError(f"z must be a floating-point array (N, K), got {z.dtype} of shape {z.shape}")
    labels = _labels(labels, z.shape[:1], z.shape[1])
    correct, total = np.empty(len(z), bool), np.empty(len(z), np.float32)
    columns = np.arange(min(len(z), CACHED))
    for start in range(0, len(z), CACHED):
        part = slice(start, start + CACHED)
        e = np.ascontiguousarray(z[part].T, np.float32)  # (K, n)
        top = e.max(0)
        place = labels[part].astype(np.intp) * len(top) + columns[: len(top)]
        correct[part] = e.ravel().take(place) == top
        with np.errstate(invalid="ignore"):  # what is not finite is named below
            e -= top
        np.exp(e, out=e)
        e.sum(0, out=total[part])
    if not np.isfinite(total.sum()):
        raise ValueError("z must be finite, got a NaN or an infinity")
    tied = np.flatnonzero(correct & (total >= 2))  # only here can another class be as large as the label's
    correct[tied] = top1(z[tied]) == labels[tied]
    return np.reciprocal(total, out=total), correct


def _labels(labels: Any, shape: tuple[int, ...], classes: int) -> np.ndarray:
    labels = np.asarray(labels)
    if labels.dtype.kind not in "iu" or labels.shape != shape:
        raise ValueError(f"labels must be integers of shape {shape}, got {labels.dtype} of shape {labels.shape}")
    if labels.size and not (labels.min() >= 0 and labels.max() < classes):
        raise ValueError(f"labels must lie in [0, {classes - 1}], got {labels.min()} to {labels.max()}")
    return labels


def _checked(probs: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    probs = np.asarray(probs)
    if probs.dtype.kind != "f" or probs.ndim != 2 or probs.shape[1] < 1:
        raise ValueError(f"probs must be a floating-point array (N, K), got {probs.dtype} of shape {probs.shape}")
    if probs.size:
        low, high = probs.min(), probs.max()
        if not (low >= 0 and high <= 1 + 1e-5):  # a NaN fails both
            raise ValueError(f"probs must lie in [0, 1], got {low} to {high}")
        off = np.abs(np.einsum("nk->n", probs) - 1).max()
        if off > 1e-2:
            raise ValueError(f"probs must sum to 1 in each row within 0.01, got a row that is off by {off}")
    return probs, _labels(labels, probs.shape[:1], probs.shape[1])


def accuracy(probs: Any, labels: Any) -> float:
    """Share of samples whose top class is the label."""
    probs, labels = _checked(probs, labels)
    return float(np.mean(top1(probs) == labels)) if len(labels) else math.nan


def nll(probs: Any, labels: Any) -> float:
    """Mean of -log p[label]; infinite where a label was given no probability at all."""
    probs, labels = _checked(probs, labels)
    with np.errstate(divide="ignore"):
        return float(-np.log(pick(probs, labels)).mean(dtype=np.float64)) if len(labels) else math.nan


def cross_entropy(z: Any, labels: Any) -> np.ndarray:
    """-log softmax(z)[label] of every frame, (...): z (..., K), labels of a shape that spreads to (...), all known."""
    log_p = log_softmax(z)
    labels = np.broadcast_to(labels, log_p.shape[:-1])
    labels = _labels(labels, labels.shape, log_p.shape[-1])
    return -np.take_along_axis(log_p, labels[..., None], -1)[..., 0]


def quartiles(values: Any) -> np.ndarray:
    """(3, ...) first quartile, median and third quartile over the first axis, in double precision.

    np.percentile to the bit, by one sort, which takes a tenth of the time. Where a value is infinite (T_eff of a fused
    tie), the value below each quartile's place: no quartile may mix with infinity.
    """
    ordered = np.sort(values, axis=0)
    position = np.array([0.25, 0.5, 0.75]) * (len(ordered) - 1)
    place = np.floor(position).astype(np.intp)
    part = (position - place).reshape(3, *[1] * (ordered.ndim - 1))
    below = ordered[place].astype(np.float64)
    above = ordered[np.minimum(place + 1, len(ordered) - 1)].astype(np.float64)
    with np.errstate(invalid="ignore"):
        way = above - below
        between = np.where(part < 0.5, below + way * part, above - way * (1 - part))
    return np.where(np.isfinite(ordered[-1]), between, below)


def brier(probs: Any, labels: Any) -> float:
    """Mean over samples of sum_k (p_k - [k = label])^2: 0 to 2."""
    probs, labels = _checked(probs, labels)
    if not len(labels):
        return math.nan
    return float(1 + (np.einsum("nk,nk->n", probs, probs) - 2 * pick(probs, labels)).mean(dtype=np.float64))


def reliability_table(probs: Any, labels: Any, bins: int = 15, mode: str = "mass") -> Reliability:
    """Bins of equal "mass" or "width". probs (N,) are confidences, and labels (N,) then tells which were correct."""
    if mode not in BINNINGS:
        raise ValueError(f"mode must be one of {', '.join(BINNINGS)}, got {mode!r}")
    if np.ndim(probs) == 1:
        confidence = confidence_vector(probs)
        correct = correct_vector(labels, confidence.shape)
    else:
        confidence, correct = top_label(probs, labels)
    return BINNINGS[mode](confidence, correct, bins)


def ece(probs: Any, labels: Any, bins: int = 15, mode: str = "mass", norm: str = "l1") -> float:
    """Expected calibration error of the top label, as the data show it (biased upwards in small samples)."""
    return reliability_table(probs, labels, bins, mode).ece(norm)


def ece_debiased(probs: Any, labels: Any, bins: int = 15, mode: str = "mass", norm: str = "l1") -> float:
    """The same without what chance alone adds to it; below 0 where the data look better than chance allows."""
    return reliability_table(probs, labels, bins, mode).ece_debiased(norm)


def noise_floor(confidence: Any, bins: int = 15, debiased: bool = False) -> float:
    """The ece (or ece_debiased) that a perfectly calibrated predictor is expected to show, from its confidences (N,).

    sum_b n_b/N sqrt(2/pi) s_b, s_b^2 = mean of c (1 - c) over the bin / n_b; times 2 - sqrt(2) for ece_debiased.
    An integer N stands for N samples of typical confidence.
    """
    if isinstance(confidence, (int, np.integer)):
        if confidence < 0:
            raise ValueError(f"confidence must be an array (N,) or a count >= 0, got {confidence}")
        variance = TYPICAL_CONFIDENCE * (1 - TYPICAL_CONFIDENCE)
        bins = min(whole_number("bins", bins, 1), int(confidence))
        floor = math.sqrt(2 / math.pi * variance * bins / confidence) if confidence else math.nan
    else:
        c = confidence_vector(confidence)
        floor = bin_by_mass(c, np.zeros(c.shape, bool), bins).chance()
    return floor * (2 - math.sqrt(2) if debiased else 1)
