"""Counting what answers at many settings did: the sums that `knob_core.measures` makes rates and quantiles of.

Definitions: `knob_core.measures.change` (excess flips, false alarms, delays) and `knob_core.metrics` (ECE_deb).
Settings lie side by side, as `_lanes` leaves them. A key is one frame's confidence and success in one number: the bits
of p_max, moved up by one, and below them 1 where the answer is right.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from knob_core import metrics
from knob_core._arrays.compiled import compiled
from knob_core.measures.change import ChangeCounts, count
from knob_core.measures.stability import SURE
from knob_core.measures.truth import STAYS, Truth, frames_left
from knob_core.metrics.reliability import SAME

BINS = 15  # of ECE
FINE = 6  # binary digits: buckets of 1 - p_max for each factor of 2
FIRST_BUCKET = (1023 - 53) << FINE  # 1 - p_max is 0 or at least 2^-53
BUCKETS = 54 << FINE


class Tally(NamedTuple):
    """Sums over all streams, of L settings."""

    excess: np.ndarray  # (L,) excess flips
    alarms: np.ndarray  # (L,) false alarms
    flips: np.ndarray  # (L,) changes of the answer
    right: np.ndarray  # (L,) frames
    sure_wrong: np.ndarray  # (L,) frames
    delays: np.ndarray  # (C, L) frames of each counted cut
    never: np.ndarray  # (L,) counted cuts that are not followed
    keys: np.ndarray  # (L, N) of the frames whose class is known


def empty(lanes: int, known: Truth) -> Tally:
    """Nothing counted yet."""
    sums = np.zeros((6, lanes), np.int64)
    delays = np.zeros((int(known.counted.sum()), lanes), np.int64)
    keys = np.zeros((lanes, int((known.labels >= 0).sum())), np.uint64)
    return Tally(sums[0], sums[1], sums[2], sums[3], sums[4], delays, sums[5], keys)


def tally_numpy(
    predicted: np.ndarray,  # (R, T, L)
    p_max: np.ndarray,  # (R, T, L)
    labels: np.ndarray,  # (R, T)
    both_known: np.ndarray,  # (R, T)
    start: np.ndarray,  # (N,) and on: as in `Truth`
    length: np.ndarray,
    changed: np.ndarray,
    counted: np.ndarray,
    out: Tally,
) -> None:
    """With the measures' own functions."""
    left = frames_left(start, length, labels.shape)
    known = Truth(labels, start, length, start // labels.shape[1], changed, counted, left, both_known)
    settings = np.ascontiguousarray(np.moveaxis(predicted, -1, 0))  # (L, R, T)
    found: ChangeCounts = count(settings, known)
    out.excess[:], out.alarms[:] = found.excess.sum(-1), found.alarms.sum(-1)
    out.flips[:] = (settings[..., 1:] != settings[..., :-1]).sum((-2, -1))
    out.delays[:], out.never[:] = found.delays.T, found.never.sum(-1)
    there = labels >= 0
    confidence = p_max[there].T  # (L, N)
    correct = labels[there] == predicted[there].T
    out.right[:] = correct.sum(-1)
    out.sure_wrong[:] = ((confidence > SURE) & ~correct).sum(-1)
    out.keys[:] = np.ascontiguousarray(confidence).view(np.uint64) << np.uint64(1) | correct


@compiled(tally_numpy)
def tally(
    predicted: np.ndarray, p_max: np.ndarray, labels: np.ndarray, both_known: np.ndarray, start: np.ndarray,
    length: np.ndarray, changed: np.ndarray, counted: np.ndarray, out: Tally,
) -> None:  # fmt: skip
    streams, frames, lanes = predicted.shape
    excess, alarms, flips, right, sure_wrong, delays, never, keys = out
    place = 0
    for r in range(streams):
        for t in range(frames):
            label = labels[r, t]
            if t > 0:
                for j in range(lanes):
                    flips[j] += predicted[r, t, j] != predicted[r, t - 1, j]
                if both_known[r, t]:
                    for j in range(lanes):
                        excess[j] += predicted[r, t, j] != predicted[r, t - 1, j]
                    if labels[r, t - 1] == label:
                        for j in range(lanes):
                            alarms[j] += (predicted[r, t - 1, j] == label) & (predicted[r, t, j] != label)
            if label >= 0:
                for j in range(lanes):
                    right[j] += predicted[r, t, j] == label
                    sure_wrong[j] += (predicted[r, t, j] != label) & (p_max[r, t, j] > SURE)
                for j in range(lanes):
                    bits = np.float64(p_max[r, t, j]).view(np.uint64)
                    keys[j, place] = (bits << np.uint64(1)) | np.uint64(predicted[r, t, j] == label)
                place += 1
    run, first = np.empty(lanes, np.int32), np.empty(lanes, np.int32)
    cut = 0
    for s in range(len(start)):
        r, begin = start[s] // frames, start[s] % frames
        label = labels[r, begin]
        for j in range(lanes):
            run[j], first[j] = 0, length[s]
        for a in range(length[s] - 1, -1, -1):
            enough = min(STAYS, length[s] - a)
            for j in range(lanes):
                run[j] = run[j] + 1 if predicted[r, begin + a, j] == label else 0
                first[j] = a if run[j] >= enough else first[j]
        if changed[s]:
            for j in range(lanes):
                if first[j] < length[s]:
                    t = begin + first[j]
                    excess[j] -= both_known[r, t] and predicted[r, t, j] != predicted[r, t - 1, j]
        if counted[s]:
            for j in range(lanes):
                delays[cut, j] = first[j]
                never[j] += first[j] >= length[s]
            cut += 1


def sort_numpy(keys: np.ndarray, room: np.ndarray) -> None:
    """Each row of keys (L, N) by rising confidence, in place; non-negative floats sort like their bits."""
    keys.sort(axis=-1)


@compiled(sort_numpy)
def sort_keys(keys: np.ndarray, room: np.ndarray) -> None:
    """The same, as far as bins of equal mass need it: into buckets, of which only those around a bin's end are sorted.

    Buckets are of 1 - p_max on a logarithmic scale, on which confidences lie evenly.
    """
    one, few = np.uint64(1), 24
    ends = np.empty(BUCKETS + 1, np.int64)
    for row in keys:
        ends[:] = 0
        for i in range(len(row)):
            doubt = 1 - np.uint64(row[i] >> one).view(np.float64)
            octave = (np.float64(doubt).view(np.int64) >> (52 - FINE)) - FIRST_BUCKET
            room[i] = BUCKETS - 1 - min(max(np.int64(0), octave), np.int64(BUCKETS - 1))
            ends[room[i] + 1] += 1
        for bucket in range(BUCKETS):
            ends[bucket + 1] += ends[bucket]
        unsorted = row.copy()
        for i in range(len(row)):
            row[ends[room[i]]] = unsorted[i]
            ends[room[i]] += 1  # now where the bucket ends
        bins = min(BINS, len(row))
        begin, b, cut = 0, 0, len(row) // bins + (len(row) % bins > 0)  # the first bin's end
        for bucket in range(BUCKETS):
            end = ends[bucket]
            if end > begin and begin <= cut <= end:
                if end - begin > few:
                    row[begin:end].sort()
                else:
                    for i in range(begin + 1, end):
                        key, place = row[i], i
                        while place > begin and row[place - 1] > key:
                            row[place] = row[place - 1]
                            place -= 1
                        row[place] = key
            while cut < end and b < bins:  # a bin that ends where a bucket does also needs the next bucket
                b += 1
                cut += len(row) // bins + (b < len(row) % bins)
            begin = end


def calibration_numpy(keys: np.ndarray, ece: np.ndarray, floor: np.ndarray) -> None:
    """ECE_deb and its floor (L,) of sorted keys (L, N)."""
    for lane, row in enumerate(keys):
        confidence, correct = (row >> np.uint64(1)).view(np.float64), (row & np.uint64(1)).astype(bool)
        ece[lane] = metrics.ece_debiased(confidence, correct, BINS)
        floor[lane] = metrics.noise_floor(confidence, BINS, debiased=True)


@compiled(calibration_numpy)
def calibration(keys: np.ndarray, ece: np.ndarray, floor: np.ndarray) -> None:
    lanes, samples = keys.shape
    bins = min(BINS, samples)
    ends = np.empty(bins, np.int64)
    one = np.uint64(1)
    for lane in range(lanes):
        row = keys[lane]
        # bins of equal mass: an edge lies midway between two neighbours, and equal values stay on its lower side
        many, cut, last = 0, 0, -1.0
        for b in range(bins - 1):
            cut += samples // bins + (b < samples % bins)
            edge = (np.uint64(row[cut - 1] >> one).view(np.float64) + np.uint64(row[cut] >> one).view(np.float64)) / 2
            if edge == last:
                continue
            last = edge
            end = cut
            while end < samples and np.uint64(row[end] >> one).view(np.float64) <= edge + SAME:
                end += 1
            if many == 0 or end > ends[many - 1]:
                ends[many] = end
                many += 1
        if many == 0 or ends[many - 1] < samples:
            ends[many] = samples
            many += 1
        begin, error, chance = 0, 0.0, 0.0
        for b in range(many):
            n, total, square, correct = int(ends[b]) - begin, 0.0, 0.0, 0
            for i in range(begin, ends[b]):
                c = np.uint64(row[i] >> one).view(np.float64)
                total += c
                square += c * c
                correct += int(row[i] & one)
            f, a = total / n, correct / n
            gap, spread = abs(f - a), math.sqrt(a * (1 - a) / n)
            expected = gap  # of |f - a~|, the mean of a folded normal
            if spread > 0:
                ratio = gap / (spread * math.sqrt(2.0))
                expected = spread * math.sqrt(2 / math.pi) * math.exp(-(ratio**2)) + gap * math.erf(ratio)
            error += n / samples * (2 * gap - expected)
            variance = f - square / n
            chance += n / samples * math.sqrt(2 / math.pi * (variance if variance > 0 else 0.0) / n)
            begin = int(ends[b])
        ece[lane], floor[lane] = error, chance * (2 - math.sqrt(2.0))
