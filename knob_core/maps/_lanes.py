"""Answers of a memory at many settings at once; of every frame only what measures need is kept.

The equations stand in `knob_core.memories.attentive` and `knob_core.memories.plain`. Settings lie side by side in
lanes, so that the processor computes several at a time. What does not depend on the knobs is computed once for all, and
the softmax of the memory after a frame serves the next frame. exp and log are written out, because only then does the
compiler compute several at a time; both are right to the last bits.
A small difference can grow here: evidence turns omega_n, which turns the memory, which is the next frame's evidence.
"""

from __future__ import annotations

import math

import numpy as np

from knob_core import gate, metrics
from knob_core._arrays.compiled import compiled
from knob_core.memories._attentive_loops import (
    FLOOR,
    KEPT,
    LARGEST_SCALE,
    Weights,
    certainty,
    pooled,
    scale_of,
    shared_answer,
    turned_by,
)
from knob_core.memories._attentive_loops import numpy_form as attend

LARGEST = 700.0  # size of an exponent; exp of more is infinite
LEAST = math.log(1e-12)  # log of a probability, as measures take it
SMALL = 1e-300  # a probability below it counts as this much
SQRT_HALF_BITS = 0x3FE6A09E667F3BCD  # sqrt(1/2) as a float's bits
EXPONENT = -(1 << 52)  # mask of sign and exponent
SHIFTER = 6755399441055744.0  # 1.5 * 2^52: added to a whole number, it puts that number's bits into the float's own
SHIFTER_BITS = 0x4338000000000000
LOG_2, PER_LOG_2 = math.log(2.0), 1 / math.log(2.0)
LOG_2_HIGH, LOG_2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # their sum; n LOG_2_HIGH is exact


def shared(z: np.ndarray, u: np.ndarray, w: Weights) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(p_z (R, T, K), p_eye (R, T, K), turned (R, T), warmth (R, T)): what of attentive memory no knob changes."""
    turned = turned_by(w.a + w.c * u + w.d * certainty(z, w.sharp))
    warmth = w.t_0 + w.t_2 * u
    p_eye = np.ascontiguousarray(metrics.softmax(z * scale_of(w.t_0))) if w.eye > 0 else np.empty((0, 0, 0))
    return np.ascontiguousarray(metrics.softmax(z * w.sharp)), p_eye, turned, warmth


def _put(answer: np.ndarray, labels: np.ndarray, predicted: np.ndarray, p_max: np.ndarray) -> float:
    """Fill predicted and p_max (R, T) from logits (R, T, K); the summed NLL of the frames whose class is known."""
    log_p = metrics.log_softmax(answer)
    predicted[...], p_max[...] = log_p.argmax(-1), np.exp(log_p.max(-1))
    chosen = np.take_along_axis(log_p, np.maximum(labels, 0)[..., None], -1)[..., 0]
    return -float(np.maximum(chosen, LEAST)[labels >= 0].sum())


def attend_numpy(
    z: np.ndarray,  # (R, T, K)
    p_z: np.ndarray,  # (R, T, K) softmax(z / tau)
    p_eye: np.ndarray,  # (R, T, K) softmax(z exp(t_0)); empty where the eye has no share
    turned: np.ndarray,  # (R, T) exp(a + c u~ + d q)
    warmth: np.ndarray,  # (R, T) t_0 + t_2 u~
    cool: float,  # 1 / temperature of the answer
    labels: np.ndarray,  # (R, T) class, -1 where unknown
    w: Weights,
    zeta: np.ndarray,  # (L,)
    omega_n: np.ndarray,  # (L,) rad/frame
    predicted: np.ndarray,  # (R, T, L) out
    p_max: np.ndarray,  # (R, T, L) out
    nll: np.ndarray,  # (L,) out, summed over the frames whose class is known
) -> None:
    """Attentive memory, one setting after another."""
    still, one = np.zeros(labels.shape, bool), np.ones(labels.shape)
    turn = w._replace(a=0.0, c=0.0, d=0.0, t_0=0.0, t_2=1.0, eye=0.0)  # they are in the other arguments
    for lane in range(len(zeta)):
        state = np.zeros((len(z), z.shape[2] + 1, 2))
        state[:, :-1, 0] = pooled(z[:, 0], w.bend)
        answer, g = np.empty_like(z), np.empty(labels.shape)
        attend(z, warmth, still, zeta[lane] * one, omega_n[lane] * turned, one, turn, state, answer, g)
        if w.eye > 0:
            answer = shared_answer(answer, z * scale_of(w.t_0), w.eye)
        nll[lane] = _put(answer * cool, labels, predicted[..., lane], p_max[..., lane])


def fuse_numpy(
    z_static: np.ndarray,  # (R, T, K)
    z_dyn: np.ndarray,  # (R, T, K)
    g: np.ndarray,  # (R, T, L) the gate
    labels: np.ndarray,  # (R, T) class, -1 where unknown
    remember: bool,  # plain memory; False: none
    zeta: np.ndarray,  # (L,)
    omega_n: np.ndarray,  # (L,) rad/frame
    predicted: np.ndarray,  # (R, T, L) out
    p_max: np.ndarray,  # (R, T, L) out
    nll: np.ndarray,  # (L,) out
) -> None:
    """Plain memory or none, one setting after another."""
    start = np.stack([z_static[:, 0], np.zeros_like(z_static[:, 0])], -1)
    for lane in range(len(zeta)):
        m = gate.run(z_static, zeta[lane], omega_n[lane], state=start, axis=1)[0] if remember else z_static
        share = g[..., lane, None]
        nll[lane] = _put(share * z_dyn + (1 - share) * m, labels, predicted[..., lane], p_max[..., lane])


@compiled(fma=True)
def _exp(x: float) -> float:
    """2^n e^r, n whole and |r| <= log(2) / 2."""
    x = x if x > -LARGEST else -LARGEST
    x = x if x < LARGEST else LARGEST
    t = x * PER_LOG_2 + SHIFTER
    n = t - SHIFTER
    r = (x - n * LOG_2_HIGH) - n * LOG_2_LOW
    p = 1 + r * (1 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r * (1 / 5040 + r * (
        1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800 + r * (1 / 479001600))))))))))))  # fmt: skip
    return np.int64(np.float64(p).view(np.int64) + (np.float64(t).view(np.int64) << 52)).view(np.float64)


@compiled(fma=True)
def _log(x: float) -> float:
    """k log 2 + 2 atanh(s), x = 2^k m with m in [sqrt(1/2), sqrt(2)), s = (m - 1) / (m + 1); x > 0."""
    bits = np.float64(x).view(np.int64)
    high = (bits - SQRT_HALF_BITS) & EXPONENT
    m = np.int64(bits - high).view(np.float64)
    k = np.int64((high >> 52) + SHIFTER_BITS).view(np.float64) - SHIFTER
    s = (m - 1) / (m + 1)
    q = s * s
    return k * LOG_2 + 2 * s * (1 + q * (1 / 3 + q * (1 / 5 + q * (1 / 7 + q * (1 / 9 + q * (1 / 11 + q * (
        1 / 13 + q * (1 / 15 + q * (1 / 17 + q * (1 / 19 + q * (1 / 21)))))))))))  # fmt: skip


@compiled(fma=True)
def _exponentials(m: np.ndarray, top: np.ndarray, sharp: float, e: np.ndarray, total: np.ndarray) -> None:
    """Fill e (K, L) with exp((m - top) sharp), and total (L,) with its sums; top (L,) is the largest m (K, L)."""
    for j in range(len(top)):
        total[j] = 0.0
    for i in range(len(m)):
        for j in range(len(top)):
            e[i, j] = _exp((m[i, j] - top[j]) * sharp)
            total[j] += e[i, j]


@compiled(fma=True)
def _logits_of(m: np.ndarray, bend: float, seen: np.ndarray) -> None:
    """Fill seen (K, L) with the logits of a pooled memory m (K, L)."""
    for i in range(len(m)):
        for j in range(m.shape[1]):
            p = 1 + bend * m[i, j]
            seen[i, j] = _log(p if p > FLOOR else FLOOR) / bend


@compiled(fma=True)
def _overlap(e: np.ndarray, p: np.ndarray, x: np.ndarray) -> None:
    """Fill x (L,) with sum e p over the classes, e (K, L) and p (K,)."""
    for j in range(len(x)):
        x[j] = 0.0
    for i in range(len(p)):
        for j in range(len(x)):
            x[j] += e[i, j] * p[i]


@compiled(attend_numpy, fma=True)
def attend_lanes(
    z: np.ndarray, p_z: np.ndarray, p_eye: np.ndarray, turned: np.ndarray, warmth: np.ndarray, cool: float,
    labels: np.ndarray, w: Weights, zeta: np.ndarray, omega_n: np.ndarray, predicted: np.ndarray, p_max: np.ndarray,
    nll: np.ndarray,
) -> None:  # fmt: skip
    streams, frames, classes = z.shape
    lanes = len(zeta)
    _, b, _, _, sharp, informative, _, t_1, _, t_3, brake, eye, carry, bend = w
    m, v, e = np.empty((classes, lanes)), np.empty((classes, lanes)), np.empty((classes, lanes))
    seen_m = np.empty((classes, lanes)) if bend > 0 else m  # the memory's logits
    top, best = np.empty(lanes), np.empty(lanes)
    total, scale, n, evidence = np.empty(lanes), np.empty(lanes), np.empty(lanes), np.empty(lanes)
    k, h, double, cap = np.empty(lanes), np.empty(lanes), np.empty(lanes), np.empty(lanes)
    x, found, left = np.empty(lanes), np.empty(lanes), np.empty(lanes)
    own, seen, mixed = np.empty((classes, lanes)), np.empty(lanes), np.empty(lanes)
    for j in range(lanes):
        double[j] = 2 * zeta[j]
        cap[j] = zeta[j] + math.sqrt(zeta[j] * zeta[j] + 1)
        nll[j] = 0.0
    for r in range(streams):
        for i in range(classes):
            for j in range(lanes):
                m[i, j] = math.expm1(bend * z[r, 0, i]) / bend if bend > 0 else z[r, 0, i]
                v[i, j] = 0.0
        if bend > 0:
            _logits_of(m, bend, seen_m)
        for j in range(lanes):
            n[j] = 0.0
            evidence[j] = 0.0
            top[j] = seen_m[0, j]
        for i in range(classes):
            for j in range(lanes):
                top[j] = seen_m[i, j] if seen_m[i, j] > top[j] else top[j]
        _exponentials(seen_m, top, sharp, e, total)
        for t in range(frames):
            # evidence of a change: x = K informative <p_m, p_z> + 1 - informative, l = max(0, carry l - log x)
            _overlap(e, p_z[r, t], x)
            for j in range(lanes):
                same = _log(classes * informative * (x[j] / total[j]) + 1 - informative)
                gathered = carry * evidence[j] - same
                evidence[j] = gathered if gathered > 0 else 0.0
                fast = 0.5 * omega_n[j] * turned[r, t] * _exp(b * evidence[j])
                h[j] = fast if fast < cap[j] else cap[j]
            # the recursion, and the largest class
            for j in range(lanes):
                k[j] = 2 / (1 / h[j] + double[j] + h[j])
                share = k[j] * h[j]
                share = share if share < 1 else 1.0
                n[j] = (1 - share) * n[j] + 1
                left[j] = 1 - brake * share
                top[j] = -math.inf
                best[j] = 0.0
            for i in range(classes):
                now = math.expm1(bend * z[r, t, i]) / bend if bend > 0 else z[r, t, i]
                for j in range(lanes):
                    off = now - m[i, j]
                    m[i, j] += k[j] * (v[i, j] + h[j] * off)
                    v[i, j] = left[j] * (v[i, j] + k[j] * (off - (double[j] + h[j]) * v[i, j]))
                for j in range(lanes):
                    larger = m[i, j] > top[j]
                    best[j] = float(i) if larger else best[j]
                    top[j] = m[i, j] if larger else top[j]
            # softmax of the memory's logits / tau, for the conflict that is left and for the next frame
            if bend > 0:
                _logits_of(m, bend, seen_m)
                for j in range(lanes):
                    top[j] = seen_m[int(best[j]), j]
            _exponentials(seen_m, top, sharp, e, total)
            for j in range(lanes):
                scale[j] = 0.0
            if t_1 != 0:
                _overlap(e, p_z[r, t], x)
                for j in range(lanes):
                    same = _log(classes * informative * (x[j] / total[j]) + 1 - informative)
                    scale[j] = t_1 * (same if same < 0 else 0.0)
            if t_3 != 0:
                for j in range(lanes):
                    scale[j] += t_3 * _log(n[j])
            # the answer's softmax: its largest value, and that of the true class
            for j in range(lanes):
                exponent = warmth[r, t] + scale[j]
                exponent = exponent if exponent > -LARGEST_SCALE else -LARGEST_SCALE
                exponent = exponent if exponent < LARGEST_SCALE else LARGEST_SCALE
                scale[j] = _exp(exponent) * (1.0 if eye > 0 else cool)
                found[j] = 0.0
            for i in range(classes):
                for j in range(lanes):
                    own[i, j] = _exp((seen_m[i, j] - top[j]) * scale[j])
                    found[j] += own[i, j]
            for j in range(lanes):
                predicted[r, t, j] = int(best[j])
            if eye > 0:  # the frame's own answer has its share, as long as the memory's class stays on top
                for j in range(lanes):
                    seen[j] = p_eye[r, t, int(best[j])]
                    mixed[j] = 1.0
                for i in range(classes):
                    p = p_eye[r, t, i]
                    for j in range(lanes):
                        ahead, against = (1 - own[i, j]) / found[j], p - seen[j]
                        tie = ahead / (ahead + against) if against > 0 else 1.0
                        mixed[j] = tie if tie < mixed[j] else mixed[j]
                for j in range(lanes):
                    mixed[j] = eye if eye < KEPT * mixed[j] else KEPT * mixed[j]
                    p_max[r, t, j] = (1 - mixed[j]) / found[j] + mixed[j] * seen[j]
                if cool != 1:  # p^cool, made to add up to 1 again
                    for j in range(lanes):
                        seen[j] = _log(p_max[r, t, j])
                        x[j] = 0.0
                    for i in range(classes):
                        p = p_eye[r, t, i]
                        for j in range(lanes):
                            chance = (1 - mixed[j]) * own[i, j] / found[j] + mixed[j] * p
                            x[j] += _exp((_log(chance if chance > SMALL else SMALL) - seen[j]) * cool)
                    for j in range(lanes):
                        p_max[r, t, j] = 1 / x[j]
            else:
                for j in range(lanes):
                    p_max[r, t, j] = 1 / found[j]
            if labels[r, t] >= 0:
                true = labels[r, t]
                if eye > 0:
                    p = p_eye[r, t, true]
                    for j in range(lanes):
                        chance = (1 - mixed[j]) * own[true, j] / found[j] + mixed[j] * p
                        log_p = _log(chance if chance > SMALL else SMALL)
                        log_p = log_p if cool == 1 else (log_p - seen[j]) * cool - _log(x[j])
                        nll[j] -= log_p if log_p > LEAST else LEAST
                else:
                    for j in range(lanes):
                        log_p = (seen_m[true, j] - top[j]) * scale[j] - _log(found[j])
                        nll[j] -= log_p if log_p > LEAST else LEAST


@compiled(fuse_numpy, fma=True)
def fuse_lanes(
    z_static: np.ndarray, z_dyn: np.ndarray, g: np.ndarray, labels: np.ndarray, remember: bool,
    zeta: np.ndarray, omega_n: np.ndarray, predicted: np.ndarray, p_max: np.ndarray, nll: np.ndarray,
) -> None:  # fmt: skip
    streams, frames, classes = z_static.shape
    lanes = len(zeta)
    m, v, z = np.empty((classes, lanes)), np.empty((classes, lanes)), np.empty((classes, lanes))
    k, h, c = np.empty(lanes), np.empty(lanes), np.empty(lanes)
    top, best, found = np.empty(lanes), np.empty(lanes), np.empty(lanes)
    for j in range(lanes):
        h[j] = omega_n[j] / 2
        k[j] = 2 / (1 / h[j] + 2 * zeta[j] + h[j])
        c[j] = 2 * zeta[j] + h[j]
        nll[j] = 0.0
    for r in range(streams):
        for i in range(classes):
            for j in range(lanes):
                m[i, j] = z_static[r, 0, i]
                v[i, j] = 0.0
        for t in range(frames):
            for j in range(lanes):
                top[j] = -math.inf
                best[j] = 0.0
                found[j] = 0.0
            for i in range(classes):
                now, eye = z_static[r, t, i], z_dyn[r, t, i]
                if remember:
                    for j in range(lanes):
                        off = now - m[i, j]
                        m[i, j] += k[j] * (v[i, j] + h[j] * off)
                        v[i, j] += k[j] * (off - c[j] * v[i, j])
                else:
                    for j in range(lanes):
                        m[i, j] = now
                for j in range(lanes):
                    z[i, j] = g[r, t, j] * eye + (1 - g[r, t, j]) * m[i, j]
                for j in range(lanes):
                    larger = z[i, j] > top[j]
                    best[j] = float(i) if larger else best[j]
                    top[j] = z[i, j] if larger else top[j]
            for i in range(classes):
                for j in range(lanes):
                    found[j] += _exp(z[i, j] - top[j])
            for j in range(lanes):
                predicted[r, t, j] = int(best[j])
                p_max[r, t, j] = 1 / found[j]
            if labels[r, t] >= 0:
                true = labels[r, t]
                for j in range(lanes):
                    log_p = (z[true, j] - top[j]) - _log(found[j])
                    nll[j] -= log_p if log_p > LEAST else LEAST
