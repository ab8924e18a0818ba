"""What software does to a picture: colour, contrast, resampling, compression.

HSV without the hue: k_c = (V - x_c) / (V - min x) depends on the hue alone, and x_c = V (1 - S k_c).
Reference: Hendrycks & Dietterich (ICLR 2019), CIFAR-10-C constants.
"""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from knob_core.corruptions._severity import constants

SATURATE = [[1.0, 0.0], [0.3, 0.0], [0.1, 0.0], [1.5, 0.0], [2.0, 0.1], [2.5, 0.2]]  # S -> a S + b


def saturate(images: Tensor, severity: Tensor, generator: Generator | None) -> Tensor:
    """Colours washed out (1-2) or lurid (3-5); grey has hue 0, so b > 0 turns it red."""
    a, b = constants(SATURATE, severity, images)
    value = images.amax(1, keepdim=True)
    delta = value - images.amin(1, keepdim=True)  # (N, 1, H, W)
    grey = delta == 0
    saturation = delta / value.clamp(min=1e-12)
    saturation = (a * saturation + b).clamp(0, 1)
    k = (value - images) / torch.where(grey, 1.0, delta)
    red = torch.tensor([0.0, 1.0, 1.0], dtype=images.dtype, device=images.device).view(1, 3, 1, 1)
    return value * (1 - saturation * torch.where(grey, red, k))
