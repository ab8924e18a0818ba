"""Attentive memory: a frame that contradicts what has been seen turns the operator's own knob up.

    z = the frame's fused logits, or, with a clip or a pool, tau log[(1 - clip) softmax(logits / tau) + clip / K]
    y = z,  s = m,  or, with a pool,  y = (tau / pool) (exp(pool z / tau) - 1),  s its inverse at m
    p_m = softmax(s / tau),  p_z = softmax(z / tau),  u~ = (u_star - u_mean) / u_scale
    x     = -log[K (1-eps)^2 <p_m, p_z> + 1 - (1-eps)^2]    a log Bayes factor: has the content changed?
    l    <- max(0, carry l + x)    evidence of a change
    omega = omega_n exp(a + few / (K-1) + b l + c u~ + d q),   q = 1 - H(p_z) / log K: how certain the frame is
    h     = min(omega dt / 2, zeta + sqrt(zeta^2 + 1)),  k = 2 / (1/h + 2 zeta + h),  e = y - m
    m <- m + k (v + h e),   v <- (1 - brake g) [v + k (e - (2 zeta + h) v)],   g = k h in (0, 1]
    p = softmax(s exp(t_0 - t_1 r + t_2 u~ + t_3 log n)),   r = max(0, x) with the new m,   n <- (1 - g) n + 1
    answer = (1 - f) p + f softmax(z exp(t_0)),   f = eye, or what keeps the memory's class on top if that is less
so m' = g y + (1 - g) [m + k v / (1 - g)]: the gate's own recursion (`knob_core.gate`), in which any sequence of knobs
is stable. The cap on h is where g reaches 1. n counts the frames that the memory rests on: agreement adds up. With
carry contradiction adds up too: one odd frame does not open the gate, a second one does, and agreement takes evidence
back. With a brake the memory arrives at rest where the gate opened: a knob of little damping does not ring after every
cut. With an eye the answer admits what the frame sees: the class is still the memory's, but less sure where the frame
disagrees. With a clip no frame is surer than that: one that is surely wrong does not cost many right ones.
The pool says which mean of the frames' probabilities is remembered: 0 the geometric one, in which a frame that rules a
class out has much to say, 1 the arithmetic one, in which it has no more to say than any other, or a power between.
A frame that did not come brings no evidence, and what had been gathered is gone: the memory goes on to the last frame
with l = 0.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from knob_core import fusion, gaps
from knob_core._arrays import checks as check
from knob_core._arrays.checks import PerStream, namespace
from knob_core.memories import _attentive_tensors as tensors
from knob_core.memories._attentive_loops import Weights, attend, certainty, clipped, logits_of, pooled, turned_by
from knob_core.memories.base import Gap, Inputs, Memory, Remembered

if TYPE_CHECKING:
    from torch import Tensor

LIMIT = 100.0  # no weight is larger in size
RANGES = {"tau": (1e-3, LIMIT), "u_scale": (1e-3, LIMIT)}
RANGES |= dict.fromkeys(("eps", "brake", "eye", "carry", "clip", "pool"), (0.0, 1.0))


@dataclass(frozen=True)
class Attentive(Memory):
    """The weights, fitted once per model; `UNFITTED` are those of a model that nobody fitted.

    A weight that a file leaves out has the value below, whatever `UNFITTED` is: files keep their meaning.
    """

    a: float = 1.5  # log of omega / omega_n at a frame that confirms, of many classes
    b: float = 4.7  # how strongly contradiction turns omega up
    c: float = 0.0  # how strongly u_star does
    d: float = 0.0  # how strongly a certain frame does
    tau: float = 1.45  # temperature at which frame and memory are compared
    eps: float = 0.02  # share of frames that say nothing about the content
    t_0: float = 0.0  # log of 1 / temperature of the answer
    t_1: float = 0.0  # modesty while conflict is left
    t_2: float = 0.0  # confidence with u_star
    t_3: float = 0.0  # confidence with agreement
    brake: float = 0.0  # share of its speed that the memory loses where the gate opens
    eye: float = 0.0  # share of the frame's own probabilities in the answer
    carry: float = 0.0  # share of the evidence that stays for the next frame
    clip: float = 0.0  # share of certainty that no frame is believed: each class keeps clip / K
    pool: float = 0.0  # power of the mean of probabilities that is remembered: 0 geometric, 1 arithmetic
    few: float = 0.0  # how much more alert with few classes, where a doubtful frame contradicts little
    u_mean: float = 0.0  # of u_star
    u_scale: float = 1.0

    name = "attentive"

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= LIMIT:
                raise ValueError(f"{field.name} is {check.shown(value)}, expected a number in [-{LIMIT:g}, {LIMIT:g}]")
            object.__setattr__(self, field.name, float(value))
        for name, (low, high) in RANGES.items():
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name} is {getattr(self, name)!r}, expected a number in [{low:g}, {high:g}]")

    def to_dict(self) -> dict[str, float]:
        """For a header or a settings file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, table: Any) -> Attentive:
        """Read what `to_dict` gave, from anybody."""
        known = [field.name for field in fields(cls)]
        if not isinstance(table, dict) or not set(table) <= set(known):
            odd = sorted(set(table) - set(known)) if isinstance(table, dict) else table
            raise ValueError(f"attentive memory has {check.shown(odd)}, expected a table of {', '.join(known)}")
        return cls(**table)

    def warmer(self, temperature: float) -> Attentive:
        """The same with the logits of memory and frame divided by `temperature` in the answer."""
        return replace(self, t_0=self.t_0 - math.log(temperature))

    # Frames

    def at_rest(self, streams: int, classes: int) -> np.ndarray:
        """(N, K + 1, 2): [m, v] per class, and [n, l] last."""
        return np.zeros((streams, classes + 1, 2))

    def start(self, z: np.ndarray) -> np.ndarray:
        """The state (N, K + 1, 2) of streams whose first frame has logits z (N, K): there already, and still."""
        state = self.at_rest(*z.shape)
        state[:, :-1, 0] = pooled(z, self.bend)
        return state

    @property
    def bend(self) -> float:
        """What a state's numbers mean: 0 logits, else powers of probabilities (`pooled`)."""
        return self.pool / self.tau

    def converted(self, state: np.ndarray, bend: np.ndarray) -> np.ndarray:
        """States (N, K + 1, 2) kept by weights of another bend (N,), as these keep them: the same logits, and still."""
        state = state.copy() if (bend != self.bend).any() else state
        for other in set(bend.tolist()) - {self.bend}:
            z = clipped(logits_of(state[bend == other, :-1, 0], other), 1 / self.tau, 0.0)  # tau log p
            state[bend == other, :-1] = np.stack([pooled(z, self.bend), np.zeros_like(z)], -1)
        return state

    def clipped(self, z: np.ndarray) -> np.ndarray:
        """Logits (..., K) as they enter; without a clip and a pool, as they come."""
        return clipped(z, 1 / self.tau, self.clip) if self.clip > 0 or self.pool > 0 else z

    def command(self, u_star: np.ndarray) -> np.ndarray:
        """u~, standardised."""
        return (np.asarray(u_star, np.float64) - self.u_mean) / self.u_scale

    def run(self, frames: Inputs[np.ndarray], zeta: Any, omega_n: Any, state: Any = None) -> Remembered[np.ndarray]:
        z = fused(frames)  # (R, T, K)
        return self.run_logits(z, zeta, omega_n, state, self.command(frames.u_star))

    def run_logits(
        self, z: np.ndarray, zeta: Any, omega_n: Any, state: Any = None, u: np.ndarray | None = None
    ) -> Remembered[np.ndarray]:
        """The same for logits (R, T, K) and standardised commands (R, T); None for a model without u_star."""
        z = self.clipped(np.ascontiguousarray(z, np.float64))
        lead = z.shape[:2]
        zeta, omega_n, _ = check.knobs(zeta, omega_n, 1.0)
        knobs = (np.broadcast_to(np.asarray(x, np.float64), lead) for x in (zeta, omega_n, 1.0))
        u = np.broadcast_to(0.0, lead) if u is None else np.asarray(u, np.float64)
        state = self.start(z[:, 0]) if state is None else np.array(state, np.float64)
        answer, g = np.empty_like(z), np.empty(lead)
        attend(z, u, np.broadcast_to(False, lead), *knobs, self.weights(z.shape[-1]), state, answer, g)
        return Remembered(answer, g, state)

    def advance(
        self, now: Inputs[np.ndarray], gap: Gap, zeta: PerStream, omega_n: PerStream, state: np.ndarray
    ) -> Remembered[np.ndarray]:
        z, u = self.clipped(fused(now)), self.command(now.u_star)
        state = np.where(gap.first[:, None, None], self.start(z), state)
        steps, dt = gaps.split(gap.elapsed)
        late = steps > 1
        if late.any():
            state = self._coast(gap.held, late, steps, dt, zeta, omega_n, state)
        answer, g = np.empty_like(z)[:, None], np.empty((len(z), 1))
        knobs = (np.broadcast_to(np.reshape(np.asarray(x, np.float64), (-1, 1)), (len(z), 1)) for x in (zeta, omega_n))
        weights = self.weights(z.shape[-1])
        attend(z[:, None], u[:, None], gap.missing[:, None], *knobs, dt[:, None], weights, state, answer, g)
        seen = logits_of(state[:, :-1, 0], weights.bend)
        return Remembered(answer[:, 0], g[:, 0], state, _memory_side(z, g, seen), z)

    def frame(
        self, now: Inputs[Tensor], seen: Tensor, zeta: Tensor, omega_n: Tensor, dt: Tensor, state: Tensor
    ) -> Remembered[Tensor]:
        z, u = fusion.mix(now.z_static, now.z_dyn, now.g_now), (now.u_star - self.u_mean) / self.u_scale
        z = tensors.clipped(z, 1 / self.tau, self.clip) if self.clip > 0 or self.pool > 0 else z
        state = namespace(z).where(seen[:, None, None], state, tensors.start(z, self.bend))
        return tensors.attend(z, u, zeta, omega_n, dt, self.weights(z.shape[-1]), state)

    def _coast(
        self, held: Inputs[np.ndarray], late: np.ndarray, steps: np.ndarray, dt: np.ndarray,
        zeta: PerStream, omega_n: PerStream, state: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        """All but the last of a gap's frames: no evidence, so omega stands still and many frames are one power."""
        damping, base = (np.broadcast_to(np.asarray(x, np.float64), late.shape)[late] for x in (zeta, omega_n))  # (n,)
        held, state = Inputs(*(x[late] for x in held)), state.copy()
        z = self.clipped(fused(held))
        drive = self._alert(z.shape[-1]) + self.c * self.command(held.u_star) + self.d * certainty(z, 1 / self.tau)
        omega = np.minimum(base * turned_by(drive), 2 * largest_h(damping) / dt[late])  # (n,)
        y = pooled(z, self.bend)
        moved = gaps.coast(y, damping[:, None], omega[:, None], dt[late][:, None], steps[late][:, None] - 1,
                           state[late, :-1], self.brake)  # fmt: skip
        share = _gain(damping, omega * dt[late] / 2)  # g of one such frame
        n = state[late, -1, 0]
        state[late, :-1] = moved
        state[late, -1, 0] = 1 / share + (1 - share) ** (steps[late] - 1) * (n - 1 / share)
        state[late, -1, 1] = 0.0
        return state

    def _alert(self, classes: int) -> float:
        """log of omega / omega_n at a frame that confirms."""
        return self.a + self.few / (classes - 1)

    def weights(self, classes: int) -> Weights:
        """As the loops take them, for so many classes."""
        turn, answer = (self._alert(classes), self.b, self.c, self.d), (self.t_0, self.t_1, self.t_2, self.t_3)
        rest = (self.brake, self.eye, self.carry, self.bend)
        return Weights(*turn, 1 / self.tau, (1 - self.eps) ** 2, *answer, *rest)


# For a model that nobody fitted: at the home setting hardly slower than the model alone, whatever it is; calm where
# omega_n is turned down. `python -m train.outside.unfitted choose` is the rule.
UNFITTED = Attentive(a=1.5, b=3.0, tau=1.4, eps=0.3, brake=1.0, eye=0.9, few=0.9)


def fused(frames: Inputs[np.ndarray]) -> np.ndarray:
    """The frame's own fused logits, float64: what the network says without any memory."""
    return np.asarray(fusion.fuse(frames.z_static, frames.z_dyn, frames.g_now), np.float64)


def largest_h(zeta: Any) -> Any:
    """The h at which g = 1."""
    return zeta + np.sqrt(zeta * zeta + 1)


def _gain(zeta: np.ndarray, h: np.ndarray) -> np.ndarray:
    """g = k h."""
    return 2 * h / (1 / h + 2 * zeta + h)


def _memory_side(z: np.ndarray, g: np.ndarray, after: np.ndarray) -> np.ndarray:
    """What is mixed with z in the shares 1 - g and g to give the memory's logits (N, K); z where g is all."""
    rest = 1 - g
    open_wide = rest < 1e-9
    return np.where(open_wide, z, (after - g * z) / np.where(open_wide, 1.0, rest))
