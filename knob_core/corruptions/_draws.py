"""Random draws in the images' dtype, on their device, from one generator.

Shapes depend on the images alone and never on the severity, so one seed gives one picture that varies smoothly with s.
"""

from __future__ import annotations

import torch
from torch import Generator, Tensor


def normal(shape: tuple[int, ...], like: Tensor, generator: Generator | None) -> Tensor:
    """Standard normal draws."""
    return torch.randn(shape, dtype=like.dtype, device=like.device, generator=generator)


def uniform(shape: tuple[int, ...], like: Tensor, generator: Generator | None) -> Tensor:
    """Uniform draws in [0, 1)."""
    return torch.rand(shape, dtype=like.dtype, device=like.device, generator=generator)
