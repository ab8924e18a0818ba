"""One frame of attentive memory on tensors: for exported graphs, and for gradients in training.

The equations stand in `knob_core.memories.attentive`, in NumPy in `knob_core.memories._attentive_loops`. Nothing is
changed in place and nothing is checked; gradients reach logits, command, knobs, state, and weights that are tensors.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from knob_core._arrays.checks import namespace
from knob_core.memories._attentive_loops import FLOOR, KEPT, LARGEST_SCALE, Weights
from knob_core.memories.base import Remembered

if TYPE_CHECKING:
    from torch import Tensor

LARGEST_EXPONENT = 80.0  # exp of it is finite in single precision, and more than opens any gate
OPEN = 1e-6  # where 1 - g is smaller, the memory has no share that single precision could show


def start(z: Tensor, bend: float = 0.0) -> Tensor:
    """The state (N, K + 1, 2) of streams whose first frame has logits z (N, K): there already, and still."""
    xp = namespace(z)
    m = xp.cat([pooled(z, bend), xp.zeros_like(z[:, :1])], 1)  # (N, K + 1), the last for n and l
    return xp.stack([m, xp.zeros_like(m)], -1)


def clipped(z: Tensor, sharp: float, clip: float) -> Tensor:
    """log[(1 - clip) softmax(z sharp) + clip / K] / sharp, of logits z (N, K)."""
    xp = namespace(z)
    p = (1 - clip) * xp.softmax(z * sharp, -1) + clip / z.shape[-1]
    return xp.log(p.clamp(min=xp.finfo(z.dtype).tiny)) / sharp


def pooled(z: Tensor, bend: float) -> Tensor:
    """(exp(bend z) - 1) / bend, what the memory takes the mean of; with bend 0, z itself."""
    return (namespace(z).exp(bend * z) - 1) / bend if bend > 0 else z


def logits_of(m: Tensor, bend: float) -> Tensor:
    """The inverse of `pooled`."""
    return namespace(m).log((1 + bend * m).clamp(min=FLOOR)) / bend if bend > 0 else m


def _change(seen: Tensor, p_z: Tensor, w: Weights) -> Tensor:
    """x (N,) of the memory's logits (N, K) and a frame's p_z (N, K)."""
    xp = namespace(seen)
    overlap = (xp.softmax(seen * w.sharp, -1) * p_z).sum(-1)
    ratio = seen.shape[-1] * w.informative * overlap + (1 - w.informative)
    return -xp.log(ratio.clamp(min=xp.finfo(seen.dtype).tiny))


def _certainty(x: Tensor) -> Tensor:
    """q (N,) = 1 - H / log K of softmax(x), x (N, K)."""
    log_p = namespace(x).log_softmax(x, -1).clamp(min=-LARGEST_EXPONENT)  # 0 log 0 is 0, not NaN
    return 1 + (log_p.exp() * log_p).sum(-1) / math.log(x.shape[-1])


def _shared(memory: Tensor, frame: Tensor, eye: float) -> Tensor:
    """log[(1 - s) p_m + s p_z] of logits (N, K): s = eye, or as much of it as leaves the memory's class on top."""
    xp = namespace(memory)
    p_m, p_z, top = xp.softmax(memory, -1), xp.softmax(frame, -1), memory.argmax(-1, keepdim=True)
    ahead, against = p_m.gather(-1, top) - p_m, p_z - p_z.gather(-1, top)  # (N, K)
    tie = xp.where(against > 0, ahead / xp.where(against > 0, ahead + against, 1.0), 1.0)
    share = (KEPT * tie.amin(-1, keepdim=True)).clamp(max=eye)
    return xp.log(((1 - share) * p_m + share * p_z).clamp(min=xp.finfo(p_m.dtype).tiny))


def attend(
    z: Tensor, u: Tensor, zeta: Tensor, omega_n: Tensor, dt: Tensor, w: Weights, state: Tensor
) -> Remembered[Tensor]:
    """z (N, K) logits, u (N,) standardised command, dt (N,) frames, knobs () or (N,), state (N, K + 1, 2)."""
    xp = namespace(z)
    m, v, n, evidence = state[:, :-1, 0], state[:, :-1, 1], state[:, -1, 0], state[:, -1, 1]
    p_z = xp.softmax(z * w.sharp, -1)
    evidence = (w.carry * evidence + _change(logits_of(m, w.bend), p_z, w)).clamp(min=0.0)
    drive = w.a + w.b * evidence + w.c * u + w.d * _certainty(z * w.sharp)
    turned = xp.exp(drive.clamp(-LARGEST_EXPONENT, LARGEST_EXPONENT))  # (N,) omega / omega_n
    h = (0.5 * omega_n * dt * turned).clamp(max=zeta + (zeta * zeta + 1) ** 0.5)
    k = 2 / (1 / h + 2 * zeta + h)
    g = (k * h).clamp(max=1.0)
    e = pooled(z, w.bend) - m
    after = m + k[:, None] * (v + h[:, None] * e)
    v = (1 - w.brake * g)[:, None] * (v + k[:, None] * (e - (2 * zeta + h)[:, None] * v))
    n = (1 - g) * n + 1
    seen = logits_of(after, w.bend)
    exponent = w.t_0 - w.t_1 * _change(seen, p_z, w).clamp(min=0.0) + w.t_2 * u + w.t_3 * xp.log(n)
    scale = xp.exp(exponent.clamp(-LARGEST_SCALE, LARGEST_SCALE))
    m_and_n = xp.cat([after, n[:, None]], 1)  # (N, K + 1)
    v_and_l = xp.cat([v, evidence[:, None]], 1)
    answer = seen * scale[:, None]
    if w.eye > 0:
        own_scale = xp.exp((w.t_0 + xp.zeros_like(n)).clamp(-LARGEST_SCALE, LARGEST_SCALE))
        answer = _shared(answer, z * own_scale[:, None], w.eye)
    return Remembered(answer, g, xp.stack([m_and_n, v_and_l], -1), _memory_side(z, g, seen), z)


def _memory_side(z: Tensor, g: Tensor, after: Tensor) -> Tensor:
    """(N, K): what is mixed with z in the shares 1 - g and g; z itself where the eye has it all."""
    xp, rest = namespace(z), (1 - g)[:, None]
    open_wide = rest < OPEN
    return xp.where(open_wide, z, (after - g[:, None] * z) / xp.where(open_wide, 1.0, rest))
