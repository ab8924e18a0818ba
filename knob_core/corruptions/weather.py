"""Weather between the lens and the world: layers of random texture.

spatter: water y = x + w m / max(m), mud y = x (1 - m) + c m, with m from a blurred, thresholded noise.
Reference: Hendrycks & Dietterich (ICLR 2019), CIFAR-10-C constants.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from knob_core.corruptions import _edges, _matrices
from knob_core.corruptions._draws import normal
from knob_core.corruptions._severity import any_true, blend, constants

SPATTER = [  # mean, std and blur of the liquid's noise, threshold, mix, mud (0 water, 1 mud)
    [0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
    [0.62, 0.1, 0.7, 0.7, 0.5, 0.0],
    [0.65, 0.1, 0.8, 0.7, 0.5, 0.0],
    [0.65, 0.3, 1.0, 0.69, 0.5, 0.0],
    [0.65, 0.1, 0.7, 0.69, 0.6, 1.0],
    [0.65, 0.1, 0.5, 0.68, 0.6, 1.0],
]
WATER = (175 / 255, 238 / 255, 238 / 255)  # pale turquoise
MUD = (63 / 255, 42 / 255, 20 / 255)
RELIEF = [[-2.0, -1.0, 0.0], [-1.0, 1.0, 1.0], [0.0, 1.0, 2.0]]  # light from the upper left


def _colour(rgb: tuple[float, float, float], like: Tensor) -> Tensor:
    return torch.tensor(rgb, dtype=like.dtype, device=like.device).view(1, 3, 1, 1)


def _water(liquid: Tensor, mix: Tensor) -> Tensor:
    """How bright each pixel's water is, (N, 1, H, W) in 0..mix; liquid (N, 1, H, W) is 0 where dry."""
    layer = (liquid[:, 0] * 255).floor().clamp(0, 255)  # (N, H, W)
    depth = _edges.distance(_edges.canny(layer, low=50, high=150), layer.dtype).clamp(max=20)
    depth = _edges.equalise((_edges.box3(depth) + 1e-4).floor(), top=20)
    relief = torch.tensor(RELIEF, dtype=layer.dtype, device=layer.device).view(1, 1, 3, 3)
    depth = F.conv2d(F.pad(depth[:, None], (1, 1, 1, 1), mode="reflect"), relief)[:, 0].clamp(0, 255)
    m = layer * _edges.box3(depth).round()
    return (m / m.amax((1, 2), keepdim=True).clamp(min=1e-6))[:, None] * mix


def _mud(wet: Tensor, mix: Tensor) -> Tensor:
    """How much mud covers each pixel, (N, 1, H, W): 0 or 0.8..1."""
    m = _matrices.gaussian_blur(wet, mix, radius=3)
    return torch.where(m < 0.8, 0.0, m)


def spatter(images: Tensor, severity: Tensor, generator: Generator | None) -> Tensor:
    """Drops of water (1-3) or mud (4-5) on the lens."""
    count, _, height, width = images.shape
    noise = normal((count, 1, height, width), images, generator)

    def render(whole: Tensor) -> Tensor:
        mean, std, blur, threshold, mix, mud = constants(SPATTER, whole, images)
        liquid = mean + std * _matrices.gaussian_blur(noise, blur, radius=4)
        wet = liquid > threshold
        out = images
        if any_true(mud == 0):
            m = _water(torch.where(wet, liquid, 0.0), mix * (1 - mud))
            out = (images + m * _colour(WATER, images)).clamp(0, 1)
        if any_true(mud == 1):
            m = _mud(wet.to(images.dtype), mix) * mud
            out = out * (1 - m) + m * _colour(MUD, images)
        return out

    return blend(render, severity)
