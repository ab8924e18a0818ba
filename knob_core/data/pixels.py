"""Pixels as bytes and as numbers: uint8 0..255 and float32 in [0, 1].

x = b / 255, and back by rounding, which returns every byte unchanged.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


def to_unit(images: NDArray[np.uint8] | Tensor, device: str | torch.device | None = None) -> Tensor:
    """Images (N, 3, H, W), bytes or already floats in [0, 1], as a float tensor."""
    tensor = images if isinstance(images, Tensor) else torch.from_numpy(np.ascontiguousarray(images))
    tensor = tensor.to(device) if device is not None else tensor
    if tensor.dtype == torch.uint8:
        return tensor.to(torch.float32).div_(255)
    if not tensor.is_floating_point():
        raise ValueError(f"images have dtype {tensor.dtype}, expected uint8 in 0..255 or floats in [0, 1]")
    return tensor


def to_bytes(images: Tensor) -> NDArray[np.uint8]:
    """Images in [0, 1] as uint8 on the CPU."""
    return (images * 255).round_().clamp_(0, 255).to(torch.uint8).cpu().numpy()
