"""Run a network over many pictures: batch by batch, without gradients, outputs in the pictures' order.

The last bits of a convolution may depend on the size of a batch, so results that are compared to the bit want one size.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from knob_core.data.pixels import to_unit

BATCH = 100  # pictures of 32 x 32, which stay in a processor's cache


@torch.no_grad()
def over_batches(
    forward: Callable[[Tensor], tuple[Tensor, ...]],
    images: NDArray[np.uint8] | Tensor,
    device: str | torch.device | None = None,
    batch: int = BATCH,
) -> tuple[Tensor, ...]:
    """`forward` of every batch of images (N, 3, H, W), bytes or floats in [0, 1]; each output joined to (N, ...)."""
    if batch < 1 or not len(images):
        raise ValueError(f"got {len(images)} images in batches of {batch}, expected at least one of both")
    parts = []
    for start in range(0, len(images), batch):
        part = to_unit(images[start : start + batch], device)
        parts.append(forward(part.contiguous(memory_format=torch.channels_last)))
    return tuple(torch.cat(output) for output in zip(*parts, strict=True))
