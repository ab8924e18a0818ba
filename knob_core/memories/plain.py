"""Plain memory: the static branch is given the gate's own inertia, one state per class, with the same knobs.

m follows z_static through `knob_core.gate`,  z = g z_dyn + (1 - g) m.  State (N, K, 2) = [m, v].
Static then means "what I have been seeing", dynamic "what I see now", and the gate decides between the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from knob_core import fusion, gaps, gate
from knob_core._arrays.checks import A, PerStream, namespace
from knob_core.memories.base import Gap, Inputs, Memory, Remembered

if TYPE_CHECKING:
    from torch import Tensor


class NoMemory(Memory):
    """Every frame's branches are fused as they are: the paper."""

    name = "off"

    def at_rest(self, streams: int, classes: int) -> np.ndarray:
        return np.zeros((streams, 0, 2))

    def run(self, frames: Inputs[np.ndarray], zeta: Any, omega_n: Any, state: Any = None) -> Remembered[np.ndarray]:
        z = fusion.fuse(frames.z_static, frames.z_dyn, frames.g)
        return Remembered(z, frames.g, state, frames.z_static, frames.z_dyn)

    def advance(
        self, now: Inputs[np.ndarray], gap: Gap, zeta: PerStream, omega_n: PerStream, state: np.ndarray
    ) -> Remembered[np.ndarray]:
        return self.run(now, zeta, omega_n, state)

    def frame(
        self, now: Inputs[Tensor], seen: Tensor, zeta: Tensor, omega_n: Tensor, dt: Tensor, state: Tensor
    ) -> Remembered[Tensor]:
        return Remembered(fusion.mix(now.z_static, now.z_dyn, now.g), now.g, state, now.z_static, now.z_dyn)


class Plain(Memory):
    """z_static with inertia."""

    name = "plain"

    def start(self, z: A) -> A:
        """The state (..., K, 2) of streams whose first frame has logits z (..., K): there already, and still."""
        xp = namespace(z)
        return xp.stack([z, xp.zeros_like(z)], -1)

    def smooth(
        self, z: np.ndarray, zeta: Any, omega_n: Any, state: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """What is remembered at every frame of z (..., T, K), and the state after the last."""
        state = self.start(z[..., 0, :]) if state is None else state
        m, state = gate.run(np.swapaxes(z, -2, -1), zeta, omega_n, state=state)  # time last
        return np.swapaxes(m, -2, -1), state

    def run(self, frames: Inputs[np.ndarray], zeta: Any, omega_n: Any, state: Any = None) -> Remembered[np.ndarray]:
        m, state = self.smooth(frames.z_static, zeta, omega_n, state)
        return Remembered(fusion.fuse(m, frames.z_dyn, frames.g), frames.g, state, m, frames.z_dyn)

    def follow(
        self, z: np.ndarray, gap: Gap, zeta: PerStream, omega_n: PerStream, state: np.ndarray
    ) -> tuple[Any, Any]:
        """(m, state) after one frame with static logits z (N, K)."""
        if gap.first.any():
            state = np.where(gap.first[:, None, None], self.start(z), state)
        return gaps.advance(z, gap.held.z_static, zeta, omega_n, gap.elapsed, state)

    def advance(
        self, now: Inputs[np.ndarray], gap: Gap, zeta: PerStream, omega_n: PerStream, state: np.ndarray
    ) -> Remembered[np.ndarray]:
        m, state = self.follow(now.z_static, gap, zeta, omega_n, state)
        return Remembered(fusion.fuse(m, now.z_dyn, now.g), now.g, state, m, now.z_dyn)

    def frame(
        self, now: Inputs[Tensor], seen: Tensor, zeta: Tensor, omega_n: Tensor, dt: Tensor, state: Tensor
    ) -> Remembered[Tensor]:
        state = namespace(seen).where(seen[:, None, None], state, self.start(now.z_static))
        m, state = gaps.step(now.z_static, zeta, omega_n, dt[:, None], state)
        return Remembered(fusion.mix(m, now.z_dyn, now.g), now.g, state, m, now.z_dyn)
