"""The pixels of a change stream: x[t] = corrupt(shift(picture[t], d[t]), s(t); noise[t]).

The unit of seeding is a block of BLOCK frames, as in `controlled`: blocks are always rendered whole, so pixels depend
on the seed, the stream's number, the frame and the plan at that frame, and not on how frames are cut into batches.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from knob_core._arrays.checks import whole_number
from knob_core.corruptions import NAMES, corrupt
from knob_core.corruptions._warp import displace
from knob_core.data.pixels import to_unit
from knob_core.seeding import generator
from knob_core.streams.change import ChangePlan
from knob_core.streams.controlled import BLOCK


def shift(images: Tensor, pixels: Tensor) -> Tensor:
    """Images (N, 3, H, W) moved by pixels (N, 2), right and down; bilinear, borders reflected, rounded to 8 bits."""
    d = -pixels.to(images)[:, :, None, None].expand(-1, -1, *images.shape[2:])  # (N, 2, H, W)
    return displace(images, d).mul_(255).round_().clamp_(0, 255).div_(255)


class ChangeFrames:
    """The frames of one plan; nothing is rendered before it is asked for."""

    def __init__(
        self,
        images: NDArray[np.uint8] | Tensor,
        plan: ChangePlan,
        corruption: str,
        seed: int = 0,
        stream: int = 0,
        device: str | torch.device | None = None,
    ) -> None:
        self.parts = corruption.split("+")  # several, one after the other, each at the plan's severity
        if not set(self.parts) <= set(NAMES):
            raise ValueError(f"corruption is {corruption!r}, expected one of {', '.join(NAMES)}, or several with a +")
        if images.ndim != 4 or not plan.picture.max() < len(images):
            raise ValueError(
                f"images have shape {tuple(images.shape)}, expected (N, 3, H, W) with N > {plan.picture.max()}"
            )
        generator("cpu", seed)  # refuses a bad seed now and not at the first frame
        self.images, self.plan, self.corruption = images, plan, corruption
        self.seed, self.stream = seed, stream
        self.device = torch.device(device if device is not None else getattr(images, "device", "cpu"))

    def __len__(self) -> int:
        """Frames, T."""
        return len(self.plan)

    def frames(self, t0: int = 0, t1: int | None = None) -> Tensor:
        """Frames t0 <= t < t1, (t1 - t0, 3, H, W) float32 in [0, 1]; only the blocks they lie in are rendered."""
        t1 = len(self) if t1 is None else t1
        if not 0 <= t0 < t1 <= len(self):
            raise ValueError(f"t0, t1 are {t0!r}, {t1!r}, expected 0 <= t0 < t1 <= {len(self)}")
        first = t0 // BLOCK
        blocks = [self._block(block) for block in range(first, -(-t1 // BLOCK))]
        return torch.cat(blocks)[t0 - first * BLOCK : t1 - first * BLOCK]

    def batches(self, batch_size: int = BLOCK) -> Iterator[Tensor]:
        """All frames in their order, `batch_size` at a time, (B, 3, H, W)."""
        size = whole_number("batch_size", batch_size, 1)
        for start in range(0, len(self), size):
            yield self.frames(start, min(start + size, len(self)))

    def _block(self, block: int) -> Tensor:
        """Frames of one block, (<= BLOCK, 3, H, W): a last block is rendered whole and then cut to the stream's end."""
        t = np.minimum(block * BLOCK + np.arange(BLOCK), len(self) - 1)
        pictures = to_unit(self.images[self.plan.picture[t]], self.device)  # (BLOCK, 3, H, W)
        if self.plan.moving:
            pictures = shift(pictures, torch.from_numpy(self.plan.shift[t]))
        noise = generator(self.device, self.seed, "change stream", self.corruption, self.stream, block)
        severity = torch.from_numpy(self.plan.severity[t]).to(pictures)
        for name in self.parts:
            pictures = corrupt(pictures, name, severity, noise)
        return pictures[: len(self) - block * BLOCK]
