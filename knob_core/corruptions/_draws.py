"""Random draws in the images' dtype, on their device, from one generator.

Shapes depend on the images alone and never on the severity, so one seed gives one picture that varies smoothly with s.
"""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor


def normal(shape: tuple[int, ...], like: Tensor, generator: Generator | None) -> Tensor:
    """Standard normal draws."""
    return torch.randn(shape, dtype=like.dtype, device=like.device, generator=generator)


def symmetric(shape: tuple[int, ...], like: Tensor, generator: Generator | None) -> Tensor:
    """Uniform draws in [-1, 1], two from each 64-bit number: half the cost of `uniform`."""
    pairs = torch.empty((math.prod(shape) + 1) // 2, dtype=torch.int64, device=like.device)
    bits = pairs.random_(-(2**63), None, generator=generator).view(torch.int32)
    return bits[: math.prod(shape)].view(shape).to(like.dtype).mul_(2.0**-31)


def uniform(shape: tuple[int, ...], like: Tensor, generator: Generator | None) -> Tensor:
    """Uniform draws in [0, 1)."""
    return torch.rand(shape, dtype=like.dtype, device=like.device, generator=generator)
