"""Pictures seen through a moved camera: y(p) = x(M p), bilinear between pixels, black beyond the edge."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import grid_sample


def warp(images: Tensor, matrix: Tensor, centre: float | None = None) -> Tensor:
    """Images (N, C, S, S) through a 3 x 3 map of pixels counted from `centre` (None: the middle)."""
    side = images.shape[-1]
    middle = (side - 1) / 2 if centre is None else centre
    line = torch.arange(side, dtype=images.dtype, device=images.device) - middle
    y, x = torch.meshgrid(line, line, indexing="ij")
    there = torch.stack([x, y, torch.ones_like(x)], -1) @ matrix.to(images).T  # (S, S, 3)
    place = there[..., :2] / there[..., 2:] + middle
    grid = ((2 * place + 1) / side - 1).expand(len(images), side, side, 2)
    return grid_sample(images, grid, mode="bilinear", padding_mode="zeros", align_corners=False)


def rotation(degrees: float) -> Tensor:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return torch.tensor([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]], dtype=torch.float64)


def magnification(factor: float) -> Tensor:
    """Larger than life above 1."""
    return torch.diag(torch.tensor([1 / factor, 1 / factor, 1.0], dtype=torch.float64))


def tilt(degrees: float, side: int) -> Tensor:
    """The picture turned about both of its axes, seen from a distance of its diagonal."""
    angle, far = math.radians(degrees), math.sqrt(2) * side
    c, s = math.cos(angle), math.sin(angle)
    about_x = torch.tensor([[1, 0, 0], [0, c, -s], [0, s, c]], dtype=torch.float64)
    about_y = torch.tensor([[c, 0, -s], [0, 1, 0], [s, 0, c]], dtype=torch.float64)
    turned = about_x @ about_y  # its third column moves the picture's plane, which lies at z = 1
    seen = turned + torch.tensor([[0, 0, 0], [0, 0, 0], [0, 0, far]], dtype=torch.float64)
    return torch.linalg.inv(torch.diag(torch.tensor([far, far, 1.0], dtype=torch.float64)) @ seen)
