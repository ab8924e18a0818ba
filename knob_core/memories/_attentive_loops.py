"""The arithmetic of attentive memory over frames: as NumPy to be read, and as loops for numba.

The equations stand in `knob_core.memories.attentive`. Both forms fill `answer` and `g`, and bring `state` in place from
before the first frame to after the last.
"""

from __future__ import annotations

import math
from typing import NamedTuple

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


KEPT = 0.95  # part of the way to a tie that the eye may take the answer
SMALLEST = 1e-300  # a probability below it counts as this much


def _softmax(z: np.ndarray, sharp: float) -> np.ndarray:
    e = np.exp((z - z.max(-1, keepdims=True)) * sharp)
    return e / e.sum(-1, keepdims=True)


def certainty(z: np.ndarray, sharp: float) -> np.ndarray:
    """q = 1 - H(softmax(z sharp)) / log K, (...) in [0, 1], of logits z (..., K)."""
    x = (z - z.max(-1, keepdims=True)) * sharp
    e = np.exp(x)
    total = e.sum(-1)
    return 1 - (np.log(total) - (e * x).sum(-1) / total) / math.log(z.shape[-1])


def _conflict(m: np.ndarray, p_z: np.ndarray, w: Weights) -> np.ndarray:
    """l (R,) of memory m (R, K) and a frame's p_z (R, K)."""
    overlap = (_softmax(m, w.sharp) * p_z).sum(-1)
    same = np.maximum(m.shape[-1] * w.informative * overlap + 1 - w.informative, SMALLEST)  # with eps = 0 it may be 0
    return np.maximum(0.0, -np.log(same))


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
    m, v, n = state[:, :-1, 0].copy(), state[:, :-1, 1].copy(), state[:, -1, 0].copy()
    for t in range(z.shape[1]):
        p_z = _softmax(z[:, t], w.sharp)
        evidence = np.where(missing[:, t], 0.0, _conflict(m, p_z, w))
        zt = zeta[:, t]
        cap = zt + np.sqrt(zt * zt + 1)
        drive = w.a + w.b * evidence + w.c * u[:, t] + w.d * certainty(z[:, t], w.sharp)
        h = np.minimum(0.5 * omega_n[:, t] * dt[:, t] * np.exp(np.minimum(drive, 700.0)), cap)
        k = 2 / (1 / h + 2 * zt + h)
        g_t = np.minimum(k * h, 1.0)
        e = z[:, t] - m
        m = m + k[:, None] * (v + h[:, None] * e)
        v = (1 - w.brake * g_t)[:, None] * (v + k[:, None] * (e - (2 * zt + h)[:, None] * v))
        n = (1 - g_t) * n + 1
        left = _conflict(m, p_z, w)
        scale = np.exp(w.t_0 - w.t_1 * left + w.t_2 * u[:, t] + w.t_3 * np.log(n))
        answer[:, t], g[:, t] = m * scale[:, None], g_t
        if w.eye > 0:
            answer[:, t] = shared_answer(answer[:, t], z[:, t] * math.exp(w.t_0), w.eye)
    state[:, :-1, 0], state[:, :-1, 1], state[:, -1, 0] = m, v, n


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
def _conflict_of(
    m: np.ndarray, e_z: np.ndarray, sum_z: float, sharp: float, informative: float, e_m: np.ndarray
) -> float:
    sum_m, _ = _exponentials(m, sharp, e_m)
    dot = 0.0
    for i in range(len(m)):
        dot += e_m[i] * e_z[i]
    found = -math.log(max(len(m) * informative * (dot / (sum_m * sum_z)) + 1 - informative, SMALLEST))
    return found if found > 0 else 0.0


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
    a, b, c, d, sharp, informative, t_0, t_1, t_2, t_3, brake, eye = w
    unit = math.log(classes)
    m, v, e_m, e_z = np.empty(classes), np.empty(classes), np.empty(classes), np.empty(classes)
    for r in range(streams):
        for i in range(classes):
            m[i], v[i] = state[r, i, 0], state[r, i, 1]
        n = state[r, classes, 0]
        for t in range(frames):
            sum_z, weighted = _exponentials(z[r, t], sharp, e_z)
            certain = 1 - (math.log(sum_z) - weighted / sum_z) / unit
            evidence = 0.0
            if not missing[r, t]:
                evidence = _conflict_of(m, e_z, sum_z, sharp, informative, e_m)
            damping = zeta[r, t]
            cap = damping + math.sqrt(damping * damping + 1)
            turned = math.exp(min(a + b * evidence + c * u[r, t] + d * certain, 700.0))
            h = min(0.5 * omega_n[r, t] * dt[r, t] * turned, cap)
            k = 2 / (1 / h + 2 * damping + h)
            share = min(k * h, 1.0)
            for i in range(classes):
                e = z[r, t, i] - m[i]
                m[i] += k * (v[i] + h * e)
                v[i] = (1 - brake * share) * (v[i] + k * (e - (2 * damping + h) * v[i]))
            n = (1 - share) * n + 1
            left = _conflict_of(m, e_z, sum_z, sharp, informative, e_m)
            scale = math.exp(t_0 - t_1 * left + t_2 * u[r, t] + t_3 * math.log(n))
            for i in range(classes):
                answer[r, t, i] = m[i] * scale
            if eye > 0:
                _share(answer[r, t], z[r, t], math.exp(t_0), eye, e_m, e_z)
            g[r, t] = share
        for i in range(classes):
            state[r, i, 0], state[r, i, 1] = m[i], v[i]
        state[r, classes, 0] = n
