"""The streams that filters are tuned and compared on: logits that go in, and what is known about the world.

z = g z_dyn + (1 - g) z_static with g = sigmoid(u_star), frame by frame, or a single classifier's logits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from knob_core import fusion
from knob_core._arrays.top import top1
from knob_core.branches import Branches
from knob_core.gate import sigmoid
from knob_core.measures.truth import Truth, truth


@dataclass(frozen=True)
class Streams:
    """R streams of T frames over K classes."""

    z: NDArray[np.float64]  # (R, T, K) the frame's logits
    labels: NDArray[np.int64]  # (R, T) class of each frame, -1 where unknown
    content: NDArray | None = None  # (R, T) number of the picture
    u: NDArray[np.float64] | None = None  # (R, T) the gate's command, for filters that use it
    known: Truth = field(init=False)  # stretches and recognisable cuts, by the bare model's answers

    def __post_init__(self) -> None:
        z = np.ascontiguousarray(self.z, np.float64)
        if z.ndim != 3 or np.shape(self.labels) != z.shape[:2]:
            raise ValueError(f"z must be (R, T, K) and labels (R, T), got {z.shape} and {np.shape(self.labels)}")
        if not (np.asarray(self.labels) < z.shape[2]).all():
            raise ValueError(f"labels must be below {z.shape[2]}, the number of classes, got {np.max(self.labels)}")
        object.__setattr__(self, "z", z)
        object.__setattr__(self, "labels", np.asarray(self.labels, np.int64))
        object.__setattr__(self, "known", truth(self.labels, top1(z), self.content))

    def part(self, rows: slice | NDArray) -> Streams:
        """Some of the streams."""
        content, u = (None if x is None else x[rows] for x in (self.content, self.u))
        return Streams(self.z[rows], self.labels[rows], content, u)


def of_branches(branches: Branches, single: bool = False) -> Streams:
    """A gated model's fused logits with its command, or, with `single`, z_static alone and no command."""
    if single:
        return Streams(branches.z_static, branches.frame_labels, branches.content)
    u = branches.u_star.astype(np.float64)
    z = fusion.fuse(branches.z_static.astype(np.float64), branches.z_dyn.astype(np.float64), sigmoid(u))
    return Streams(z, branches.frame_labels, branches.content, u)


def joined(parts: Sequence[Streams]) -> Streams:
    """Several sets of streams of one length as one; with commands where all have them, and likewise contents."""

    def all_of(name: str) -> NDArray | None:
        found = [getattr(part, name) for part in parts]
        return None if any(x is None for x in found) else np.concatenate(found)

    z, labels = all_of("z"), all_of("labels")
    assert z is not None and labels is not None
    return Streams(z, labels, all_of("content"), all_of("u"))
