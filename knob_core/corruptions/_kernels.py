"""Filters that are no product of two lines, as one small kernel per image.

y[i, j] = sum_{a, b} k[a, b] x[i + a - top, j + b - left].
References: the disk of Hendrycks & Dietterich (ICLR 2019); ImageMagick's one-sided Gaussian motion blur.
"""

from __future__ import annotations

import math
from functools import lru_cache

import torch
import torch.nn.functional as F
from torch import Tensor

from knob_core.corruptions import _matrices


def correlate(images: Tensor, kernel: Tensor, top: int, left: int, mode: str) -> Tensor:
    """Images (N, C, H, W) with kernel (N, A, B), each image with its own; the border as torch's pad calls it."""
    count, channels, height, width = images.shape
    bottom, right = kernel.shape[1] - 1 - top, kernel.shape[2] - 1 - left
    x = F.pad(images, (left, right, top, bottom), mode=mode)
    # images become channels of one picture, so that one grouped convolution serves the batch
    x = x.view(1, count * channels, height + top + bottom, width + left + right)
    weight = kernel[:, None].expand(-1, channels, -1, -1).reshape(count * channels, 1, *kernel.shape[1:])
    return F.conv2d(x, weight, groups=count * channels).view_as(images)


@lru_cache
def disk(radius: float, alias: float) -> tuple[float, ...]:
    """25 weights: the disk of whole pixels within `radius` (< 2), smoothed by a 3x3 Gaussian of sigma `alias`."""
    inside = {(i, j) for i in range(-1, 2) for j in range(-1, 2) if i * i + j * j <= radius * radius}
    side = math.exp(-0.5 / alias**2) if alias > 0 else 0.0
    line = {d: (side if d else 1.0) / (1 + 2 * side) for d in (-1, 0, 1)}
    return tuple(
        sum(line.get(a - i, 0.0) * line.get(b - j, 0.0) for i, j in inside) / len(inside)
        for a in range(-2, 3)
        for b in range(-2, 3)
    )


@lru_cache
def large_disk(radius: int, alias: float, half: int) -> tuple[float, ...]:
    """(2 half + 1)^2 weights of a larger disk, smoothed by a Gaussian of 3x3 or, past radius 8, 5x5 pixels."""
    edge, reach = max(radius, 8), 1 if radius <= 8 else 2
    line = torch.arange(-edge, edge + 1, dtype=torch.float64)
    inside = (line[:, None] ** 2 + line**2 <= radius**2).double()
    taps = torch.arange(-reach, reach + 1, dtype=torch.float64)
    weight = torch.exp(-0.5 * (taps / alias) ** 2) if alias else (taps == 0).double()
    blur = _matrices.filter_matrix((weight / weight.sum())[None], len(line), "mirror")[0]
    smooth = blur @ (inside / inside.sum()) @ blur.T
    return tuple(F.pad(smooth, (half - edge,) * 4).flatten().tolist())


def streak(
    radius: Tensor, sigma: Tensor, angle: Tensor, taps: int, top: int, bottom: int, left: int, right: int
) -> Tensor:
    """(N, top + 1 + bottom, left + 1 + right) kernels: half a Gaussian, tap i at i (cos, sin) of `angle` radians.

    A radius between whole numbers gives its last tap a part of its weight.
    """
    i = torch.arange(taps, dtype=sigma.dtype, device=sigma.device)
    radius, sigma, angle = (v.view(-1, 1) for v in (radius, sigma, angle))
    weight = torch.exp(-0.5 * (i / sigma.clamp(min=1e-3)) ** 2) * (2 * radius + 1 - i).clamp(0, 1)  # (N, taps)
    weight = weight / weight.sum(1, keepdim=True)
    row = (i * torch.sin(angle) - 0.5).ceil().long() + top
    column = (i * torch.cos(angle) - 0.5).ceil().long() + left
    height, width = top + 1 + bottom, left + 1 + right
    kernel = torch.zeros(len(weight), height * width, dtype=sigma.dtype, device=sigma.device)
    return kernel.scatter_add_(1, row * width + column, weight).view(-1, height, width)
