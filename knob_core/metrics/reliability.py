"""The reliability table: samples binned by confidence, and what each bin promised and kept.

gap = f - a;  95 % interval of a (Wilson 1927): (a + q/2 +- sqrt(q a (1 - a) + q^2/4)) / (1 + q),  q = 1.96^2 / n
Bins are cut between values, never through equal ones, so the order of samples cannot matter; equal-mass bins are fewer
than asked for where there are fewer distinct values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from knob_core._arrays.checks import whole_number

Z95 = 1.959963984540054  # standard normal quantile of 0.975
SAME = 1e-12  # confidences nearer than this are equal: a memory at its bound gives one value, but for rounding


@dataclass(frozen=True)
class Reliability:
    """One entry per bin (B,), edges (B + 1,). Empty bins (equal width only) hold NaN and weigh nothing."""

    counts: np.ndarray
    confidence: np.ndarray  # mean, f
    accuracy: np.ndarray  # mean, a
    gap: np.ndarray  # f - a: positive is overconfident
    low: np.ndarray  # 95 % interval of the accuracy
    high: np.ndarray
    edges: np.ndarray
    variance: np.ndarray  # mean of c (1 - c): what accuracy would scatter by if every confidence were right

    def _full(self) -> tuple[np.ndarray, ...]:
        """(weight, n, gap, a, variance) of the bins that are not empty."""
        full = self.counts > 0
        n = self.counts[full]
        return n / n.sum(), n, self.gap[full], self.accuracy[full], self.variance[full]

    def ece(self, norm: str = "l1") -> float:
        weight, n, gap, _, _ = self._full()
        if not len(n):
            return math.nan
        return float(weight @ np.abs(gap)) if _l1(norm) else math.sqrt(weight @ gap**2)

    def ece_debiased(self, norm: str = "l1") -> float:
        weight, n, gap, a, _ = self._full()
        if not len(n):
            return math.nan
        if _l1(norm):
            return float(weight @ (2 * np.abs(gap) - folded_normal_mean(gap, np.sqrt(a * (1 - a) / n))))
        many = n > 1  # one sample says nothing about its own variance
        square = np.zeros(len(n))
        square[many] = gap[many] ** 2 - a[many] * (1 - a[many]) / (n[many] - 1)
        return math.sqrt(max(0.0, float(weight @ square)))

    def chance(self) -> float:
        """The ece of a perfectly calibrated predictor with these confidences, in expectation."""
        weight, n, _, _, variance = self._full()
        return float(weight @ np.sqrt(2 / np.pi * variance / n)) if len(n) else math.nan


def _l1(norm: str) -> bool:
    if norm not in ("l1", "l2"):
        raise ValueError(f"norm must be one of l1, l2, got {norm!r}")
    return norm == "l1"


def folded_normal_mean(mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    """E|X| of X ~ N(mean, std^2); |mean| where std is 0."""
    r = np.divide(mean, std * math.sqrt(2), out=np.full(np.shape(mean), np.inf), where=std > 0)
    erf = np.array([math.erf(x) for x in np.abs(r)])
    return std * math.sqrt(2 / math.pi) * np.exp(-(r**2)) + np.abs(mean) * erf


def wilson(a: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The 95 % interval of an observed share a of n."""
    q = Z95**2 / n
    centre, half = (a + q / 2) / (1 + q), np.sqrt(q * a * (1 - a) + q**2 / 4) / (1 + q)
    return np.minimum(centre - half, a).clip(0), np.maximum(centre + half, a).clip(max=1)  # rounding at a = 0 and 1


def confidence_vector(confidence: Any) -> np.ndarray:
    confidence = np.asarray(confidence)
    if confidence.dtype.kind != "f" or confidence.ndim != 1:
        raise ValueError(
            f"confidence must be a floating-point array (N,), got {confidence.dtype} of shape {confidence.shape}"
        )
    if confidence.size and not (confidence.min() >= 0 and confidence.max() <= 1 + 1e-5):
        raise ValueError(f"confidence must lie in [0, 1], got {confidence.min()} to {confidence.max()}")
    return confidence


def correct_vector(correct: Any, shape: tuple[int, ...]) -> np.ndarray:
    correct = np.asarray(correct)
    if correct.shape != shape or not (correct.dtype == bool or (correct.dtype.kind in "iu" and set(correct) <= {0, 1})):
        raise ValueError(f"correct must be booleans of shape {shape}, got {correct.dtype} of shape {correct.shape}")
    return correct.astype(bool)


def _sorted(confidence: np.ndarray, correct: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both by rising confidence. Non-negative floats sort like their bits; success is packed into the free sign bit."""
    c = np.ascontiguousarray(confidence, np.float32 if confidence.dtype.itemsize <= 4 else np.float64)
    unsigned = np.uint32 if c.itemsize == 4 else np.uint64
    key: np.ndarray = c.view(unsigned)
    key = key << unsigned(1) | correct
    key.sort()
    correct = (key & unsigned(1)).astype(bool)
    key >>= unsigned(1)
    return key.view(c.dtype).astype(np.float64), correct


def _table(c: np.ndarray, correct: np.ndarray, ends: np.ndarray, edges: np.ndarray) -> Reliability:
    """The table of sorted samples, bin b ending before index ends[b]."""
    n = np.diff(ends, prepend=0)
    parts = [slice(end - size, end) for end, size in zip(ends, n, strict=True)]
    with np.errstate(invalid="ignore", divide="ignore"):
        f = np.array([c[b].sum() for b in parts]) / n
        a = np.array([np.count_nonzero(correct[b]) for b in parts]) / n
        variance = f - np.array([c[b] @ c[b] for b in parts]) / n
        low, high = wilson(a, n)
    return Reliability(n, f, a, f - a, low, high, edges, variance.clip(0))


def bin_by_mass(confidence: np.ndarray, correct: np.ndarray, bins: int = 15) -> Reliability:
    """Bins of (nearly) equal counts; an edge lies midway between the two samples that it parts."""
    bins = min(whole_number("bins", bins, 1), len(confidence))
    c, correct = _sorted(confidence, correct)
    if not bins:
        return _table(c, correct, np.zeros(0, np.intp), np.array([0.0, 1.0]))
    small, larger = divmod(len(c), bins)  # the first `larger` bins take one more
    cuts = np.cumsum([small + (b < larger) for b in range(bins - 1)], dtype=np.intp)
    edges = np.unique((c[cuts - 1] + c[cuts]) / 2)
    ends = np.searchsorted(c, edges + SAME, side="right")  # equal values stay together, on the lower side
    parting = np.diff(ends, append=len(c)) > 0  # an edge with nothing between it and the next parts nothing
    edges, ends = edges[parting], ends[parting]
    return _table(c, correct, np.append(ends, len(c)), np.concatenate([[0.0], edges, [1.0]]))


def bin_by_width(confidence: np.ndarray, correct: np.ndarray, bins: int = 15) -> Reliability:
    """Bins [0, 1/B), [1/B, 2/B), ... [1 - 1/B, 1]."""
    edges = np.linspace(0, 1, whole_number("bins", bins, 1) + 1)
    c, correct = _sorted(confidence, correct)
    ends = np.append(np.searchsorted(c, edges[1:-1], side="left"), len(c))
    return _table(c, correct, ends, edges)
