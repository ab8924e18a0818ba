"""The kinds of memory, as objects: what a stream remembers of the logits it has seen.

    Plain   m follows z_static through the gate's own recursion, one state per class, with the same knobs
A memory starts where the first frame is, at rest: m = z, v = 0. State (..., K, 2) = [m, v].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from knob_core import gaps, gate
from knob_core._arrays.checks import Array, namespace


@dataclass(frozen=True)
class Plain:
    """Static memory: z_static is given the same inertia as the gate."""

    def start(self, z: Array) -> Array:
        """The state (..., K, 2) of streams whose first frame has logits z (..., K): there already, and still."""
        xp = namespace(z)
        return xp.stack([z, xp.zeros_like(z)], -1)

    def run(
        self, z: np.ndarray, zeta: float, omega_n: float, state: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """What is remembered at every frame of z (..., T, K), and the state after the last."""
        state = self.start(z[..., 0, :]) if state is None else state
        m, state = gate.run(np.swapaxes(z, -2, -1), zeta, omega_n, state=state)  # time last
        return np.swapaxes(m, -2, -1), state

    def advance(
        self,
        z: np.ndarray,  # (N, K) this frame
        held: np.ndarray,  # (N, K) the frame before
        first: np.ndarray,  # (N,) bool: a stream's first frame
        zeta: float,
        omega_n: float,
        elapsed: np.ndarray,  # (N,) frames since the frame before
        state: np.ndarray,  # (N, K, 2)
    ) -> tuple[np.ndarray, np.ndarray]:
        """One frame of N streams."""
        if first.any():
            state = np.where(first[:, None, None], self.start(z), state)
        return gaps.advance(z, held, zeta, omega_n, elapsed, state)

    def frame(self, z: Array, seen: Array, zeta: Array, omega_n: Array, dt: Array, state: Array) -> tuple[Array, Array]:
        """One frame of N streams without a gap and without checks, for graphs; dt (N,)."""
        state = namespace(z).where(seen[:, None, None], state, self.start(z))
        return gaps.step(z, zeta, omega_n, dt[:, None], state)


PLAIN = Plain()
