"""Pictures sampled elsewhere, linear between pixels.

affine: y(p) = x(L^-1 (p - t)) with L c_i + t = c_i + shift_i at three corners;  displace: y(p) = x(p + d(p)).
Reference: Simard, Steinkraus & Platt, "Best Practices for Convolutional Neural Networks" (2003).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def _pixels(images: Tensor) -> tuple[Tensor, Tensor]:
    """Column and row number of every pixel, (1, W) and (H, 1)."""
    height, width = images.shape[-2:]
    x = torch.arange(width, dtype=images.dtype, device=images.device)[None, :]
    return x, torch.arange(height, dtype=images.dtype, device=images.device)[:, None]


def affine(images: Tensor, shifts: Tensor) -> Tensor:
    """Three corners of the middle, (+, +), (+, -), (-, -), move by shifts (N, 3, 2) pixels (x, y); edges mirrored."""
    height, width = images.shape[-2:]
    q = min(height, width) // 3
    cx, cy = width // 2, height // 2
    s1, s2, s3 = shifts.unbind(1)  # (N, 2)
    dx, dy = (s2 - s3) / (2 * q), (s1 - s2) / (2 * q)  # columns of L - I
    a, b, c, d = 1 + dx[:, 0], dy[:, 0], dx[:, 1], 1 + dy[:, 1]  # L = [[a, b], [c, d]]
    a, b, c, d = (v[:, None, None] / (a * d - b * c)[:, None, None] for v in (a, b, c, d))
    x, y = _pixels(images)
    # about the first corner, which goes to itself plus s1
    x = x - (cx + q) - s1[:, 0, None, None]
    y = y - (cy + q) - s1[:, 1, None, None]
    x, y = d * x - b * y + cx + q, a * y - c * x + cy + q  # (N, H, W)
    grid = torch.stack([2 * x / (width - 1) - 1, 2 * y / (height - 1) - 1], -1)
    return F.grid_sample(images, grid, mode="bilinear", padding_mode="reflection", align_corners=True)


def displace(images: Tensor, d: Tensor) -> Tensor:
    """y(p) = x(p + d(p)), d (N, 2, H, W) in pixels (x, y); edges reflected."""
    height, width = images.shape[-2:]
    x, y = _pixels(images)
    x, y = x + d[:, 0], y + d[:, 1]
    grid = torch.stack([(2 * x + 1) / width - 1, (2 * y + 1) / height - 1], -1)
    return F.grid_sample(images, grid, mode="bilinear", padding_mode="reflection", align_corners=False)
