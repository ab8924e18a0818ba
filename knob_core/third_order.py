"""The third-order gate: a first-order lag, and behind it the spring of `knob_core.gate`, both at the same omega_n.

    w <- w + alpha (u_star - w),  alpha = 1 - exp(-rate omega_n dt);    [u, v] <- one step of the spring towards w
The paper's open question 2: its transfer function falls by 60 dB a decade beyond omega_n, that of the spring by 40.

Turning the knobs never drives it, in the coordinates of the spring. For a command c that stands still,
    F = |(u - w, v)| + |w - c|
never grows, whatever zeta >= 0 and omega_n > 0 do from frame to frame. Proof: the lag goes straight towards c, so
|w - c| shrinks by the way d that w makes; as w moves, the spring's distance |(u - w, v)| from its rest grows by d at
most; and its own step only lessens that, since u^2 + v^2 about a command is its Lyapunov function for all knobs.
No quadratic function does as much: at zeta = 0 it would have to be u^2 + v^2 - u w + v w + r w^2 about c, in continuous
time, and that falls for zeta <= 4 (2 r - 1) alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from knob_core import gaps, gate, theory
from knob_core._arrays.checks import A, Knob, PerStream, namespace
from knob_core.ema import ema_alpha, run_ema
from knob_core.gate import sigmoid
from knob_core.gates import Frame, Motion, Moved, SecondOrder


class ThirdOrder(SecondOrder):
    """A lag before the spring. A state is [u, v, w]."""

    name = "third order"
    rest = (0.0, 0.0, 0.0)
    brakes = (0.0, 1.0, 0.0)

    def __init__(self, rate: float = 1.0) -> None:
        self.rate = rate  # of the lag, in units of omega_n; without limit the spring alone is left

    @property
    def motion(self) -> Motion:
        return Motion(True, 2, self.rate)

    def run(self, u_star: A, zeta: Knob, omega_n: Knob, state: Any = None) -> Moved[A]:
        spring, w = (None, 0.0) if state is None else (state[..., :2], state[..., 2])
        lagged, w = run_ema(u_star, self.rate * omega_n, state=w)
        u, spring = gate.run(lagged, zeta, omega_n, state=spring)
        return Moved(u, sigmoid(u), namespace(u).concatenate([spring, w[..., None] + 0 * spring[..., :1]], -1))

    def advance(self, now: Frame, zeta: PerStream, omega_n: PerStream, state: np.ndarray) -> Moved[np.ndarray]:
        m, dt = gaps.split(now.elapsed)
        if (m > 1).any():
            held = np.stack([now.held, np.zeros_like(now.held), now.held], -1)
            whole = gaps.power(self._deviation(zeta, omega_n, dt), m - 1)
            state = np.where(m[:, None] > 1, held + np.einsum("nij,nj->ni", whole, state - held), state)
        return self.frame(now.u_star, zeta, omega_n, dt, state)

    def _deviation(self, zeta: PerStream, omega_n: PerStream, dt: np.ndarray) -> np.ndarray:
        """(N, 3, 3): what a frame makes of a deviation from rest in a held command."""
        a, b = gate.coefficients(zeta, omega_n, dt)
        kept = 1 - ema_alpha(self.rate * omega_n, dt)
        whole = np.zeros((len(dt), 3, 3))
        whole[:, :2, :2], whole[:, :2, 2], whole[:, 2, 2] = a, b * kept[:, None], kept
        return whole

    def frame(self, u_star: A, zeta: Knob, omega_n: Knob, dt: Knob, state: A) -> Moved[A]:
        w = state[..., 2]
        w = w + ema_alpha(self.rate * omega_n, dt) * (u_star - w)
        u, spring = gaps.step(w, zeta, omega_n, dt, state[..., :2])
        return Moved(u, sigmoid(u), namespace(u).stack([u, spring[..., 1], w], -1))

    def kappa(self, zeta: Knob, omega_n: Knob) -> Any:
        return ema_alpha(self.rate * omega_n) * super().kappa(zeta, omega_n)

    def smooth(self, x: np.ndarray, zeta: float, omega_n: float) -> np.ndarray:
        return self.run(x, zeta, omega_n).u

    def step_response(self, zeta: float, omega_n: float, n: int) -> np.ndarray:
        return self.smooth(np.ones(n), zeta, omega_n)

    def frequency_response(self, zeta: float, omega_n: float, freq: np.ndarray) -> np.ndarray:
        lag = theory.ema_frequency_response(self.rate * omega_n, freq)
        return lag * super().frequency_response(zeta, omega_n, freq)

    def bandwidth(self, zeta: float, omega_n: float) -> float:
        from scipy.optimize import brentq

        def above(freq: float) -> float:
            return float(abs(self.frequency_response(zeta, omega_n, np.array([freq]))[0]) - np.sqrt(0.5))

        high = np.geomspace(1e-6, 1, 600) * min(1.0, 4 * omega_n) / 2  # slow knobs have their corner far down
        first = next(freq for freq in high if above(freq) <= 0 or freq == high[-1])
        return float(brentq(above, 0.0, first))

    def poles(self, zeta: Knob, omega_n: Knob) -> theory.Poles | None:
        """The spring's two, then the lag's."""
        spring = theory.poles(zeta, omega_n)
        lag = np.broadcast_to(-self.rate * np.asarray(omega_n, np.float64), spring.s.shape[:-1])[..., None]
        return theory.Poles(np.concatenate([spring.s, lag], -1), np.concatenate([spring.z, np.exp(lag)], -1))


THIRD_ORDER = ThirdOrder()
