"""The one spring over whole streams, compiled: `knob_core.knob` is the definition, and a test holds this loop to it.

The gate is of any kind of `knob_core.gates`, as its `Motion` says. Streams run one after the other, value by value.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from knob_core._arrays.compiled import compiled
from knob_core.gates import Motion
from knob_core.knob import DRIVE, FLOOR, KEPT, TINY


class Constants(NamedTuple):
    """Weights as the loop takes them."""

    a: float
    b: float
    d: float
    sharp: float  # 1 / tau
    told: float  # (1 - eps)^2
    power: float  # exp(t_0)
    f: float
    offsets: np.ndarray  # (K,)
    holds: np.ndarray  # (K,)


@compiled()
def _distribution(z: np.ndarray, offsets: np.ndarray, sharp: float, p: np.ndarray) -> float:
    """Fill p (K,) with softmax((z + o) sharp); its entropy."""
    top = -math.inf
    for i in range(len(z)):
        p[i] = (z[i] + offsets[i]) * sharp
        top = max(top, p[i])
    total, weighted = 0.0, 0.0
    for i in range(len(z)):
        x = p[i] - top
        p[i] = math.exp(x)
        total += p[i]
        weighted += p[i] * x
    for i in range(len(z)):
        p[i] /= total
    return math.log(total) - weighted / total


@compiled()
def _logistic(u: float) -> float:
    return 1 / (1 + math.exp(-u)) if u >= 0 else math.exp(u) / (1 + math.exp(u))


@compiled()
def _answer(m: np.ndarray, p: np.ndarray, power: float, f: float, out: np.ndarray) -> None:
    """Fill out (K,) with the memory's distribution, and as much of the frame's as leaves its class on top."""
    total, top = 0.0, 0
    for i in range(len(m)):
        out[i] = max(m[i], FLOOR)
        if out[i] > out[top]:
            top = i
    most = out[top]
    for i in range(len(m)):
        if power != 1.0:
            out[i] = math.exp(power * math.log(out[i] / most))
        total += out[i]
    for i in range(len(m)):
        out[i] /= total
    if f > 0:
        tie = 1.0
        for i in range(len(m)):
            against = p[i] - p[top]
            if against > 0:
                ahead = out[top] - out[i]
                tie = min(tie, ahead / (ahead + against))
        share = min(f, KEPT * tie)
        for i in range(len(m)):
            out[i] = (1 - share) * out[i] + share * p[i]


@compiled()
def follow(
    z_static: np.ndarray,  # (R, T, K)
    z_dyn: np.ndarray,  # (R, T, K)
    u_star: np.ndarray,  # (R, T)
    lost: np.ndarray,  # (R, T) bool: this frame did not come; its place holds the one before
    held_static: np.ndarray,  # (R, K) the frame before the first
    held_dyn: np.ndarray,  # (R, K)
    held_u: np.ndarray,  # (R,)
    held: np.ndarray,  # (R,) how many times it comes again before the first
    zeta: np.ndarray,  # (R, T)
    omega_n: np.ndarray,  # (R, T) rad/frame
    dt: np.ndarray,  # (R, T) frames
    constants: Constants,
    motion: Motion,  # the kind of gate
    x: np.ndarray,  # (R, S) the gate, in place
    memory: np.ndarray,  # (R, K, 2) m and v of each class, in place
    seen: np.ndarray,  # (R,) bool: a frame has come, in place
    answer: np.ndarray,  # (R, T, K) out: probabilities
    u_out: np.ndarray,  # (R, T) out
    g_out: np.ndarray,  # (R, T) out
    omega: np.ndarray,  # (R, T) out: the natural frequency that acted, rad/frame
) -> None:
    """All frames of all streams, from `x`, `memory` and `seen` to what they are after the last one."""
    a, b, d, sharp, told, power, f, offsets, holds = constants
    mixes, order, lag = motion
    streams, frames, classes = z_static.shape
    unit = math.log(classes)
    m, v, p, z = np.empty(classes), np.empty(classes), np.empty(classes), np.empty(classes)
    for r in range(streams):
        for i in range(classes):
            m[i], v[i] = memory[r, i, 0], memory[r, i, 1]
        for k in range(-held[r], frames):
            t = max(k, 0)
            zs, zd, us = z_static[r, t], z_dyn[r, t], u_star[r, t]
            if k < 0:
                zs, zd, us = held_static[r], held_dyn[r], held_u[r]
            absent = k < 0 or lost[r, t]
            if absent and not seen[r]:
                if k >= 0:
                    omega[r, t], u_out[r, t], g_out[r, t] = omega_n[r, t], 0.0, 0.0
                    for i in range(classes):
                        answer[r, t, i] = 1 / classes
                continue
            g = _logistic(us) if mixes else 0.0
            for i in range(classes):
                z[i] = g * zd[i] + (1 - g) * zs[i] if mixes else zs[i]
            entropy = _distribution(z, offsets, sharp, p)
            first = not seen[r]
            overlap, top = 0.0, 0
            for i in range(classes):
                if first:
                    m[i], v[i] = p[i], 0.0
                overlap += m[i] * p[i]
                if m[i] > m[top]:
                    top = i
            evidence = 0.0 if absent else max(0.0, -math.log(max(classes * told * overlap + 1 - told, TINY)))
            turned = a + b * evidence + d * (1 - entropy / unit) + holds[top]
            damping = zeta[r, t]
            cap = damping + math.sqrt(damping * damping + 1)
            h = min(0.5 * omega_n[r, t] * dt[r, t] * math.exp(min(max(turned, -DRIVE), DRIVE)), cap)
            gain = 2 / (1 / h + 2 * damping + h)
            kept = 1 - gain * h
            u = us
            if order > 0:
                if order == 1:
                    x[r, 0] -= math.expm1(-2 * h) * (g - x[r, 0])
                    g = x[r, 0]
                    inside = min(max(g, 1e-7), 1 - 1e-7)
                    u = math.log(inside / (1 - inside))
                else:
                    if lag > 0:
                        x[r, 2] -= math.expm1(-2 * lag * h) * (us - x[r, 2])
                    e = (x[r, 2] if lag > 0 else us) - x[r, 0]
                    x[r, 0] += gain * (x[r, 1] + h * e)
                    x[r, 1] = kept * (x[r, 1] + gain * (e - (2 * damping + h) * x[r, 1]))
                    u = x[r, 0]
                    g = _logistic(u)
                for i in range(classes):
                    z[i] = g * zd[i] + (1 - g) * zs[i]
                _distribution(z, offsets, sharp, p)
            for i in range(classes):
                if first:
                    m[i] = p[i]
                e = p[i] - m[i]
                m[i] += gain * (v[i] + h * e)
                v[i] = kept * (v[i] + gain * (e - (2 * damping + h) * v[i]))
            seen[r] = True
            if k >= 0:
                u_out[r, t], g_out[r, t], omega[r, t] = u, g, 2 * h / dt[r, t]
                _answer(m, p, power, f, answer[r, t])
        for i in range(classes):
            memory[r, i, 0], memory[r, i, 1] = m[i], v[i]
