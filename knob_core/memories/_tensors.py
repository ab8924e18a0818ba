"""One frame of the spring on tensors, for exported graphs and for gradients; the equations stand in `knob_core.knob`.

Nothing is changed in place and nothing is checked; gradients reach logits, command, knobs and state.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from knob_core import fusion
from knob_core._arrays.checks import namespace
from knob_core.gates import Gate
from knob_core.knob import FLOOR, KEPT

if TYPE_CHECKING:
    from torch import Tensor

    from knob_core.memories.attentive import Attentive

LARGEST_EXPONENT = 80.0  # exp of it is finite in single precision, and more than opens any gate


class Followed(NamedTuple):
    """One frame."""

    probabilities: Tensor  # (N, K)
    u: Tensor  # (N,)
    g: Tensor  # (N,)
    omega: Tensor  # (N,) rad/frame
    gate: Tensor  # (N, S)
    memory: Tensor  # (N, K, 2)


def follow(
    weights: Attentive, kind: Gate, z_static: Tensor, z_dyn: Tensor, u_star: Tensor, seen: Tensor,
    zeta: Tensor, omega_n: Tensor, dt: Tensor, gate: Tensor, memory: Tensor,
) -> Followed:  # fmt: skip
    """z (N, K), u_star (N,), seen (N,) bool: false on a stream's first frame; dt (N,) frames, knobs () or (N,)."""
    xp, classes = namespace(z_static), z_static.shape[-1]
    offsets, holds = (z_static.new_tensor(x) for x in weights.per_class(classes))
    alone = kind.without_inertia.reset(u_star, zeta, omega_n)[1] if kind.gated else xp.zeros_like(u_star)
    log_p = xp.log_softmax((fusion.mix(z_static, z_dyn, alone) + offsets) / weights.tau, -1)
    p = log_p.exp()
    m = xp.where(seen[:, None], memory[..., 0], p)
    certain = 1 + (p * log_p.clamp(min=-LARGEST_EXPONENT)).sum(-1) / math.log(classes)
    told = (1 - weights.eps) ** 2
    same = classes * told * (m * p).sum(-1) + 1 - told
    evidence = -xp.log(same.clamp(min=xp.finfo(same.dtype).tiny, max=1.0))
    turned = weights.a + weights.b * evidence + weights.d * certain + holds[m.argmax(-1)]
    cap = zeta + (zeta * zeta + 1) ** 0.5
    h = (0.5 * omega_n * dt * xp.exp(turned.clamp(-LARGEST_EXPONENT, LARGEST_EXPONENT))).clamp(max=cap)
    gain = 2 / (1 / h + 2 * zeta + h)
    omega, kept = 2 * h / dt, 1 - gain * h
    u, g, state = kind.frame(u_star, zeta, omega, dt, gate)
    state = state * (1 - (1 - kept[:, None]) * z_static.new_tensor(kind.brakes))
    p = xp.softmax((fusion.mix(z_static, z_dyn, g) + offsets) / weights.tau, -1)
    m, v = xp.where(seen[:, None], memory[..., 0], p), memory[..., 1] * seen[:, None]
    e = p - m
    m = m + gain[:, None] * (v + h[:, None] * e)
    v = kept[:, None] * (v + gain[:, None] * (e - (2 * zeta + h)[:, None] * v))
    above = m.clamp(min=FLOOR)
    answer = (above / above.amax(-1, keepdim=True)) ** math.exp(weights.t_0)
    answer = _shared(answer / answer.sum(-1, keepdim=True), p, weights.f)
    return Followed(answer, u, g, omega, state, xp.stack([m, v], -1))


def _shared(answer: Tensor, p: Tensor, f: float) -> Tensor:
    """(1 - s) answer + s p, each (N, K): s is f, or less where the answer's class would not stay on top."""
    xp, top = namespace(answer), answer.argmax(-1, keepdim=True)
    ahead, against = answer.gather(-1, top) - answer, p - p.gather(-1, top)
    tie = xp.where(against > 0, ahead / xp.where(against > 0, ahead + against, 1.0), 1.0)
    s = (KEPT * tie.amin(-1, keepdim=True)).clamp(max=f)
    return (1 - s) * answer + s * p
