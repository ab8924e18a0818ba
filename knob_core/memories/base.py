"""What every kind of memory answers: from branch outputs and the gate to the logits of the answer.

A memory stands between the branches and the answer. It starts where the first frame is, at rest, and keeps one state
row per stream; arrays are (R, T, ...) over frames and (N, ...) for one frame of N streams.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple

import numpy as np

from knob_core._arrays.checks import A, PerStream

if TYPE_CHECKING:
    from torch import Tensor


class Inputs(NamedTuple, Generic[A]):
    """One frame, or all frames, as the network and the gate give them."""

    z_static: A  # (..., K)
    z_dyn: A  # (..., K)
    u_star: A  # (...)
    g: A  # (...) the gate
    g_now: A  # (...) the same gate without inertia: what this frame alone asks for


class Remembered(NamedTuple, Generic[A]):
    """The answer with memory."""

    z: A  # (..., K) logits of the answer
    g: A  # (...) share of the eye in it: what is drawn as the gate
    state: Any  # after the last frame
    z_memory: A | None = None  # (..., K) the side of the memory, where asked for: z ~ g z_eye + (1 - g) z_memory
    z_eye: A | None = None  # (..., K) the side of the eye


class Gap(NamedTuple):
    """What lies between the frame before and this one, for N streams."""

    held: Inputs[np.ndarray]  # the frame before
    elapsed: np.ndarray  # (N,) frames since then
    first: np.ndarray  # (N,) bool: nothing was seen before
    missing: np.ndarray  # (N,) bool: this frame did not come either, the one before is held


class Memory:
    """Base of the kinds. The knobs zeta and omega_n (rad/frame) are the operator's."""

    name: ClassVar[str]  # in words

    def at_rest(self, streams: int, classes: int) -> np.ndarray:
        """A state that has seen nothing."""
        return np.zeros((streams, classes, 2))

    def run(self, frames: Inputs[np.ndarray], zeta: Any, omega_n: Any, state: Any = None) -> Remembered[np.ndarray]:
        """All frames (R, T, ...), from `state` (None: from the first frame); knobs scalar or one per frame."""
        raise NotImplementedError

    def advance(
        self, now: Inputs[np.ndarray], gap: Gap, zeta: PerStream, omega_n: PerStream, state: np.ndarray
    ) -> Remembered[np.ndarray]:
        """One frame of N streams, knobs for all or (N,); frames that did not come count as the last one, held."""
        raise NotImplementedError

    def frame(
        self, now: Inputs[Tensor], seen: Tensor, zeta: Tensor, omega_n: Tensor, dt: Tensor, state: Tensor
    ) -> Remembered[Tensor]:
        """One frame of N tensors' rows without a gap and without checks, for graphs and for gradients.

        `seen` (N,) bool: false on a stream's first frame, which the memory then starts from. `dt` (N,) frames.
        """
        raise NotImplementedError
