"""Operations that move pixels: one affine map for each picture, all maps of a batch in one resampling.

y(p) = x(M p), p in pixels from the centre, bilinear between pixels, mirrored beyond the edge.
Reference: Hendrycks et al., "AugMix" (ICLR 2020), with its severity 3 of 10 for CIFAR-10.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample

ROTATE = 9.0  # degrees at magnitude 1, to either side
SHEAR = 0.09  # pixels a pixel
TRANSLATE = 0.1  # of the side


Entry = Tensor | float


def matrices(a: Entry, b: Entry, x: Entry, c: Entry, d: Entry, y: Entry, like: Tensor) -> Tensor:
    """Rows (a, b, x) and (c, d, y) of numbers or tensors (N,), as (N, 2, 3)."""
    entries = [torch.as_tensor(entry, dtype=like.dtype, device=like.device) for entry in (a, b, x, c, d, y)]
    return torch.stack([entry.expand(like.shape) for entry in entries], 1).view(-1, 2, 3)


def rotate(degrees: Tensor) -> Tensor:
    angle = torch.deg2rad(degrees)
    cos, sin = angle.cos(), angle.sin()
    return matrices(cos, -sin, 0.0, sin, cos, 0.0, degrees)


def shear_x(shear: Tensor) -> Tensor:
    return matrices(1.0, shear, 0.0, 0.0, 1.0, 0.0, shear)


def shear_y(shear: Tensor) -> Tensor:
    return matrices(1.0, 0.0, 0.0, shear, 1.0, 0.0, shear)


def translate_x(pixels: Tensor) -> Tensor:
    return matrices(1.0, 0.0, pixels, 0.0, 1.0, 0.0, pixels)


def translate_y(pixels: Tensor) -> Tensor:
    return matrices(1.0, 0.0, 0.0, 0.0, 1.0, pixels, pixels)


def warp(images: Tensor, pixel_matrices: Tensor) -> Tensor:
    """Every picture (N, 3, H, W) through its own map (N, 2, 3)."""
    height, width = images.shape[2:]
    half = images.new_tensor([width / 2, height / 2, 1.0])  # torch measures in half sides
    grid = affine_grid(pixel_matrices * half / half[:2, None], list(images.shape), align_corners=False)
    return grid_sample(images, grid, padding_mode="reflection", align_corners=False).clamp_(0, 1)


GEOMETRY: dict[str, Callable[[Tensor, int], Tensor]] = {  # signed magnitudes (N,) in [-1, 1] and the side -> (N, 2, 3)
    "rotate": lambda magnitude, side: rotate(ROTATE * magnitude),
    "shear_x": lambda magnitude, side: shear_x(SHEAR * magnitude),
    "shear_y": lambda magnitude, side: shear_y(SHEAR * magnitude),
    "translate_x": lambda magnitude, side: translate_x(TRANSLATE * side * magnitude),
    "translate_y": lambda magnitude, side: translate_y(TRANSLATE * side * magnitude),
}
