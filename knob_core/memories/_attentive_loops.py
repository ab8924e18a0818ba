"""The arithmetic of attentive memory over frames: as NumPy to be read, and as loops for numba.

The equations stand in `knob_core.memories.attentive`. Both forms fill `answer` and `g`, and bring `state` in place from
before the first frame to after the last.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from knob_core._arrays.compiled import compiled


class Weights(NamedTuple):
    """As the loops take them."""

    a: float
    b: float
    c: float
    d: float
    sharp: float  # 1 / tau
    informative: float  # (1 - eps)^2: how likely frame and memory both tell the content
    t_0: float
    t_1: float
    t_2: float
    t_3: float
    brake: float = 0.0
    eye: float = 0.0
    carry: float = 0.0
    bend: float = 0.0  # pool / tau


LARGEST_SCALE = 25.0  # size of the logarithm of the answer's scale: no outlying u* makes an answer of nothing, or NaN
LEAST_DRIVE, LARGEST_DRIVE = -300.0, 700.0  # of log(omega / omega_n): more opens any gate, less would be 0
KEPT = 0.95  # part of the way to a tie that the eye may take the answer
SMALLEST = 1e-300  # a probability below it counts as this much
FLOOR = 1e-9  # p^pool that a memory which swings below it counts as


def _softmax(z: np.ndarray, sharp: float) -> np.ndarray:
    e = np.exp((z - z.max(-1, keepdims=True)) * sharp)
    return e / e.sum(-1, keepdims=True)


def clipped(z: np.ndarray, sharp: float, clip: float) -> np.ndarray:
    """log[(1 - clip) softmax(z sharp) + clip / K] / sharp, of logits z (..., K): no two classes are further apart."""
    return np.log(np.maximum((1 - clip) * _softmax(z, sharp) + clip / z.shape[-1], SMALLEST)) / sharp


def pooled(z: np.ndarray, bend: float) -> np.ndarray:
    """(p^pool - 1) tau / pool of z = tau log p: what the memory takes the mean of; with bend 0, z itself."""
    return np.expm1(bend * z) / bend if bend > 0 else z


def logits_of(m: np.ndarray, bend: float) -> np.ndarray:
    """The inverse of `pooled`: tau log p."""
    return np.log(np.maximum(1 + bend * m, FLOOR)) / bend if bend > 0 else m


def certainty(z: np.ndarray, sharp: float) -> np.ndarray:
    """q = 1 - H(softmax(z sharp)) / log K, (...) in [0, 1], of logits z (..., K)."""
    x = (z - z.max(-1, keepdims=True)) * sharp
    e = np.exp(x)
    total = e.sum(-1)
    return 1 - (np.log(total) - (e * x).sum(-1) / total) / math.log(z.shape[-1])


def turned_by(drive: np.ndarray) -> np.ndarray:
    """omega / omega_n."""
    return np.exp(np.clip(drive, LEAST_DRIVE, LARGEST_DRIVE))


def scale_of(exponent: Any) -> Any:
    """What logits are multiplied by in the answer."""
    return np.exp(np.clip(exponent, -LARGEST_SCALE, LARGEST_SCALE))


def _change(seen: np.ndarray, p_z: np.ndarray, w: Weights) -> np.ndarray:
    """x (R,) of the memory's logits (R, K) and a frame's p_z (R, K)."""
    overlap = (_softmax(seen, w.sharp) * p_z).sum(-1)
    same = np.maximum(seen.shape[-1] * w.informative * overlap + 1 - w.informative, SMALLEST)  # eps = 0: it may be 0
    return -np.log(same)


def shared_answer(memory: np.ndarray, frame: np.ndarray, eye: float) -> np.ndarray:
    """log[(1 - s) p_m + s p_z] of logits (..., K): s = eye, or as much of it as leaves the memory's class on top."""
    p_m, p_z, top = _softmax(memory, 1.0), _softmax(frame, 1.0), memory.argmax(-1)[..., None]
    ahead = np.take_along_axis(p_m, top, -1) - p_m  # (..., K)
    against = p_z - np.take_along_axis(p_z, top, -1)
    tie = np.where(against > 0, ahead / np.where(against > 0, ahead + against, 1.0), 1.0)
    share = np.minimum(eye, KEPT * tie.min(-1, keepdims=True))
    return np.log(np.maximum((1 - share) * p_m + share * p_z, SMALLEST))


def numpy_form(
    z: np.ndarray,  # (R, T, K)
    u: np.ndarray,  # (R, T) standardised command
    missing: np.ndarray,  # (R, T) bool: no evidence
    zeta: np.ndarray,  # (R, T)
    omega_n: np.ndarray,  # (R, T) rad/frame
    dt: np.ndarray,  # (R, T) frames
    w: Weights,
    state: np.ndarray,  # (R, K + 1, 2), in place
    answer: np.ndarray,  # (R, T, K) out
    g: np.ndarray,  # (R, T) out
) -> None:
    """One vectorised step per frame."""
    m, v = state[:, :-1, 0].copy(), state[:, :-1, 1].copy()
    n, evidence = state[:, -1, 0].copy(), state[:, -1, 1].copy()
    y, seen = pooled(z, w.bend), logits_of(m, w.bend)
    for t in range(z.shape[1]):
        p_z = _softmax(z[:, t], w.sharp)
        evidence = np.where(missing[:, t], 0.0, np.maximum(0.0, w.carry * evidence + _change(seen, p_z, w)))
        zt = zeta[:, t]
        cap = zt + np.sqrt(zt * zt + 1)
        drive = w.a + w.b * evidence + w.c * u[:, t] + w.d * certainty(z[:, t], w.sharp)
        h = np.minimum(0.5 * omega_n[:, t] * dt[:, t] * turned_by(drive), cap)
        k = 2 / (1 / h + 2 * zt + h)
        g_t = np.minimum(k * h, 1.0)
        e = y[:, t] - m
        m = m + k[:, None] * (v + h[:, None] * e)
        v = (1 - w.brake * g_t)[:, None] * (v + k[:, None] * (e - (2 * zt + h)[:, None] * v))
        n = (1 - g_t) * n + 1
        seen = logits_of(m, w.bend)
        left = np.maximum(0.0, _change(seen, p_z, w))
        scale = scale_of(w.t_0 - w.t_1 * left + w.t_2 * u[:, t] + w.t_3 * np.log(n))
        answer[:, t], g[:, t] = seen * scale[:, None], g_t
        if w.eye > 0:
            answer[:, t] = shared_answer(answer[:, t], z[:, t] * scale_of(w.t_0), w.eye)
    state[:, :-1, 0], state[:, :-1, 1] = m, v
    state[:, -1, 0], state[:, -1, 1] = n, evidence


@compiled()
def _exponentials(z: np.ndarray, sharp: float, out: np.ndarray) -> tuple[float, float]:
    """Fill out (K,) with e = exp(x), x = (z - max z) sharp; sum e and sum e x."""
    top = z[0]
    for i in range(1, len(z)):
        if z[i] > top:
            top = z[i]
    total, weighted = 0.0, 0.0
    for i in range(len(z)):
        x = (z[i] - top) * sharp
        out[i] = math.exp(x)
        total += out[i]
        weighted += out[i] * x
    return total, weighted


@compiled()
def _logits_of(m: np.ndarray, bend: float, out: np.ndarray) -> None:
    """Fill out (K,) with the memory's logits; as `logits_of`."""
    for i in range(len(m)):
        out[i] = math.log(max(1 + bend * m[i], FLOOR)) / bend if bend > 0 else m[i]


@compiled()
def _change_of(
    seen: np.ndarray, e_z: np.ndarray, sum_z: float, sharp: float, informative: float, e_m: np.ndarray
) -> float:
    sum_m, _ = _exponentials(seen, sharp, e_m)
    dot = 0.0
    for i in range(len(seen)):
        dot += e_m[i] * e_z[i]
    return -math.log(max(len(seen) * informative * (dot / (sum_m * sum_z)) + 1 - informative, SMALLEST))


@compiled()
def _share(memory: np.ndarray, frame: np.ndarray, scale: float, eye: float, e_m: np.ndarray, e_z: np.ndarray) -> None:
    """Logits of the memory (K,) become those of the answer, in place; as `shared_answer`."""
    top = 0
    for i in range(1, len(memory)):
        if memory[i] > memory[top]:
            top = i
    sum_m, _ = _exponentials(memory, 1.0, e_m)
    sum_z, _ = _exponentials(frame, scale, e_z)
    tie = 1.0
    for i in range(len(memory)):
        ahead = (e_m[top] - e_m[i]) / sum_m
        against = (e_z[i] - e_z[top]) / sum_z
        if against > 0:
            tie = min(tie, ahead / (ahead + against))
    share = min(eye, KEPT * tie)
    for i in range(len(memory)):
        memory[i] = math.log(max((1 - share) * e_m[i] / sum_m + share * e_z[i] / sum_z, SMALLEST))


@compiled(numpy_form)
def attend(
    z: np.ndarray, u: np.ndarray, missing: np.ndarray, zeta: np.ndarray, omega_n: np.ndarray, dt: np.ndarray,
    w: Weights, state: np.ndarray, answer: np.ndarray, g: np.ndarray,
) -> None:  # fmt: skip
    streams, frames, classes = z.shape
    a, b, c, d, sharp, informative, t_0, t_1, t_2, t_3, brake, eye, carry, bend = w
    unit, own_scale = math.log(classes), math.exp(min(max(t_0, -LARGEST_SCALE), LARGEST_SCALE))
    m, v, seen = np.empty(classes), np.empty(classes), np.empty(classes)
    e_m, e_z = np.empty(classes), np.empty(classes)
    for r in range(streams):
        for i in range(classes):
            m[i], v[i] = state[r, i, 0], state[r, i, 1]
        n, evidence = state[r, classes, 0], state[r, classes, 1]
        _logits_of(m, bend, seen)
        for t in range(frames):
            sum_z, weighted = _exponentials(z[r, t], sharp, e_z)
            certain = 1 - (math.log(sum_z) - weighted / sum_z) / unit
            if missing[r, t]:
                evidence = 0.0
            else:
                evidence = max(0.0, carry * evidence + _change_of(seen, e_z, sum_z, sharp, informative, e_m))
            damping = zeta[r, t]
            cap = damping + math.sqrt(damping * damping + 1)
            drive = a + b * evidence + c * u[r, t] + d * certain
            turned = math.exp(min(max(drive, LEAST_DRIVE), LARGEST_DRIVE))
            h = min(0.5 * omega_n[r, t] * dt[r, t] * turned, cap)
            k = 2 / (1 / h + 2 * damping + h)
            share = min(k * h, 1.0)
            for i in range(classes):
                e = (math.expm1(bend * z[r, t, i]) / bend if bend > 0 else z[r, t, i]) - m[i]
                m[i] += k * (v[i] + h * e)
                v[i] = (1 - brake * share) * (v[i] + k * (e - (2 * damping + h) * v[i]))
            n = (1 - share) * n + 1
            _logits_of(m, bend, seen)
            left = max(0.0, _change_of(seen, e_z, sum_z, sharp, informative, e_m))
            exponent = t_0 - t_1 * left + t_2 * u[r, t] + t_3 * math.log(n)
            scale = math.exp(min(max(exponent, -LARGEST_SCALE), LARGEST_SCALE))
            for i in range(classes):
                answer[r, t, i] = seen[i] * scale
            if eye > 0:
                _share(answer[r, t], z[r, t], own_scale, eye, e_m, e_z)
            g[r, t] = share
        for i in range(classes):
            state[r, i, 0], state[r, i, 1] = m[i], v[i]
        state[r, classes, 0], state[r, classes, 1] = n, evidence
