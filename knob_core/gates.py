"""The kinds of gate, as objects: what turns the command u_star into g, and everything that is known about it.

    NoGate        g = 0: the model answers with one branch
    Instant       g = sigmoid(u_star)
    FirstOrder    g follows sigmoid(u_star) as an exponential moving average (`knob_core.ema`)
    SecondOrder   u follows u_star as a damped spring, g = sigmoid(u) (`knob_core.gate`)
A new kind is one subclass of `Gate`, here or in a file of its own, and one row of `knob_core.methods`. Arrays may be
NumPy's or tensors.

Reset Mode has two forms. Literal is one step from rest as the recursion makes it, which shrinks u_star to a small part.
Normalised is sigmoid(kappa(knobs) / kappa(trained knobs) u_star): still one step, and turning does the same, but at the
knobs that a model was trained with its gate is the one that its command was trained through.
"""

from __future__ import annotations

import copy
import math
from functools import lru_cache
from typing import Any, ClassVar, Generic, NamedTuple, Self

import numpy as np

from knob_core import gaps, gate, theory
from knob_core._arrays import checks as check
from knob_core._arrays.checks import A, Knob, PerStream, is_tensor, namespace
from knob_core.ema import NEUTRAL, ema_alpha, run_ema
from knob_core.gate import sigmoid

THEORY_FRAMES = 2000  # the slowest knobs of the console have settled by then


class Moved(NamedTuple, Generic[A]):
    """Where a gate went."""

    u: A  # latent, shaped like u_star
    g: A  # in [0, 1], alike
    state: Any  # after the last frame; None where the kind keeps none


class Frame(NamedTuple):
    """One frame's command of N streams, and what a gap before it is filled with."""

    u_star: np.ndarray  # (N,)
    held: np.ndarray  # (N,) the frame before's command
    elapsed: np.ndarray  # (N,) frames since that one


class Motion(NamedTuple):
    """A kind of gate as the compiled spring takes it (`knob_core.memories`)."""

    mixes: bool  # there are two branches, mixed with the gate; else z_static answers alone
    order: int = 0  # 0 follows at once; 1 is the gate itself as a moving average; 2 the spring
    lag: float = 0.0  # rate, in units of omega, of a lag between u_star and the spring; 0: there is none


class OneStep(NamedTuple):
    """One frame from rest in numbers: g = rest + share (sigmoid(gain u_star) - rest)."""

    gain: Any
    share: Any
    rest: float


class Regime(NamedTuple):
    """How the gate answers a sudden change."""

    zone: str  # "under", "critical" or "over"; empty where damping has no say
    words: str


class Gate:
    """What every kind answers. Knobs: zeta, omega_n (rad/frame); a kind ignores those that do not act on it."""

    name: ClassVar[str]  # the kind in words
    gated: ClassVar[bool] = True  # there are two branches and a gate between them
    inertia: ClassVar[bool] = True  # the gate of a frame depends on the frames before
    knobs: ClassVar[tuple[str, ...]] = ()  # those that act on it
    rest: ClassVar[tuple[float, ...]] = (0.0, 0.0)  # (S,) the state of a stream at rest
    within: ClassVar[tuple[float, float]] = (-math.inf, math.inf)  # what the first number of a state may be
    brakes: ClassVar[tuple[float, ...]] = (
        0.0,
        0.0,
    )  # taken of each part by the memory, where it acts
    reference: float | None = None  # kappa at the trained knobs where Reset Mode is normalised; None: literal

    def kappa(self, zeta: Knob, omega_n: Knob) -> Any:
        """The part of its way that the latent makes in one frame from rest, for knobs that are known to be good."""
        return 1.0

    def normalised(self, reference: float | None) -> Self:
        """This kind with Reset Mode normalised at kappa = `reference`; literal for None."""
        if reference is None and self.reference is None:
            return self
        if reference is not None and not 0.0 < reference <= 4.0:
            raise ValueError(f"reference is {reference!r}, expected kappa of some knobs, in (0, 4]")
        changed = copy.copy(self)
        changed.reference = reference if self.inertia else None
        return changed

    @property
    def without_inertia(self) -> Gate:
        """What is left of it when it is switched off."""
        return INSTANT

    # Frames

    def run(self, u_star: A, zeta: Knob, omega_n: Knob, state: Any = None) -> Moved[A]:
        """All frames of u_star (..., T), from `state` (None: at rest)."""
        raise NotImplementedError

    def advance(self, now: Frame, zeta: PerStream, omega_n: PerStream, state: np.ndarray) -> Moved[np.ndarray]:
        """One frame of N streams, state (N, S) like `rest`, knobs for all or (N,); a missing one is the last, held."""
        raise NotImplementedError

    def frame(self, u_star: A, zeta: Knob, omega_n: Knob, dt: Knob, state: A) -> Moved[A]:
        """One frame of N streams without a gap and without checks, for graphs: state (N, S) in and out."""
        raise NotImplementedError

    def packed(self, state: np.ndarray) -> np.ndarray:
        """The state that `run` gave, as rows (N, S) like `rest`."""
        return state

    def unpacked(self, rows: np.ndarray) -> np.ndarray:
        """Rows (N, S) as `run` takes them."""
        return rows

    def reset(self, u_star: A, zeta: Knob, omega_n: Knob) -> tuple[A, A]:
        """(u, g) after one frame from rest: Reset Mode."""
        raise NotImplementedError

    def reset_g(self, u_star: A, zeta: Knob, omega_n: Knob) -> A:
        """g of `reset` alone, for knobs that are known to be good."""
        return self.reset(u_star, zeta, omega_n)[1]

    def one_step(self, zeta: float, omega_n: float) -> OneStep:
        """Reset Mode as three numbers."""
        return OneStep(1.0, 1.0, NEUTRAL)

    @property
    def motion(self) -> Motion:
        """This kind as the compiled spring takes it."""
        return Motion(self.gated)

    # Theory

    def smooth(self, x: np.ndarray, zeta: float, omega_n: float) -> np.ndarray:
        """What inertia makes of any signal x (..., T), from rest in zero for a linear kind."""
        return x

    def step_response(self, zeta: float, omega_n: float, n: int) -> np.ndarray:
        """(n,) the part of the way after a unit step of the command; NaN where there is nothing to move."""
        return np.ones(n)

    def reset_response(self, zeta: float, omega_n: float, n: int) -> np.ndarray:
        """(n,) the same in Reset Mode, where u is linear in u_star; else NaN."""
        return self.step_response(zeta, omega_n, n)

    def step_info(self, zeta: float, omega_n: float) -> theory.StepInfo:
        """Rise, settling and overshoot by theory."""
        return _step_info(self, float(zeta), float(omega_n))

    def frequency_response(self, zeta: float, omega_n: float, freq: np.ndarray) -> np.ndarray:
        """(F,) complex, at freq in cycles/frame."""
        return np.ones(len(freq), complex)

    def bandwidth(self, zeta: float, omega_n: float) -> float:
        """Cycles/frame at which the power has fallen to half; infinite where it never does."""
        return math.inf

    def poles(self, zeta: Knob, omega_n: Knob) -> theory.Poles | None:
        """In both planes; None where there is nothing to draw."""
        return None

    def regime(self, zeta: float, omega_n: float) -> Regime:
        """What the knobs' position means, in words."""
        raise NotImplementedError


class NoGate(Gate):
    """One branch answers, whatever the command says."""

    name = "no gate"
    gated = inertia = False

    @property
    def without_inertia(self) -> Gate:
        return self

    def run(self, u_star: A, zeta: Knob, omega_n: Knob, state: Any = None) -> Moved[A]:
        return Moved(*self.reset(u_star, zeta, omega_n), state)

    def advance(self, now: Frame, zeta: PerStream, omega_n: PerStream, state: np.ndarray) -> Moved[np.ndarray]:
        return self.run(now.u_star, zeta, omega_n, state)

    def frame(self, u_star: A, zeta: Knob, omega_n: Knob, dt: Knob, state: A) -> Moved[A]:
        return self.run(u_star, zeta, omega_n, state + 0 * u_star[..., None])  # an output must not be the input itself

    def reset(self, u_star: A, zeta: Knob, omega_n: Knob) -> tuple[A, A]:
        return u_star, namespace(u_star).zeros_like(u_star)

    def one_step(self, zeta: float, omega_n: float) -> OneStep:
        return OneStep(1.0, 0.0, 0.0)

    def step_response(self, zeta: float, omega_n: float, n: int) -> np.ndarray:
        return np.full(n, np.nan)

    def regime(self, zeta: float, omega_n: float) -> Regime:
        return Regime("", "This model has no gate")


class Instant(NoGate):
    """The gate follows its command at once."""

    name = "no inertia"
    gated = True

    def reset(self, u_star: A, zeta: Knob, omega_n: Knob) -> tuple[A, A]:
        return u_star, sigmoid(u_star)

    def one_step(self, zeta: float, omega_n: float) -> OneStep:
        return OneStep(1.0, 1.0, NEUTRAL)

    def step_response(self, zeta: float, omega_n: float, n: int) -> np.ndarray:
        return np.ones(n)

    def regime(self, zeta: float, omega_n: float) -> Regime:
        return Regime("", "This model's gate has no inertia")


class FirstOrder(Gate):
    """ODE-Lite: an exponential moving average of the gate itself. A state of N streams is [g, 0]."""

    name = "first order"
    knobs = ("omega_n",)
    rest = (NEUTRAL, 0.0)
    within = (0.0, 1.0)

    def run(self, u_star: A, zeta: Knob, omega_n: Knob, state: Any = None) -> Moved[A]:
        g, end = run_ema(sigmoid(u_star), omega_n, state=state)
        return Moved(logit(g), g, end)

    def advance(self, now: Frame, zeta: PerStream, omega_n: PerStream, state: np.ndarray) -> Moved[np.ndarray]:
        g = gaps.advance_ema(sigmoid(now.u_star), sigmoid(now.held), omega_n, now.elapsed, state[:, 0])
        return Moved(logit(g), g, np.stack([g, np.zeros_like(g)], axis=-1))

    def packed(self, state: np.ndarray) -> np.ndarray:
        return np.stack([state, np.zeros_like(state)], axis=-1)

    def unpacked(self, rows: np.ndarray) -> np.ndarray:
        return rows[..., 0]

    def frame(self, u_star: A, zeta: Knob, omega_n: Knob, dt: Knob, state: A) -> Moved[A]:
        xp, g = namespace(u_star), state[..., 0]
        g = g + ema_alpha(omega_n, dt) * (sigmoid(u_star) - g)
        return Moved(logit(g), g, xp.stack([g, xp.zeros_like(g)], -1))

    @property
    def motion(self) -> Motion:
        return Motion(True, 1)

    def kappa(self, zeta: Knob, omega_n: Knob) -> Any:
        return ema_alpha(omega_n)

    def reset(self, u_star: A, zeta: Knob, omega_n: Knob) -> tuple[A, A]:
        g = self.reset_g(u_star, zeta, omega_n)
        return logit(g), g

    def reset_g(self, u_star: A, zeta: Knob, omega_n: Knob) -> A:
        if self.reference is not None:
            return sigmoid(self.kappa(zeta, omega_n) / self.reference * u_star)
        return NEUTRAL + ema_alpha(omega_n) * (sigmoid(u_star) - NEUTRAL)

    def one_step(self, zeta: float, omega_n: float) -> OneStep:
        if self.reference is not None:
            return OneStep(self.kappa(zeta, omega_n) / self.reference, 1.0, NEUTRAL)
        return OneStep(1.0, ema_alpha(omega_n), NEUTRAL)

    def smooth(self, x: np.ndarray, zeta: float, omega_n: float) -> np.ndarray:
        return run_ema(x, omega_n)[0]

    def step_response(self, zeta: float, omega_n: float, n: int) -> np.ndarray:
        return theory.ema_step_response(omega_n, n)

    def reset_response(self, zeta: float, omega_n: float, n: int) -> np.ndarray:
        return np.full(n, np.nan)

    def frequency_response(self, zeta: float, omega_n: float, freq: np.ndarray) -> np.ndarray:
        return theory.ema_frequency_response(omega_n, freq)

    def bandwidth(self, zeta: float, omega_n: float) -> float:
        return float(theory.ema_bandwidth(omega_n))

    def poles(self, zeta: Knob, omega_n: Knob) -> theory.Poles | None:
        _, omega = np.broadcast_arrays(zeta, np.asarray(omega_n, np.float64))
        return theory.Poles(-omega[..., None] + 0j, theory.ema_pole(omega)[..., None] + 0j)

    def regime(self, zeta: float, omega_n: float) -> Regime:
        return Regime("", "First-order gate: only ωₙ acts on it, and it never overshoots.")


class SecondOrder(Gate):
    """Knob-ODE: a mass on a spring with a damper. A state is [u, v]."""

    name = "second order"
    knobs = ("zeta", "omega_n")
    brakes: ClassVar[tuple[float, ...]] = (0.0, 1.0)

    def run(self, u_star: A, zeta: Knob, omega_n: Knob, state: Any = None) -> Moved[A]:
        u, end = gate.run(u_star, zeta, omega_n, state=state)
        return Moved(u, sigmoid(u), end)

    def advance(self, now: Frame, zeta: PerStream, omega_n: PerStream, state: np.ndarray) -> Moved[np.ndarray]:
        u, end = gaps.advance(now.u_star, now.held, zeta, omega_n, now.elapsed, state)
        return Moved(u, sigmoid(u), end)

    def frame(self, u_star: A, zeta: Knob, omega_n: Knob, dt: Knob, state: A) -> Moved[A]:
        u, end = gaps.step(u_star, zeta, omega_n, dt, state)
        return Moved(u, sigmoid(u), end)

    @property
    def motion(self) -> Motion:
        return Motion(True, 2)

    def kappa(self, zeta: Knob, omega_n: Knob) -> Any:
        return gate.one_step_gain(zeta, omega_n)

    def reset_gain(self, zeta: Knob, omega_n: Knob) -> Any:
        """u / u_star in Reset Mode."""
        zeta, omega_n, _ = check.together(*check.knobs(zeta, omega_n, 1.0))
        return self.kappa(zeta, omega_n) / (self.reference or 1.0)

    def reset(self, u_star: A, zeta: Knob, omega_n: Knob) -> tuple[A, A]:
        u = u_star * self.reset_gain(zeta, omega_n)
        return u, sigmoid(u)

    def reset_g(self, u_star: A, zeta: Knob, omega_n: Knob) -> A:
        return sigmoid(self.kappa(zeta, omega_n) / (self.reference or 1.0) * u_star)

    def one_step(self, zeta: float, omega_n: float) -> OneStep:
        return OneStep(self.reset_gain(zeta, omega_n), 1.0, NEUTRAL)

    def smooth(self, x: np.ndarray, zeta: float, omega_n: float) -> np.ndarray:
        return gate.run(x, zeta, omega_n)[0]

    def step_response(self, zeta: float, omega_n: float, n: int) -> np.ndarray:
        return theory.step_response(zeta, omega_n, n)

    def reset_response(self, zeta: float, omega_n: float, n: int) -> np.ndarray:
        return np.full(n, self.reset_gain(zeta, omega_n))

    def frequency_response(self, zeta: float, omega_n: float, freq: np.ndarray) -> np.ndarray:
        return theory.frequency_response(zeta, omega_n, freq)

    def bandwidth(self, zeta: float, omega_n: float) -> float:
        return float(theory.bandwidth(zeta, omega_n))

    def poles(self, zeta: Knob, omega_n: Knob) -> theory.Poles | None:
        return theory.poles(zeta, omega_n)

    def regime(self, zeta: float, omega_n: float) -> Regime:
        zone = {"underdamped": "under", "undamped": "under", "overdamped": "over"}.get(theory.regime(zeta), "critical")
        info = self.step_info(zeta, omega_n)
        many = "s" * (info.RiseTime != 1)
        rises = f"{info.RiseTime:.0f} frame{many}" if math.isfinite(info.RiseTime) else "a very long time"
        words = {
            "under": f"Under-damped: overshoots a change by {info.Overshoot:.0f} %, rises in {rises}.",
            "critical": f"Critically damped: rises in {rises}, with no overshoot.",
            "over": f"Over-damped: creeps to a change in {rises}, never overshoots.",
        }
        return Regime(zone, words[zone])


NO_GATE, INSTANT, FIRST_ORDER, SECOND_ORDER = NoGate(), Instant(), FirstOrder(), SecondOrder()


@lru_cache(maxsize=64)
def _step_info(kind: Gate, zeta: float, omega_n: float) -> theory.StepInfo:
    """Asked for by several panels at one position of the knobs."""
    return theory.step_info(np.nan_to_num(kind.step_response(zeta, omega_n, THEORY_FRAMES)), final=1.0)


def logit(g: A) -> A:
    """The latent of a gate g, which is kept off its ends."""
    if is_tensor(g):
        return namespace(g).logit(g, 1e-7)
    g = np.clip(g, 1e-7, 1 - 1e-7)
    return np.log(g / (1 - g))
